#define _GNU_SOURCE
#include "spank/plugin/notice_client.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/plugin/child.h"
#include "spank/plugin/clocks.h"

static struct {
    pid_t pid; /* 0: not running */
    pid_t started_by;
    int channel_fd;
} notice;

static pid_t start_on_channel(const char* notice_path, const char* report_directory, const char* step_name,
                              int read_fd) {
    const char* line[] = {notice_path, "--report", report_directory, "--step", step_name, NULL};
    char* arguments[sizeof line / sizeof line[0]];
    memcpy(arguments, line, sizeof line);
    struct inquest_child child = {.path = notice_path,
                                  .arguments = arguments,
                                  .environment = environ,
                                  .identity = NULL,
                                  .stdin_fd = read_fd,
                                  .stdout_fd = -1,
                                  .keep_stderr = 1,
                                  .own_group = 1};
    return inquest_child_start(&child);
}

void inquest_notice_start(const char* notice_path, const char* report_directory, const char* step_name) {
    int ends[2];
    if (notice.pid != 0 || inquest_channel(ends) != 0) {
        return;
    }
    pid_t pid = start_on_channel(notice_path, report_directory, step_name, ends[0]);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return;
    }
    notice.pid = pid;
    notice.started_by = getpid();
    notice.channel_fd = ends[1];
}

void inquest_notice_finish(void) {
    if (notice.pid == 0 || notice.started_by != getpid()) {
        return;
    }
    /* Not close alone: srun's own forks hold copies of this end. */
    (void)shutdown(notice.channel_fd, SHUT_RDWR);
    close(notice.channel_fd);
    int wait_status = 0;
    (void)inquest_child_finish(notice.pid, inquest_deadline_after_ms(INQUEST_NOTICE_LIMIT_MS), &wait_status);
    notice.pid = 0;
}
