#include "epilog/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <thread>

#include "epilog/die_with_parent.h"
#include "spank/harvest/unique_fd.h"
#include "spank/harvest/user_identity.h"

namespace inquest::epilog {
namespace {

constexpr auto kReapInterval = std::chrono::milliseconds(2);
constexpr int kBodyThrew = 251;
constexpr const char* kOomScore = "0"; /* a child of slurmd inherits -1000 */

void detach_streams() {
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (null_fd >= 0) dup2(null_fd, fd);
    }
    if (null_fd > STDERR_FILENO) close(null_fd);
}

void close_descriptors(unsigned first, unsigned last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
    const auto end = std::min(last, static_cast<unsigned>(sysconf(_SC_OPEN_MAX)));
    for (unsigned fd = first; fd <= end; fd++)
        close(static_cast<int>(fd));
}

/* What a site's script around the epilog has open is not the user's. */
void keep_only_output(int output_fd) {
    constexpr unsigned first = STDERR_FILENO + 1;
    const auto kept = static_cast<unsigned>(output_fd);
    if (kept < first) return close_descriptors(first, ~0U);
    close_descriptors(first, kept - 1);
    close_descriptors(kept + 1, ~0U);
}

[[noreturn]] void be_child(int output_fd, const ChildBody& body) {
    setsid();
    die_with_parent();
    alarm(0);
    detach_streams();
    int status = kBodyThrew;
    try {
        status = body(output_fd);
    } catch (const std::exception&) {
        status = kBodyThrew;
    }
    _exit(status);
}

/* Until the child closes its end, the deadline, or more than the bound: then reading stops. */
void read_output(int fd, Deadline deadline, std::size_t max_bytes, std::string& output) {
    char buffer[4096];
    while (output.size() < max_bytes) {
        pollfd ready{fd, POLLIN, 0};
        const int count = poll(&ready, 1, deadline.remaining_ms());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        const std::size_t room = std::min(sizeof buffer, max_bytes - output.size());
        const ssize_t got = read(fd, buffer, room);
        if (got <= 0) return;
        output.append(buffer, static_cast<std::size_t>(got));
    }
}

void record_end(int wait_status, ChildResult& result) {
    result.end = WIFEXITED(wait_status) ? ChildEnd::kExited : ChildEnd::kSignalled;
    if (WIFEXITED(wait_status)) result.exit_status = WEXITSTATUS(wait_status);
}

void wait_for_end(pid_t pid, Deadline deadline, ChildResult& result) {
    int wait_status = 0;
    for (;;) {
        const pid_t got = waitpid(pid, &wait_status, WNOHANG);
        if (got == pid) return record_end(wait_status, result);
        if (got < 0 && errno != EINTR) return;
        if (deadline.has_passed()) break;
        std::this_thread::sleep_for(kReapInterval);
    }
    result.end = ChildEnd::kDeadline;
    /* Not reaped yet, so the process group's number still belongs to the child. */
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    waitpid(pid, &wait_status, WNOHANG);
}

}  // namespace

ChildResult run_in_child(Deadline deadline, std::size_t max_output_bytes, const ChildBody& body) {
    ChildResult result;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return result;
    harvest::UniqueFd read_end(ends[0]);
    harvest::UniqueFd write_end(ends[1]);
    const pid_t pid = fork();
    if (pid < 0) return result;
    if (pid == 0) {
        read_end.reset(-1);
        be_child(write_end.get(), body);
    }
    write_end.reset(-1);
    read_output(read_end.get(), deadline, max_output_bytes, result.output);
    wait_for_end(pid, deadline, result);
    return result;
}

ChildResult run_as_user(const UserIdentity& user, Deadline deadline, std::size_t max_output_bytes,
                        const ChildBody& body) {
    return run_in_child(deadline, max_output_bytes, [&](int output_fd) {
        keep_only_output(output_fd);
        if (!harvest::drop_to_user(user.uid, user.gid, kOomScore)) return kBecomeUserFailed;
        die_with_parent(); /* the change of ids has cancelled it */
        return body(output_fd);
    });
}

}  // namespace inquest::epilog
