#include "epilog/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/unit/catch.h"

namespace inquest::epilog {
namespace {

using std::chrono::milliseconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

Deadline soon() {
    return Deadline::after(std::chrono::seconds(10));
}

int write_and_leave(int fd, const std::string& text, int status) {
    return write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? status : 99;
}

TEST_CASE("a child's status and output come back") {
    const auto result = run_in_child(soon(), 100, [](int fd) { return write_and_leave(fd, "four", 3); });
    CHECK(result.end == ChildEnd::kExited);
    CHECK(result.exit_status == 3);
    CHECK(result.output == "four");
}

TEST_CASE("output is bounded") {
    const auto result =
        run_in_child(soon(), 10, [](int fd) { return write_and_leave(fd, std::string(1000, 'x'), 0); });
    CHECK(result.output == std::string(10, 'x'));
}

TEST_CASE("a child that dies or throws is told from one that ends") {
    const auto killed = run_in_child(soon(), 0, [](int) {
        raise(SIGKILL);
        return 0;
    });
    CHECK(killed.end == ChildEnd::kSignalled);
    const auto thrown = run_in_child(soon(), 0, [](int) -> int { throw std::runtime_error("no"); });
    CHECK(thrown.end == ChildEnd::kExited);
    CHECK(thrown.exit_status != 0);
}

TEST_CASE("a child that hangs is left behind at the deadline, with what it had written") {
    const auto result = run_in_child(Deadline::after(milliseconds(100)), 100, [](int fd) {
        write_and_leave(fd, "before", 0);
        for (;;)
            pause();
        return 0;
    });
    CHECK(result.end == ChildEnd::kDeadline);
    CHECK(result.output == "before");
}

TEST_CASE("as the user: cleared environment, no way back, root directory") {
    const auto result = run_as_user({geteuid(), getegid()}, soon(), 4096, [](int fd) {
        const bool clean = environ == nullptr || *environ == nullptr;
        char directory[64];
        return write_and_leave(fd, getcwd(directory, sizeof directory), clean ? 0 : 1);
    });
    CHECK(result.end == ChildEnd::kExited);
    CHECK(result.exit_status == 0);
    CHECK(result.output == "/");
}

TEST_CASE("as the user: no inherited descriptor but the output, bounded memory") {
    const int inherited = open("/dev/null", O_RDWR | O_CLOEXEC);
    REQUIRE(inherited > STDERR_FILENO);
    const int high = fcntl(inherited, F_DUPFD, 200);
    const auto result = run_as_user({geteuid(), getegid()}, soon(), 10, [&](int fd) {
        rlimit memory{};
        const bool bounded = getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY;
        const bool closed = fcntl(inherited, F_GETFD) < 0 && fcntl(high, F_GETFD) < 0;
        return write_and_leave(fd, "open", closed && (bounded || kSanitized) ? 0 : 1);
    });
    CHECK(result.exit_status == 0);
    CHECK(result.output == "open");
    close(inherited);
    close(high);
}

TEST_CASE("as another user: all ids change, or nothing runs") {
    const UserIdentity other{geteuid() + 4242, getegid() + 4242};
    const auto result = run_as_user(other, soon(), 0, [&](int) {
        const bool changed = getuid() == other.uid && geteuid() == other.uid && getgid() == other.gid;
        return changed && getgroups(0, nullptr) == 1 && setuid(0) != 0 ? 0 : 1;
    });
    CHECK(result.end == ChildEnd::kExited);
    CHECK(result.exit_status == (geteuid() == 0 ? 0 : kBecomeUserFailed));
}

}  // namespace
}  // namespace inquest::epilog
