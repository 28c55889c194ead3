#define _GNU_SOURCE
#include "spank/plugin/launch_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spank/plugin/clocks.h"

enum { ARGUMENTS_MAX = 24, NUMBER_BYTES = 16 };

struct command_line {
    char* arguments[ARGUMENTS_MAX];
    int count;
    char job[NUMBER_BYTES];
    char stall[NUMBER_BYTES];
    char timeout[NUMBER_BYTES];
};

/* execve(2) takes non-const strings and does not change them. */
static void append(struct command_line* line, const char* text) {
    memcpy(&line->arguments[line->count++], &text, sizeof text);
}

/* `value` NULL or "": the option was not given. */
static void append_pair(struct command_line* line, const char* name, const char* value) {
    if (value != NULL && value[0] != '\0') {
        append(line, name);
        append(line, value);
    }
}

/* "" for 0, which stands for an option that was not given. */
static const char* seconds_text(uint32_t seconds, char ret_text[NUMBER_BYTES]) {
    ret_text[0] = '\0';
    if (seconds != 0) {
        (void)snprintf(ret_text, NUMBER_BYTES, "%u", seconds);
    }
    return ret_text;
}

static void append_options(const struct inquest_options* options, struct command_line* line) {
    append_pair(line, "--stall", seconds_text(options->stall_seconds, line->stall));
    append_pair(line, "--dir", options->directory);
    append_pair(line, "--profile", options->profile);
    append_pair(line, "--deterministic", options->deterministic);
    append_pair(line, "--seed", options->seed);
    append_pair(line, "--nccl-debug", options->nccl_debug);
    append_pair(line, "--timeout", seconds_text(options->timeout_seconds, line->timeout));
    append_pair(line, "--on-divergence", options->on_divergence);
}

static void fill_command_line(const struct inquest_launch_request* request, struct command_line* line) {
    memset(line, 0, sizeof *line);
    (void)snprintf(line->job, sizeof line->job, "%u", request->job_id);
    append(line, request->launch_path);
    append_pair(line, "--job", line->job);
    append_pair(line, "--step", request->step_name);
    if (request->off) {
        append(line, "--off");
    } else {
        append_options(request->options, line);
    }
}

/* Reads to the end of file. 0, or -1: deadline, error, or more than fits. */
static int read_all(int fd, uint64_t deadline_mono_ns, struct inquest_records* records) {
    records->used_bytes = 0;
    for (;;) {
        struct pollfd readable = {.fd = fd, .events = POLLIN, .revents = 0};
        int ready = poll(&readable, 1, inquest_milliseconds_left(deadline_mono_ns));
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        size_t room = sizeof records->bytes - records->used_bytes;
        if (ready <= 0 || room == 0) {
            return -1;
        }
        ssize_t bytes = read(fd, records->bytes + records->used_bytes, room);
        if (bytes <= 0) {
            return bytes == 0 ? 0 : -1;
        }
        records->used_bytes += (size_t)bytes;
    }
}

static pid_t start_helper(const struct inquest_launch_request* request, int stdout_fd) {
    struct command_line line;
    fill_command_line(request, &line);
    struct inquest_child child = {.path = request->launch_path,
                                  .arguments = line.arguments,
                                  .environment = request->environment,
                                  .identity = request->identity,
                                  .stdin_fd = -1,
                                  .stdout_fd = stdout_fd,
                                  .keep_stderr = request->identity == NULL,
                                  .own_group = 0};
    return inquest_child_start(&child);
}

enum inquest_answer inquest_launch_ask(const struct inquest_launch_request* request,
                                       struct inquest_records* records) {
    uint64_t deadline_mono_ns = inquest_deadline_after_ms(INQUEST_LAUNCH_LIMIT_MS);
    int ends[2];
    if (inquest_pipe(ends) != 0) {
        return INQUEST_ANSWER_BROKEN;
    }
    pid_t pid = start_helper(request, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return INQUEST_ANSWER_BROKEN;
    }
    int complete = read_all(ends[0], deadline_mono_ns, records) == 0;
    close(ends[0]);
    int wait_status = 0;
    uint64_t last_mono_ns = complete ? deadline_mono_ns : inquest_mono_ns();
    int ended = inquest_child_finish(pid, last_mono_ns, &wait_status) == 0;
    return complete && ended && wait_status == 0 ? inquest_records_check(records) : INQUEST_ANSWER_BROKEN;
}
