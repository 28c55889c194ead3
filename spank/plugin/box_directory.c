#define _GNU_SOURCE
#include "spank/plugin/box_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* Ceilings: only what is written takes memory. A process may write a box of 0.8 MB, a tensor table of up
     * to 3 MiB and small files; one task may be a launcher with many ranks that it restarts. */
    BASE_BYTES = 128 * 1024 * 1024,
    TASK_BYTES = 4 * 1024 * 1024,
    MAX_BYTES = 1024 * 1024 * 1024,
    BASE_FILES = 256,
    TASK_FILES = 64,
    MOUNT_OPTIONS_BYTES = 160,
    RUN_DIRECTORY_BYTES = 64
};

uint64_t inquest_box_directory_bytes(uint32_t local_task_count) {
    uint64_t bytes = BASE_BYTES + (uint64_t)local_task_count * TASK_BYTES;
    return bytes < MAX_BYTES ? bytes : MAX_BYTES;
}

static int is_safe(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int inquest_open_own_directory(int parent_fd, const char* name, mode_t mode) {
    int made = mkdirat(parent_fd, name, mode) == 0;
    if (!made && errno != EEXIST) {
        return -errno;
    }
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    /* The umask may have taken bits away from a new one. */
    if ((made && fchmod(fd, mode) != 0) || !is_safe(fd)) {
        close(fd);
        return -EPERM;
    }
    return fd;
}

int inquest_open_run_directory(const char* run_directory) {
    const char* name = strrchr(run_directory, '/');
    char parent[RUN_DIRECTORY_BYTES];
    if (name == NULL || name == run_directory || (size_t)(name - run_directory) >= sizeof parent) {
        return -EINVAL;
    }
    memcpy(parent, run_directory, (size_t)(name - run_directory));
    parent[name - run_directory] = '\0';
    int parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (parent_fd < 0) {
        return -errno;
    }
    int fd = inquest_open_own_directory(parent_fd, name + 1, 0755);
    close(parent_fd);
    return fd;
}

static int mount_for(const struct inquest_step* step, const char* path) {
    uint64_t tasks =
        step->local_task_count < MAX_BYTES / TASK_BYTES ? step->local_task_count : MAX_BYTES / TASK_BYTES;
    char options[MOUNT_OPTIONS_BYTES];
    (void)snprintf(options, sizeof options, "size=%lu,nr_inodes=%lu,mode=0700,uid=%u,gid=%u",
                   (unsigned long)inquest_box_directory_bytes(step->local_task_count),
                   (unsigned long)(BASE_FILES + tasks * TASK_FILES), step->uid, step->gid);
    return mount("inquest", path, "tmpfs", MS_NODEV | MS_NOSUID | MS_NOEXEC, options) == 0 ? 0 : -errno;
}

void inquest_box_directory_remove(const char* path) {
    (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
    (void)rmdir(path);
}

static int make_in(int run_fd, const struct inquest_step* step, const char* path) {
    const char* name = strrchr(path, '/') + 1;
    if (mkdirat(run_fd, name, 0700) != 0) {
        if (errno != EEXIST) {
            return -errno;
        }
        inquest_box_directory_remove(path);
        if (mkdirat(run_fd, name, 0700) != 0) {
            return -errno;
        }
    }
    int result = mount_for(step, path);
    if (result != 0) {
        (void)unlinkat(run_fd, name, AT_REMOVEDIR);
    }
    return result;
}

int inquest_box_directory_make(const char* run_directory, const struct inquest_step* step,
                               char ret_path[INQUEST_BOX_PATH_BYTES]) {
    char path[INQUEST_BOX_PATH_BYTES];
    int bytes = snprintf(path, sizeof path, "%s/%u.%s", run_directory, step->job_id, step->name);
    if (bytes < 0 || (size_t)bytes >= sizeof path) {
        return -ENAMETOOLONG;
    }
    int run_fd = inquest_open_run_directory(run_directory);
    if (run_fd < 0) {
        return run_fd;
    }
    int result = make_in(run_fd, step, path);
    close(run_fd);
    if (result == 0) {
        memcpy(ret_path, path, (size_t)bytes + 1);
    }
    return result;
}
