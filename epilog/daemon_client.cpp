#include "epilog/daemon_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "spank/format/step_journal.h"
#include "spank/harvest/unique_fd.h"

namespace inquest::epilog {
namespace {

std::uint64_t now_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

inquest_step_message job_end_message(const Job& job) {
    inquest_step_message message{};
    message.magic = INQUEST_STEP_MESSAGE_MAGIC;
    message.version = INQUEST_STEP_MESSAGE_VERSION;
    message.kind = INQUEST_JOB_END;
    message.total_bytes = sizeof message;
    message.job_id = job.job_id;
    message.uid = job.user.uid;
    message.gid = job.user.gid;
    message.task = INQUEST_STEP_TASK_NONE;
    message.mono_ns = now_ns(CLOCK_MONOTONIC);
    message.wall_ns = now_ns(CLOCK_REALTIME);
    return message;
}

harvest::UniqueFd connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return {};
    std::memcpy(address.sun_path, path.c_str(), path.size());
    harvest::UniqueFd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!connection.valid()) return {};
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    return connect(connection.get(), generic, sizeof address) == 0 ? std::move(connection)
                                                                   : harvest::UniqueFd();
}

bool read_done(int fd, Deadline deadline) {
    pollfd ready{fd, POLLIN, 0};
    int count = 0;
    do {
        count = poll(&ready, 1, deadline.remaining_ms());
    } while (count < 0 && errno == EINTR);
    unsigned char reply = INQUEST_STEP_REPLY_REFUSED;
    return count > 0 && recv(fd, &reply, sizeof reply, 0) == 1 && reply == INQUEST_STEP_REPLY_DONE;
}

}  // namespace

DaemonAnswer tell_daemon_job_end(const std::string& socket_path, const Job& job, Deadline deadline) {
    const harvest::UniqueFd connection = connect_to(socket_path);
    if (!connection.valid()) return DaemonAnswer::kAbsent;
    const inquest_step_message message = job_end_message(job);
    if (send(connection.get(), &message, sizeof message, MSG_NOSIGNAL) != sizeof message) {
        return DaemonAnswer::kNoHelp;
    }
    return read_done(connection.get(), deadline) ? DaemonAnswer::kDone : DaemonAnswer::kNoHelp;
}

}  // namespace inquest::epilog
