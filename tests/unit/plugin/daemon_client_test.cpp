#include "spank/plugin/daemon_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "tests/unit/catch.h"
#include "tests/unit/plugin/scratch.h"

namespace {

int listen_at(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path.c_str());
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(fd, 1) == 0);
    return fd;
}

}  // namespace

TEST_CASE("no daemon is an error at once") {
    Scratch scratch;
    CHECK(inquest_daemon_send(scratch.path("none").c_str(), "x", 1, 1000) == -ENOENT);
    CHECK(inquest_daemon_send(std::string(200, 'x').c_str(), "x", 1, 1000) == -ENAMETOOLONG);
}

TEST_CASE("a hanging daemon costs the given time, and nothing when its queue is full") {
    Scratch scratch;
    std::string path = scratch.path("socket");
    int fd = listen_at(path);
    CHECK(inquest_daemon_send(path.c_str(), "x", 1, 10) == -ETIMEDOUT);
    CHECK(inquest_daemon_send(path.c_str(), "x", 1, 0) == 0);
    CHECK(inquest_daemon_send(path.c_str(), "x", 1, 1000) == -EAGAIN);
    close(fd);
}

TEST_CASE("a message is one packet, and its reply ends the wait") {
    Scratch scratch;
    std::string path = scratch.path("socket");
    int fd = listen_at(path);
    char received[8] = {};
    std::thread server([&] {
        int peer = accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
        (void)!recv(peer, received, sizeof received, 0);
        char done = 1;
        (void)!send(peer, &done, 1, MSG_NOSIGNAL);
        close(peer);
    });
    CHECK(inquest_daemon_send(path.c_str(), "hello", 5, 60000) == 0);
    server.join();
    CHECK(std::string(received) == "hello");
    close(fd);
}
