/* The daemon's core with real workers and a real rank, as whoever runs the test. */
#include "spank/watch/core.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "spank/watch/become_user.h"
#include "spank/watch/listener.h"
#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::watch;
using inquest::harvest::ProcessIdentity;
using inquest::harvest::UniqueFd;
using inquest::test::FakeNode;
using inquest::test::read_file;

namespace {

constexpr int kAnswerSeconds = 20;

class Daemon {
 public:
    explicit Daemon(const FakeNode& node, size_t max_clients = 512, size_t max_workers = 256)
        : run_directory_(node.root() / "run"), max_clients_(max_clients), max_workers_(max_workers) {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        pid_ = fork();
        if (pid_ == 0) serve(ready[1]);
        close(ready[1]);
        char byte = 0;
        REQUIRE(read(ready[0], &byte, 1) == 1);
        close(ready[0]);
    }
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;
    ~Daemon() {
        kill(pid_, SIGTERM);
        waitpid(pid_, nullptr, 0);
    }

    [[nodiscard]] pid_t pid() const { return pid_; }

    /* A connection on which one message was sent. */
    [[nodiscard]] UniqueFd send_message(const std::string& message) const {
        UniqueFd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, (run_directory_ + "/inquestd.sock").c_str(),
                     sizeof address.sun_path - 1);
        const timeval limit{kAnswerSeconds, 0};
        setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        REQUIRE(connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(send(connection.get(), message.data(), message.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(message.size()));
        return connection;
    }

    /* The answer to one message; 0 when there is none. */
    [[nodiscard]] uint8_t tell(const std::string& message) const {
        const UniqueFd connection = send_message(message);
        uint8_t reply = 0;
        return recv(connection.get(), &reply, 1, 0) == 1 ? reply : 0;
    }

    /* Its first child. */
    [[nodiscard]] pid_t worker() const {
        const std::string children =
            "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) + "/children";
        return std::atoi(read_file(children).c_str());
    }

 private:
    [[noreturn]] void serve(int ready_fd) const {
        CoreOptions options{run_directory_, {"/bin/true", "/bin/true", {}}, "/bin/true", "admin", geteuid()};
        options.max_clients = max_clients_;
        options.max_workers = max_workers_;
        Core core(options);
        if (!core.start() || write(ready_fd, "", 1) != 1) _exit(1);
        core.run();
        _exit(0);
    }

    std::string run_directory_;
    size_t max_clients_;
    size_t max_workers_;
    pid_t pid_ = -1;
};

/* A process that only waits to be killed, with a box that says it is a rank. */
class Rank {
 public:
    explicit Rank(FakeNode& node) {
        pid_ = fork();
        if (pid_ == 0)
            for (;;)
                pause();
        const auto stat = inquest::harvest::read_process_stat("/proc", pid_);
        REQUIRE(stat);
        inquest_box_live live = inquest::test::live_of_rank(0);
        live.stack_signal = 0;
        node.write_box({pid_, stat->start_time_ticks}, live);
    }
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;
    ~Rank() { die(); }

    void die() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

 private:
    pid_t pid_ = -1;
};

/* The same message about another job. */
std::string of_job(uint32_t job_id, std::string message) {
    std::memcpy(message.data() + offsetof(inquest_step_message, job_id), &job_id, sizeof job_id);
    return message;
}

uint64_t mono_ns() {
    return inquest::harvest::real_system().mono_ns();
}

/* Time on a processor, first number of /proc/PID/schedstat. */
uint64_t scheduled_ns(pid_t pid) {
    return std::strtoull(read_file("/proc/" + std::to_string(pid) + "/schedstat").c_str(), nullptr, 10);
}

/* Looks until the file exists; how long that took in ms, or -1. */
int64_t wait_for(const std::filesystem::path& path) {
    const uint64_t begin = mono_ns();
    while (mono_ns() - begin < 10ULL * 1000000000) {
        if (std::filesystem::exists(path)) return static_cast<int64_t>((mono_ns() - begin) / 1000000);
        usleep(2000);
    }
    return -1;
}

}  // namespace

TEST_CASE("a step from its start over the death of its rank to the end of the job") {
    FakeNode node;
    const Daemon daemon(node);
    Rank rank(node);
    REQUIRE(daemon.tell(node.start_message()) == INQUEST_STEP_REPLY_DONE);
    REQUIRE(daemon.tell(node.task_message(INQUEST_TASK_START, 0, rank.pid())) == INQUEST_STEP_REPLY_DONE);
    usleep(500000); /* until the worker has seen the rank alive */
    const pid_t pid = rank.pid();
    rank.die();
    const int64_t noticed_ms = wait_for(node.evidence());
    WARN("death noticed after " << noticed_ms << " ms");
    CHECK(noticed_ms >= 0);
    CHECK(daemon.tell(node.task_message(INQUEST_TASK_EXIT, 0, pid, SIGKILL)) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
    const auto json = nlohmann::json::parse(read_file(node.evidence() / "n1" / "node.json"));
    CHECK(json["step_ended"] == true);
    CHECK(json["tasks"][0]["wait_status"] == SIGKILL);
    CHECK(daemon.tell(node.plain_message(INQUEST_JOB_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_REFUSED);
}

TEST_CASE("a daemon that starts late takes up the steps of the journals") {
    const FakeNode node;
    const auto steps = node.root() / "run" / "steps";
    std::filesystem::create_directories(steps);
    inquest::test::write_file(steps / "7.0",
                              node.start_message() + node.task_message(INQUEST_TASK_EXIT, 0, 1, 256));
    inquest::test::write_file(steps / "8.0", "garbage");
    const Daemon daemon(node);
    CHECK(wait_for(node.evidence() / "n1" / "node.json") >= 0);
    CHECK(daemon.tell(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(node.plain_message(INQUEST_JOB_END)) == INQUEST_STEP_REPLY_DONE);
}

TEST_CASE("nonsense and unknown steps are refused and nothing else suffers") {
    const FakeNode node;
    const Daemon daemon(node);
    CHECK(daemon.tell("nonsense") == 0);
    CHECK(daemon.tell(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_REFUSED);
    CHECK(daemon.tell(node.plain_message(INQUEST_JOB_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(node.start_message()) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(node.start_message()) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
}

TEST_CASE("clients that leave before their answer cost the daemon no time") {
    const FakeNode node;
    const Daemon daemon(node);
    REQUIRE(daemon.tell(node.start_message()) == INQUEST_STEP_REPLY_DONE);
    const pid_t worker = daemon.worker();
    REQUIRE(kill(worker, SIGSTOP) == 0);
    static_cast<void>(daemon.send_message(node.task_message(INQUEST_TASK_START, 0, 1)));
    const uint64_t before_ns = scheduled_ns(daemon.pid());
    usleep(300000);
    CHECK(scheduled_ns(daemon.pid()) - before_ns < 50000000);
    REQUIRE(kill(worker, SIGCONT) == 0);
}

TEST_CASE("clients that left make room for others while a worker is slow") {
    const FakeNode node;
    const Daemon daemon(node, 2);
    REQUIRE(daemon.tell(node.start_message()) == INQUEST_STEP_REPLY_DONE);
    const pid_t worker = daemon.worker();
    REQUIRE(kill(worker, SIGSTOP) == 0);
    for (int task = 0; task < 4; task++)
        static_cast<void>(daemon.send_message(node.task_message(INQUEST_TASK_START, task, 1)));
    const FakeNode other;
    CHECK(daemon.tell(of_job(8, other.start_message())) == INQUEST_STEP_REPLY_DONE);
    REQUIRE(kill(worker, SIGCONT) == 0);
}

TEST_CASE("the worker of an ended step makes room for a new step, that of a running one does not") {
    const FakeNode node;
    const Daemon daemon(node, 512, 1);
    REQUIRE(daemon.tell(node.start_message()) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(of_job(8, node.start_message())) == INQUEST_STEP_REPLY_REFUSED);
    REQUIRE(daemon.tell(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(of_job(8, node.start_message())) == INQUEST_STEP_REPLY_DONE);
    CHECK(daemon.tell(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_REFUSED);
}

TEST_CASE("the socket is private and only one daemon has it") {
    const FakeNode node;
    const std::string run = node.root() / "run";
    const auto listener = listen_in(run, "inquestd.sock", geteuid());
    REQUIRE(listener);
    CHECK((std::filesystem::status(run + "/inquestd.sock").permissions() & std::filesystem::perms::all) ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    CHECK_FALSE(listen_in(run, "inquestd.sock", geteuid()));
    CHECK_FALSE(listen_in(run, "other.sock", geteuid() + 1));
    std::filesystem::permissions(run, std::filesystem::perms::all);
    CHECK_FALSE(listen_in(run, "other.sock", geteuid()));
}

TEST_CASE("a worker becomes its user for good") {
    const bool is_root = geteuid() == 0;
    const uid_t uid = is_root ? 65534 : geteuid();
    const gid_t gid = is_root ? 65534 : getegid();
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const bool became = become_user(uid, gid, ends[1]);
        const bool is_user = getuid() == uid && geteuid() == uid && getgid() == gid && setuid(0) != 0;
        bool is_bare = environ == nullptr && fcntl(kWorkerChannelFd, F_GETFD) == FD_CLOEXEC;
        is_bare = is_bare && read_file("/proc/self/oom_score_adj") == "500\n";
        for (int fd = kWorkerChannelFd + 1; fd < 100; fd++)
            is_bare = is_bare && fcntl(fd, F_GETFD) < 0;
        _exit(became && is_user && is_bare ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    close(ends[0]);
    close(ends[1]);
}

/* Not run by default: watch_test "[cost]" */
TEST_CASE("cost of a worker that watches eight idle ranks for twenty seconds", "[.][cost]") {
    FakeNode node;
    const Daemon daemon(node);
    std::vector<std::unique_ptr<Rank>> ranks;
    for (int at = 0; at < 8; at++)
        ranks.push_back(std::make_unique<Rank>(node));
    REQUIRE(daemon.tell(node.start_message()) == INQUEST_STEP_REPLY_DONE);
    const pid_t worker = daemon.worker();
    REQUIRE(worker > 0);
    const uint64_t before_ns = scheduled_ns(worker);
    sleep(20);
    const uint64_t used_ns = scheduled_ns(worker) - before_ns;
    WARN("worker used " << used_ns / 1000 << " us of 20 s: " << static_cast<double>(used_ns) / 2e8
                        << " % of a core");
}
