#include "epilog/daemon_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <optional>
#include <thread>

#include "spank/format/step_journal.h"
#include "spank/harvest/unique_fd.h"
#include "tests/unit/catch.h"
#include "tests/unit/epilog/temporary_directory.h"

namespace inquest::epilog {
namespace {

Job job() {
    return {7, {1001, 100}, "hive", "n1", {"n1"}, false};
}

/* Takes one packet and answers it. */
class FakeDaemon {
 public:
    FakeDaemon(const std::string& path, std::optional<unsigned char> answer)
        : listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.c_str(), path.size());
        REQUIRE(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(listen(listener_.get(), 1) == 0);
        thread_ = std::thread([this, answer] { serve(answer); });
    }
    ~FakeDaemon() { finish(); }
    void finish() {
        if (thread_.joinable()) thread_.join();
    }
    inquest_step_message received{};

 private:
    void serve(std::optional<unsigned char> answer) {
        connection_.reset(accept(listener_.get(), nullptr, nullptr));
        recv(connection_.get(), &received, sizeof received, 0);
        if (answer) send(connection_.get(), &*answer, 1, MSG_NOSIGNAL);
    }
    harvest::UniqueFd listener_;
    harvest::UniqueFd connection_;
    std::thread thread_;
};

TEST_CASE("inquestd is told which job ended") {
    const TemporaryDirectory directory;
    FakeDaemon daemon(directory / "sock", INQUEST_STEP_REPLY_DONE);
    CHECK(tell_daemon_job_end(directory / "sock", job(), Deadline::after(std::chrono::seconds(10))) ==
          DaemonAnswer::kDone);
    daemon.finish();
    CHECK(daemon.received.magic == INQUEST_STEP_MESSAGE_MAGIC);
    CHECK(daemon.received.kind == INQUEST_JOB_END);
    CHECK(daemon.received.job_id == 7);
    CHECK(daemon.received.uid == 1001);
}

TEST_CASE("a refusal, silence and absence are told apart from help") {
    const TemporaryDirectory directory;
    FakeDaemon refusing(directory / "refusing", INQUEST_STEP_REPLY_REFUSED);
    FakeDaemon silent(directory / "silent", std::nullopt);
    const Deadline deadline = Deadline::after(std::chrono::milliseconds(200));
    CHECK(tell_daemon_job_end(directory / "refusing", job(), deadline) == DaemonAnswer::kNoHelp);
    CHECK(tell_daemon_job_end(directory / "silent", job(), deadline) == DaemonAnswer::kNoHelp);
    CHECK(tell_daemon_job_end(directory / "absent", job(), deadline) == DaemonAnswer::kAbsent);
    CHECK(tell_daemon_job_end(std::string(200, 'x'), job(), deadline) == DaemonAnswer::kAbsent);
}

}  // namespace
}  // namespace inquest::epilog
