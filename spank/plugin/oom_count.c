#define _GNU_SOURCE
#include "spank/plugin/oom_count.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 4096, PATH_BYTES = 1024, ENTRIES_MAX = 4096 };

/* First FILE_MAX_BYTES - 1 bytes of a file as text; "" when it cannot be read. */
static void read_text(int directory_fd, const char* name, char ret_text[FILE_MAX_BYTES]) {
    ret_text[0] = '\0';
    int fd = openat(directory_fd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    ssize_t bytes = read(fd, ret_text, FILE_MAX_BYTES - 1);
    ret_text[bytes > 0 ? bytes : 0] = '\0';
    close(fd);
}

/* The number in a line "oom_kill N". */
static uint32_t oom_kill_line(const char* text) {
    static const char key[] = "oom_kill ";
    const char* line = strstr(text, key);
    return line == NULL ? 0 : (uint32_t)strtoul(line + sizeof key - 1, NULL, 10);
}

static uint32_t count_in(int directory_fd, const char* name) {
    char text[FILE_MAX_BYTES];
    read_text(directory_fd, name, text);
    return oom_kill_line(text);
}

static uint32_t count_in_child(int step_fd, const char* child) {
    int fd = openat(step_fd, child, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    uint32_t count = count_in(fd, "memory.oom_control");
    close(fd);
    return count;
}

/* Takes over step_fd. */
static uint32_t count_in_tasks(int step_fd) {
    DIR* directory = fdopendir(step_fd);
    if (directory == NULL) {
        close(step_fd);
        return 0;
    }
    uint32_t count = 0;
    for (int entries = 0; entries < ENTRIES_MAX; ++entries) {
        const struct dirent* entry = readdir(directory);
        if (entry == NULL) {
            break;
        }
        if (strncmp(entry->d_name, "task_", 5) == 0) {
            count += count_in_child(step_fd, entry->d_name);
        }
    }
    closedir(directory);
    return count;
}

/* Where the step's memory cgroup is. -1: this process is in none. */
static int step_path(const char* lines, const char* cgroup_root, int* ret_version,
                     char ret_path[PATH_BYTES]) {
    const char* memory = strstr(lines, ":memory:");
    const char* unified = strncmp(lines, "0::", 3) == 0 ? lines + 3 : NULL;
    const char* path = memory != NULL ? memory + strlen(":memory:") : unified;
    const char* step = path == NULL ? NULL : strstr(path, "/step_");
    if (step == NULL || memchr(path, '\n', (size_t)(step - path)) != NULL) {
        return -1;
    }
    size_t bytes = (size_t)(step - path) + 1 + strcspn(step + 1, "/\n");
    *ret_version = memory != NULL ? 1 : 2;
    int length = snprintf(ret_path, PATH_BYTES, "%s%s%.*s", cgroup_root, memory != NULL ? "/memory" : "",
                          (int)bytes, path);
    return length > 0 && length < PATH_BYTES ? 0 : -1;
}

uint32_t inquest_oom_kills(const char* self_cgroup, const char* cgroup_root) {
    char lines[FILE_MAX_BYTES];
    char path[PATH_BYTES];
    int version = 0;
    read_text(AT_FDCWD, self_cgroup, lines);
    if (step_path(lines, cgroup_root, &version, path) != 0) {
        return 0;
    }
    int step_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (step_fd < 0) {
        return 0;
    }
    if (version == 1) {
        uint32_t own = count_in(step_fd, "memory.oom_control");
        return own + count_in_tasks(step_fd);
    }
    uint32_t count = count_in(step_fd, "memory.events");
    close(step_fd);
    return count;
}
