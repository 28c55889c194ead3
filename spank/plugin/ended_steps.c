#define _GNU_SOURCE
#include "spank/plugin/ended_steps.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spank/format/step_journal.h"
#include "spank/plugin/box_directory.h"
#include "spank/plugin/journal.h"

enum { MOST_STEPS = 64, NAME_BYTES = 40, PREFIX_BYTES = 16 };

struct ended_step {
    char name[NAME_BYTES];
    struct timespec ended; /* the journal's last append */
};

struct ended_steps {
    struct ended_step steps[MOST_STEPS];
    int count;
};

/* Whether the journal's last message says that the step ended and no task failed. */
static int ended_well(int steps_fd, const char* name, struct timespec* ret_ended) {
    int fd = openat(steps_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    struct inquest_step_message last;
    int well = fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof last &&
               pread(fd, &last, sizeof last, status.st_size - (off_t)sizeof last) == sizeof last &&
               last.magic == INQUEST_STEP_MESSAGE_MAGIC && last.kind == INQUEST_STEP_END &&
               last.wait_status == 0;
    if (well) {
        *ret_ended = status.st_mtim;
    }
    if (fd >= 0) {
        close(fd);
    }
    return well;
}

static void collect(int steps_fd, DIR* directory, uint32_t job_id, struct ended_steps* found) {
    char prefix[PREFIX_BYTES];
    size_t prefix_bytes = (size_t)snprintf(prefix, sizeof prefix, "%u.", job_id);
    const struct dirent* entry = NULL;
    while (found->count < MOST_STEPS && (entry = readdir(directory)) != NULL) {
        struct ended_step* step = &found->steps[found->count];
        size_t bytes = strlen(entry->d_name) + 1;
        if (strncmp(entry->d_name, prefix, prefix_bytes) == 0 && bytes <= sizeof step->name &&
            ended_well(steps_fd, entry->d_name, &step->ended)) {
            memcpy(step->name, entry->d_name, bytes);
            ++found->count;
        }
    }
}

static int is_older(const struct timespec* one, const struct timespec* other) {
    return one->tv_sec != other->tv_sec ? one->tv_sec < other->tv_sec : one->tv_nsec < other->tv_nsec;
}

static void remove_oldest(const char* run_directory, int steps_fd, struct ended_steps* found) {
    int oldest = 0;
    for (int index = 1; index < found->count; ++index) {
        if (is_older(&found->steps[index].ended, &found->steps[oldest].ended)) {
            oldest = index;
        }
    }
    char path[INQUEST_BOX_PATH_BYTES];
    int bytes = snprintf(path, sizeof path, "%s/%s", run_directory, found->steps[oldest].name);
    if (bytes > 0 && (size_t)bytes < sizeof path) {
        inquest_box_directory_remove(path);
        (void)unlinkat(steps_fd, found->steps[oldest].name, 0);
    }
    found->steps[oldest] = found->steps[--found->count];
}

void inquest_ended_steps_trim(const char* run_directory, uint32_t job_id) {
    int steps_fd = inquest_journal_open_directory(run_directory);
    DIR* directory = steps_fd < 0 ? NULL : fdopendir(steps_fd);
    if (directory == NULL) {
        if (steps_fd >= 0) {
            close(steps_fd);
        }
        return;
    }
    struct ended_steps found = {.count = 0};
    collect(steps_fd, directory, job_id, &found);
    while (found.count > INQUEST_ENDED_STEPS_KEPT) {
        remove_oldest(run_directory, steps_fd, &found);
    }
    closedir(directory);
}
