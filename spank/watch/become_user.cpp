#include "spank/watch/become_user.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace inquest::watch {
namespace {

constexpr rlim_t kWorkerMemoryBytes = 512UL * 1024 * 1024;
constexpr rlim_t kAnalyzerMemoryBytes =
    4096UL * 1024 * 1024; /* hard limit: the lead raises it for the analyzer */
constexpr rlim_t kMaxFiles = 1024;
constexpr int kNiceness = 10;
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

/* The sanitizers reserve more address space than any limit. */
bool limit_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    const rlimit memory{kWorkerMemoryBytes, kAnalyzerMemoryBytes};
    return setrlimit(RLIMIT_AS, &memory) == 0;
#endif
}

bool limit_resources() {
    const rlimit no_core{0, 0};
    const rlimit files{kMaxFiles, kMaxFiles};
    return setrlimit(RLIMIT_CORE, &no_core) == 0 && setrlimit(RLIMIT_NOFILE, &files) == 0 && limit_memory();
}

/* The daemon is protected from the out-of-memory killer; this process and its analyzer go before others. */
void raise_oom_score() {
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    [[maybe_unused]] const ssize_t written = write(fd, kOomScore, std::strlen(kOomScore));
    close(fd);
}

void reset_signals() {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGCHLD, SIG_DFL);
}

bool take_groups(uid_t uid, gid_t gid) {
    const passwd* user = getpwuid(uid);
    return (user != nullptr ? initgroups(user->pw_name, gid) : setgroups(1, &gid)) == 0;
}

bool has_become(uid_t uid, gid_t gid) {
    uid_t uids[3];
    gid_t gids[3];
    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 || getresgid(&gids[0], &gids[1], &gids[2]) != 0)
        return false;
    for (int at = 0; at < 3; at++)
        if (uids[at] != uid || gids[at] != gid) return false;
    return uid == 0 || setuid(0) != 0;
}

bool change_ids(uid_t uid, gid_t gid) {
    if (geteuid() == 0 && !take_groups(uid, gid)) return false;
    if (setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) return false;
    return has_become(uid, gid);
}

}  // namespace

bool become_user(uid_t uid, gid_t gid, int channel_fd) {
    if (!keep_only_channel(channel_fd) || !limit_resources()) return false;
    raise_oom_score();
    reset_signals();
    setsid();
    setpriority(PRIO_PROCESS, 0, kNiceness);
    umask(077);
    prctl(PR_SET_NAME, "inquest-step");
    if (clearenv() != 0 || chdir("/") != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return change_ids(uid, gid);
}

}  // namespace inquest::watch
