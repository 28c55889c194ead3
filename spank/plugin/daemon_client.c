#define _GNU_SOURCE
#include "spank/plugin/daemon_client.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "spank/plugin/clocks.h"

static int connect_to(const char* socket_path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {0}};
    size_t bytes = strlen(socket_path) + 1;
    if (bytes > sizeof address.sun_path) {
        return -ENAMETOOLONG;
    }
    memcpy(address.sun_path, socket_path, bytes);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (const struct sockaddr*)&address, sizeof address) != 0) {
        int result = -errno; /* EAGAIN: the queue of a hanging daemon is full */
        close(fd);
        return result;
    }
    return fd;
}

static int wait_for_reply(int fd, uint32_t wait_ms) {
    uint64_t deadline_mono_ns = inquest_deadline_after_ms(wait_ms);
    struct pollfd readable = {.fd = fd, .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
        ready = poll(&readable, 1, inquest_milliseconds_left(deadline_mono_ns));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        return -ETIMEDOUT;
    }
    char reply = 0;
    return ready > 0 && recv(fd, &reply, 1, MSG_DONTWAIT) == 1 ? 0 : -ECONNRESET;
}

int inquest_daemon_send(const char* socket_path, const void* packet, size_t bytes, uint32_t wait_ms) {
    int fd = connect_to(socket_path);
    if (fd < 0) {
        return fd;
    }
    int result = send(fd, packet, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes ? 0 : -errno;
    if (result == 0 && wait_ms > 0) {
        result = wait_for_reply(fd, wait_ms);
    }
    close(fd);
    return result;
}
