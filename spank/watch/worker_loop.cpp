#include "spank/watch/worker_loop.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "spank/watch/worker_protocol.h"

namespace inquest::watch {
namespace {

constexpr int64_t kTickMs = 200;

enum class Received { request, nothing, closed };

int64_t now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void reply_to(int channel_fd, uint64_t token, uint8_t reply) {
    const WorkerReply answer{token, reply, {}};
    send(channel_fd, &answer, sizeof answer, MSG_NOSIGNAL);
}

Received take_request(int channel_fd, std::string& buffer, StepWatch& watch) {
    const ssize_t count = recv(channel_fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? Received::nothing : Received::closed;
    if (count < static_cast<ssize_t>(sizeof(RequestHeader))) return Received::closed;
    RequestHeader header{};
    std::memcpy(&header, buffer.data(), sizeof header);
    if (header.token == kEventToken) {
        watch.on_recorded();
        return Received::request;
    }
    const std::string_view message(buffer.data() + sizeof header, static_cast<size_t>(count) - sizeof header);
    reply_to(channel_fd, header.token, watch.handle(message));
    return Received::request;
}

/* All that wait: what follows a failure in the channel is then known when its evidence is written. */
bool take_requests(int channel_fd, std::string& buffer, StepWatch& watch) {
    Received received = Received::request;
    while (received == Received::request && !watch.is_finished())
        received = take_request(channel_fd, buffer, watch);
    return received != Received::closed;
}

}  // namespace

void run_worker_loop(int channel_fd, StepWatch& watch) {
    std::string buffer(kMaxRequestBytes, '\0');
    int64_t next_tick_ms = now_ms();
    while (!watch.is_finished()) {
        pollfd channel{channel_fd, POLLIN, 0};
        poll(&channel, 1, static_cast<int>(std::max<int64_t>(next_tick_ms - now_ms(), 0)));
        if (!take_requests(channel_fd, buffer, watch)) return;
        if (now_ms() < next_tick_ms) continue;
        watch.tick();
        if (watch.take_record_request()) reply_to(channel_fd, kEventToken, INQUEST_STEP_REPLY_DONE);
        next_tick_ms = now_ms() + kTickMs;
    }
}

}  // namespace inquest::watch
