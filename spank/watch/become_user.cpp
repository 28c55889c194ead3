#include "spank/watch/become_user.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

#include "spank/harvest/user_identity.h"

namespace inquest::watch {
namespace {

constexpr rlim_t kMaxFiles = 1024;
constexpr int kNiceness = 10;
/* The daemon is protected from the out-of-memory killer; this process and its analyzer go before others. */
constexpr const char* kOomScore = "500";

/* Not the analyzer's: it stays closed over exec. */
bool move_channel(int channel_fd) {
    if (channel_fd == kWorkerChannelFd) return fcntl(channel_fd, F_SETFD, FD_CLOEXEC) == 0;
    return dup3(channel_fd, kWorkerChannelFd, O_CLOEXEC) >= 0;
}

bool keep_only_channel(int channel_fd) {
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0 || !move_channel(channel_fd)) return false;
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (dup2(null_fd, fd) < 0) return false;
    if (syscall(SYS_close_range, kWorkerChannelFd + 1, ~0U, 0) == 0) return true;
    for (int fd = static_cast<int>(sysconf(_SC_OPEN_MAX)) - 1; fd > kWorkerChannelFd; fd--)
        close(fd);
    return true;
}

bool limit_files() {
    const rlimit files{kMaxFiles, kMaxFiles};
    return setrlimit(RLIMIT_NOFILE, &files) == 0;
}

void reset_signals() {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGCHLD, SIG_DFL);
}

}  // namespace

bool become_user(uid_t uid, gid_t gid, int channel_fd) {
    if (!keep_only_channel(channel_fd) || !limit_files()) return false;
    reset_signals();
    setsid();
    setpriority(PRIO_PROCESS, 0, kNiceness);
    prctl(PR_SET_NAME, "inquest-step");
    return harvest::drop_to_user(uid, gid, kOomScore);
}

}  // namespace inquest::watch
