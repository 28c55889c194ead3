#define _GNU_SOURCE
#include "spank/plugin/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spank/plugin/clocks.h"

enum { EXIT_NOT_STARTED = 127, KILL_GRACE_MS = 100, REAP_INTERVAL_NS = 100000, FALLBACK_MAX_FD = 65536 };

static int move_above_stdio(int* end) {
    if (*end > STDERR_FILENO) {
        return 0;
    }
    int moved = fcntl(*end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) {
        return -errno;
    }
    close(*end);
    *end = moved;
    return 0;
}

static int move_both_above_stdio(int ends[2]) {
    if (move_above_stdio(&ends[0]) == 0 && move_above_stdio(&ends[1]) == 0) {
        return 0;
    }
    close(ends[0]);
    close(ends[1]);
    return -EMFILE;
}

int inquest_pipe(int ret_ends[2]) {
    return pipe2(ret_ends, O_CLOEXEC) == 0 ? move_both_above_stdio(ret_ends) : -errno;
}

int inquest_channel(int ret_ends[2]) {
    int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_ends);
    return made == 0 ? move_both_above_stdio(ret_ends) : -errno;
}

static void reset_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; ++number) {
        (void)signal(number, SIG_DFL);
    }
}

static void close_from(int first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) {
        return;
    }
#endif
    for (int fd = first; fd < FALLBACK_MAX_FD; ++fd) {
        close(fd);
    }
}

static int place_fd(int fd, int target) {
    int source = fd >= 0 ? fd : open("/dev/null", O_RDWR | O_CLOEXEC);
    if (source < 0) {
        return -1;
    }
    if (source == target) { /* dup2 would leave O_CLOEXEC on it */
        return fcntl(target, F_SETFD, 0);
    }
    return dup2(source, target) == target ? 0 : -1;
}

/* slurmstepd is protected from the out-of-memory killer and its children inherit that. */
static void drop_oom_protection(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "0", 1);
        close(fd);
    }
}

/* System calls instead of the C library's wrappers: those signal all threads, and a forked child has only
 * this one. In slurm_spank_user_init only the effective user is the user's; root is regained first to be able
 * to set the groups. */
static int become(const struct inquest_identity* identity) {
    uid_t uid = identity->uid;
    gid_t gid = identity->gid;
    if (syscall(SYS_setresuid, (uid_t)-1, 0, (uid_t)-1) != 0) {
        return -1;
    }
    drop_oom_protection();
    if (syscall(SYS_setgroups, (size_t)identity->group_count, identity->groups) != 0 ||
        syscall(SYS_setresgid, gid, gid, gid) != 0 || syscall(SYS_setresuid, uid, uid, uid) != 0) {
        return -1;
    }
    return uid != 0 && syscall(SYS_setresuid, (uid_t)-1, 0, (uid_t)-1) == 0 ? -1 : 0;
}

static _Noreturn void run_child(const struct inquest_child* child, char* const* environment) {
    reset_signals();
    if (child->own_group) {
        (void)setpgid(0, 0);
        (void)signal(SIGTTOU, SIG_IGN); /* may print although not in the terminal's foreground group */
    }
    if (place_fd(child->stdin_fd, STDIN_FILENO) != 0 || place_fd(child->stdout_fd, STDOUT_FILENO) != 0) {
        _exit(EXIT_NOT_STARTED);
    }
    if (!child->keep_stderr && place_fd(-1, STDERR_FILENO) != 0) {
        _exit(EXIT_NOT_STARTED);
    }
    close_from(STDERR_FILENO + 1);
    if (child->identity != NULL && become(child->identity) != 0) {
        _exit(EXIT_NOT_STARTED);
    }
    execve(child->path, child->arguments, environment);
    _exit(EXIT_NOT_STARTED);
}

/* The environment without LD_*; the array is the caller's to free, its strings are shared. NULL: no memory.
 */
static char** helper_environment(char* const* environment) {
    size_t count = 0;
    while (environment[count] != NULL) {
        ++count;
    }
    char** kept = calloc(count + 1, sizeof *kept);
    if (kept == NULL) {
        return NULL;
    }
    size_t used = 0;
    for (size_t index = 0; index < count; ++index) {
        if (strncmp(environment[index], "LD_", 3) != 0) {
            kept[used++] = environment[index];
        }
    }
    return kept;
}

pid_t inquest_child_start(const struct inquest_child* child) {
    char** environment = helper_environment(child->environment);
    if (environment == NULL) {
        return -ENOMEM;
    }
    pid_t pid = fork();
    if (pid == 0) {
        run_child(child, environment);
    }
    pid_t result = pid < 0 ? -errno : pid;
    free(environment);
    return result;
}

static void sleep_briefly(void) {
    struct timespec interval = {0, REAP_INTERVAL_NS};
    (void)nanosleep(&interval, NULL);
}

/* 1: reaped or nobody to reap, 0: still there at the deadline. */
static int reap_until(pid_t pid, uint64_t deadline_mono_ns, int* ret_wait_status) {
    for (;;) {
        int status = 0;
        pid_t reaped = waitpid(pid, &status, WNOHANG);
        if (reaped == pid || (reaped < 0 && errno != EINTR)) {
            *ret_wait_status = reaped == pid ? status : 0;
            return 1;
        }
        if (inquest_milliseconds_left(deadline_mono_ns) == 0) {
            return 0;
        }
        sleep_briefly();
    }
}

int inquest_child_finish(pid_t pid, uint64_t deadline_mono_ns, int* ret_wait_status) {
    if (reap_until(pid, deadline_mono_ns, ret_wait_status)) {
        return 0;
    }
    kill(pid, SIGKILL);
    /* Bounded too: a program on a dead file system does not even die of SIGKILL. */
    (void)reap_until(pid, inquest_deadline_after_ms(KILL_GRACE_MS), ret_wait_status);
    return -ETIMEDOUT;
}
