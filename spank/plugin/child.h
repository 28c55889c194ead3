/* Starts a helper program with nothing inherited but what it needs, and ends it by a deadline.
 *
 * Between fork and exec only async-signal-safe calls are made, because srun and slurmstepd have threads. A
 * helper never gets a descriptor beyond 0, 1 and 2, blocked signals, or (of its own kin) LD_* variables: a
 * user's LD_PRELOAD or LD_LIBRARY_PATH is meant for the user's program and could break the helper.
 */
#ifndef INQUEST_SPANK_PLUGIN_CHILD_H
#define INQUEST_SPANK_PLUGIN_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whom a child of root becomes, completely, before it runs anything. */
struct inquest_identity {
    uid_t uid;
    gid_t gid;
    const gid_t* groups;
    int group_count;
};

struct inquest_child {
    const char* path;
    char* const* arguments;                  /* argv, NULL-terminated */
    char* const* environment;                /* LD_* entries are left out */
    const struct inquest_identity* identity; /* NULL: stay who we are */
    int stdin_fd;                            /* -1: /dev/null */
    int stdout_fd;                           /* -1: /dev/null */
    int keep_stderr;                         /* 0: /dev/null */
    int own_group;                           /* 1: a process group of its own, so that ^C does not reach it */
};

/* Returns the pid, or a negative errno. An unusable program shows only as exit status 127. */
pid_t inquest_child_start(const struct inquest_child* child);

/* Waits until the deadline, then kills and waits a last 100 ms. Returns 0 and the wait status, -ETIMEDOUT
 * when it had to be killed. When SIGCHLD is ignored or somebody else reaped the child, the status is unknown
 * and given as 0. */
int inquest_child_finish(pid_t pid, uint64_t deadline_mono_ns, int* ret_wait_status);

/* pipe2(O_CLOEXEC) whose ends are never 0, 1 or 2, even in a process that was started with these closed.
 * Returns 0 or a negative errno. */
int inquest_pipe(int ret_ends[2]);

/* The same with a pair of connected sockets, whose end of file can be sent although forks hold copies of an
 * end. */
int inquest_channel(int ret_ends[2]);

#ifdef __cplusplus
}
#endif

#endif
