#include "spank/harvest/worker_server.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "spank/harvest/file_access.h"
#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;

namespace {

UniqueFd listen_at(const std::string& path) {
    UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    REQUIRE(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(listener.get(), 4) == 0);
    return listener;
}

void answer_once(int listener_fd, const std::string& response) {
    const UniqueFd connection(accept4(listener_fd, nullptr, nullptr, SOCK_CLOEXEC));
    char request[1024];
    if (recv(connection.get(), request, sizeof request, 0) <= 0) return;
    send(connection.get(), response.data(), response.size(), MSG_NOSIGNAL);
}

}  // namespace

TEST_CASE("the body of an HTTP answer is found, anything else is an error") {
    CHECK(*http_body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") == "{}");
    CHECK(*http_body("HTTP/1.1 200 OK\r\n\r\n{}") == "{}");
    CHECK(*http_body("HTTP/1.1 200 OK\r\ncontent-length:1\r\n\r\n{}") == "{");
    for (const char* response :
         {"", "HTTP/1.1 404 Not Found\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}", "HTTP/1.1 200 OK\r\n", "{}"})
        CHECK_FALSE(http_body(response));
}

TEST_CASE("all servers are asked at once; those that do not answer are errors") {
    const inquest::test::TemporaryDirectory directory;
    const UniqueFd good = listen_at((directory.path() / "good.sock").string());
    const UniqueFd silent = listen_at((directory.path() / "silent.sock").string());
    std::thread server(answer_once, good.get(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    const UniqueFd directory_fd = open_directory(directory.path());
    uint64_t looks = 0; /* the clock: the deadline comes after the answer has been seen */
    bool answered = false;
    std::vector<std::string> results(3);
    request_flight_records(
        directory_fd.get(), {"good.sock", "silent.sock", "missing.sock"}, 100,
        [&]() -> uint64_t { return answered ? 100 : std::min<uint64_t>(looks++, 99); },
        [&](size_t index, const tl::expected<std::string, std::string>& body) {
            answered = answered || index == 0;
            results[index] = body ? *body : "error: " + body.error();
        });
    server.join();
    CHECK(results[0] == "{}");
    CHECK(results[1] == "error: no answer in time");
    CHECK(results[2].starts_with("error: connect"));
}
