#include "spank/harvest/worker_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "spank/harvest/file_access.h"

namespace inquest::harvest {
namespace {

constexpr std::string_view kRequest =
    "POST /handler/fr_trace_json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
    "0\r\n\r\n";
constexpr size_t kReadBytes = 65536;
constexpr size_t kMaxHeldBytes = size_t{128} * 1024 * 1024;
constexpr size_t kMaxHeaderBytes = 16384;
constexpr uint64_t kNsPerMs = 1000000U;

struct Exchange {
    size_t index = 0;
    UniqueFd socket;
    std::string response;
    std::string error;
    bool done = false;
};

std::string lowered(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return result;
}

/* Through /proc/self/fd, because sun_path holds only 107 bytes and the directory's path may be longer. */
bool connect_to(int socket_fd, int directory_fd, const std::string& name) {
    const std::string path = fmt::format("/proc/self/fd/{}/{}", directory_fd, name);
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void finish(Exchange& exchange, std::string error) {
    exchange.error = std::move(error);
    exchange.done = true;
}

/* The request is far smaller than any socket buffer: it is sent whole or not at all. */
void begin(Exchange& exchange, int directory_fd, const std::string& name) {
    exchange.socket = UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!exchange.socket.valid() || !connect_to(exchange.socket.get(), directory_fd, name)) {
        finish(exchange, fmt::format("connect: {}", errno_text()));
        return;
    }
    const ssize_t sent = send(exchange.socket.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(kRequest.size())) finish(exchange, "request not sent");
}

void receive(Exchange& exchange) {
    char buffer[kReadBytes];
    const ssize_t count = recv(exchange.socket.get(), buffer, sizeof buffer, 0);
    if (count > 0) exchange.response.append(buffer, static_cast<size_t>(count));
    if (count == 0) exchange.done = true;
    if (count < 0 && errno != EAGAIN && errno != EINTR)
        finish(exchange, fmt::format("read: {}", errno_text()));
    if (exchange.response.size() > kMaxFlightBytes) finish(exchange, "answer is too long");
}

void hand_over(Exchange& exchange, const FlightHandler& handle) {
    if (exchange.error.empty()) handle(exchange.index, http_body(exchange.response));
    if (!exchange.error.empty()) handle(exchange.index, tl::make_unexpected(exchange.error));
    exchange.response = std::string(); /* frees: a node may have many large answers */
    exchange.socket.reset(-1);
}

size_t held_bytes(const std::vector<Exchange>& open) {
    size_t bytes = 0;
    for (const Exchange& exchange : open)
        bytes += exchange.response.size();
    return bytes;
}

/* Many ranks with long answers must not use up the memory of the process. */
void receive_within(const std::vector<Exchange>& open, Exchange& exchange) {
    receive(exchange);
    if (held_bytes(open) > kMaxHeldBytes) finish(exchange, "answers are too long together");
}

/* Waits for the open exchanges; false when the time is over. */
bool receive_some(std::vector<Exchange>& open, uint64_t deadline_mono_ns,
                  const std::function<uint64_t()>& mono_ns) {
    const uint64_t now = mono_ns();
    if (now >= deadline_mono_ns) return false;
    std::vector<pollfd> waiting;
    waiting.reserve(open.size());
    for (const Exchange& exchange : open)
        waiting.push_back({exchange.socket.get(), POLLIN, 0});
    const auto timeout_ms =
        static_cast<int>(std::min<uint64_t>((deadline_mono_ns - now) / kNsPerMs + 1, 1000));
    poll(waiting.data(), waiting.size(), timeout_ms);
    for (size_t at = 0; at < open.size(); at++)
        if (waiting[at].revents != 0) receive_within(open, open[at]);
    return true;
}

void hand_over_done(std::vector<Exchange>& open, const FlightHandler& handle) {
    for (Exchange& exchange : open)
        if (exchange.done) hand_over(exchange, handle);
    std::erase_if(open, [](const Exchange& exchange) { return exchange.done; });
}

std::optional<size_t> content_length(std::string_view lowered_head) {
    constexpr std::string_view name = "\r\ncontent-length:";
    const size_t found = lowered_head.find(name);
    if (found == std::string_view::npos) return std::nullopt;
    std::string_view value = lowered_head.substr(found + name.size());
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    size_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    return error == std::errc() ? std::optional(length) : std::nullopt;
}

}  // namespace

tl::expected<std::string, std::string> http_body(std::string_view response) {
    const size_t head_end = response.substr(0, kMaxHeaderBytes).find("\r\n\r\n");
    if (head_end == std::string_view::npos) return tl::make_unexpected("no HTTP answer");
    const std::string head = lowered(response.substr(0, head_end));
    if (!head.starts_with("http/1.1 200") && !head.starts_with("http/1.0 200"))
        return tl::make_unexpected("HTTP status is not 200");
    if (head.find("\r\ntransfer-encoding:") != std::string::npos)
        return tl::make_unexpected("HTTP transfer encoding is not supported");
    std::string_view body = response.substr(head_end + 4);
    const auto length = content_length(head);
    if (length && *length > body.size()) return tl::make_unexpected("HTTP answer is cut off");
    return std::string(length ? body.substr(0, *length) : body);
}

void request_flight_records(int directory_fd, const std::vector<std::string>& sockets,
                            uint64_t deadline_mono_ns, const std::function<uint64_t()>& mono_ns,
                            const FlightHandler& handle) {
    std::vector<Exchange> open(sockets.size());
    for (size_t index = 0; index < sockets.size(); index++) {
        open[index].index = index;
        begin(open[index], directory_fd, sockets[index]);
    }
    hand_over_done(open, handle);
    while (!open.empty() && receive_some(open, deadline_mono_ns, mono_ns))
        hand_over_done(open, handle);
    for (Exchange& exchange : open) {
        finish(exchange, "no answer in time");
        hand_over(exchange, handle);
    }
}

}  // namespace inquest::harvest
