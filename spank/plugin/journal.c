#define _GNU_SOURCE
#include "spank/plugin/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "spank/plugin/box_directory.h"

enum { JOURNAL_NAME_BYTES = 40 };

static void journal_name(const struct inquest_step* step, char ret_name[JOURNAL_NAME_BYTES]) {
    (void)snprintf(ret_name, JOURNAL_NAME_BYTES, "%u.%s", step->job_id, step->name);
}

int inquest_journal_open_directory(const char* run_directory) {
    int run_fd = inquest_open_run_directory(run_directory);
    if (run_fd < 0) {
        return run_fd;
    }
    int steps_fd = inquest_open_own_directory(run_fd, "steps", 0700);
    close(run_fd);
    return steps_fd;
}

static int open_journal(const char* run_directory, const struct inquest_step* step, int flags) {
    int steps_fd = inquest_journal_open_directory(run_directory);
    if (steps_fd < 0) {
        return steps_fd;
    }
    char name[JOURNAL_NAME_BYTES];
    journal_name(step, name);
    if ((flags & O_CREAT) != 0) {
        (void)unlinkat(steps_fd, name, 0);
    }
    int fd = openat(steps_fd, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
    int result = fd < 0 ? -errno : fd;
    close(steps_fd);
    return result;
}

static off_t expected_bytes(const struct inquest_step* step) {
    uint64_t messages = 2 + 2 * (uint64_t)step->local_task_count;
    return (off_t)(INQUEST_STEP_MESSAGE_MAX_BYTES + messages * sizeof(struct inquest_step_message));
}

int inquest_journal_make(const char* run_directory, const struct inquest_step* step) {
    int fd = open_journal(run_directory, step, O_CREAT | O_EXCL);
    if (fd < 0) {
        return fd;
    }
    int reserved = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, expected_bytes(step));
    int result = reserved == 0 || errno == EOPNOTSUPP ? 0 : -errno;
    close(fd);
    if (result != 0) {
        inquest_journal_remove(run_directory, step);
    }
    return result;
}

int inquest_journal_append(const char* run_directory, const struct inquest_step* step,
                           const struct inquest_step_packet* packet) {
    int fd = open_journal(run_directory, step, 0);
    if (fd < 0) {
        return fd;
    }
    ssize_t written = write(fd, packet, packet->head.total_bytes);
    int result = written == (ssize_t)packet->head.total_bytes ? 0 : written < 0 ? -errno : -ENOSPC;
    close(fd);
    return result;
}

void inquest_journal_remove(const char* run_directory, const struct inquest_step* step) {
    int steps_fd = inquest_journal_open_directory(run_directory);
    if (steps_fd < 0) {
        return;
    }
    char name[JOURNAL_NAME_BYTES];
    journal_name(step, name);
    (void)unlinkat(steps_fd, name, 0);
    close(steps_fd);
}
