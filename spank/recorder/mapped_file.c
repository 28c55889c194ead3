#define _GNU_SOURCE
#include "mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int preallocate(int fd, uint64_t bytes) {
    int error = 0;
    do {
        error = posix_fallocate(fd, 0, (off_t)bytes);
    } while (error == EINTR);
    return -error;
}

static int map_file(int fd, uint64_t bytes, uint8_t** ret_base) {
    int error = preallocate(fd, bytes);
    if (error != 0) {
        return error;
    }
    void* base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        return -errno;
    }
    *ret_base = base;
    return 0;
}

int inquest_create_mapped(const char* path, uint64_t bytes, uint8_t** ret_base) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -errno;
    }
    int error = map_file(fd, bytes, ret_base);
    (void)close(fd);
    if (error != 0) {
        (void)unlink(path);
    }
    return error;
}
