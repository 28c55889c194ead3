#include "spank/plugin/launch_client.h"

#include <fcntl.h>

#include <csignal>
#include <memory>

#include "spank/plugin/clocks.h"
#include "tests/unit/catch.h"
#include "tests/unit/plugin/scratch.h"

namespace {

struct Answer {
    inquest_answer kind;
    std::string first; /* NAME=VALUE */
};

Answer ask(const std::string& program, const inquest_options& options = {}, int off = 0) {
    auto records = std::make_unique<inquest_records>();
    std::string preload = "LD_PRELOAD=/nowhere.so";
    std::string path = "PATH=/usr/bin:/bin";
    char* environment[] = {preload.data(), path.data(), nullptr};
    inquest_launch_request request = {program.c_str(), 7, "batch", off, &options, environment, nullptr};
    inquest_answer kind = inquest_launch_ask(&request, records.get());
    size_t position = 0;
    const char* name = "";
    const char* value = "";
    if (kind != INQUEST_ANSWER_BROKEN) {
        inquest_records_next(records.get(), &position, &name, &value);
    }
    return {kind, std::string(name) + "=" + value};
}

const std::string kArmed = "printf 'INQUEST_ARMED=1\\0'";

}  // namespace

TEST_CASE("the helper gets the options and its answer is used") {
    Scratch scratch;
    inquest_options options = {};
    options.stall_seconds = 9;
    std::snprintf(options.directory, sizeof options.directory, "a b");
    std::string program = scratch.program("launch", "printf 'A=%s\\0' \"$*\"; " + kArmed);
    Answer answer = ask(program, options);
    CHECK(answer.kind == INQUEST_ANSWER_ARMED);
    CHECK(answer.first == "A=--job 7 --step batch --stall 9 --dir a b");
}

TEST_CASE("the helper gets every option, and none for a step that is not to have Inquest") {
    Scratch scratch;
    inquest_options options = {};
    options.profile = "deep";
    options.deterministic = "off";
    options.nccl_debug = "INFO";
    options.on_divergence = "cancel";
    options.stall_seconds = 86400;
    options.timeout_seconds = 604800;
    std::snprintf(options.seed, sizeof options.seed, "0");
    std::snprintf(options.directory, sizeof options.directory, "/d");
    std::string program = scratch.program("launch", "printf 'A=%s\\0' \"$*\"; " + kArmed);
    CHECK(ask(program, options).first ==
          "A=--job 7 --step batch --stall 86400 --dir /d --profile deep --deterministic off --seed 0 "
          "--nccl-debug INFO --timeout 604800 --on-divergence cancel");
    CHECK(ask(program, options, 1).first == "A=--job 7 --step batch --off");
}

TEST_CASE("the helper gets no LD_ variable and no descriptor of ours") {
    Scratch scratch;
    int leaked = fcntl(STDIN_FILENO, F_DUPFD, 77); /* without O_CLOEXEC, as a careless library would */
    REQUIRE(leaked >= 77);
    std::string fd = "/proc/$$/fd/" + std::to_string(leaked);
    Answer answer = ask(scratch.program(
        "launch", "[ -e " + fd + " ] && exit 1; printf 'A=%s\\0' \"$LD_PRELOAD\"; " + kArmed));
    close(leaked);
    CHECK(answer.kind == INQUEST_ANSWER_ARMED);
    CHECK(answer.first == "A=");
}

TEST_CASE("a helper that is missing, fails or talks too much gives nothing") {
    Scratch scratch;
    CHECK(ask(scratch.path("missing")).kind == INQUEST_ANSWER_BROKEN);
    CHECK(ask(scratch.path()).kind == INQUEST_ANSWER_BROKEN);
    CHECK(ask(scratch.program("fails", kArmed + "; exit 1")).kind == INQUEST_ANSWER_BROKEN);
    CHECK(ask(scratch.program("silent", "exit 0")).kind == INQUEST_ANSWER_BROKEN);
    CHECK(ask(scratch.program("floods", "yes A=1")).kind == INQUEST_ANSWER_BROKEN);
}

TEST_CASE("an ignored SIGCHLD does not lose the answer") {
    Scratch scratch;
    auto before = std::signal(SIGCHLD, SIG_IGN);
    CHECK(ask(scratch.program("launch", kArmed)).kind == INQUEST_ANSWER_ARMED);
    std::signal(SIGCHLD, before);
}

TEST_CASE("a child that does not end is killed at the deadline and leaves no zombie") {
    Scratch scratch;
    std::string program = scratch.program("hangs", "exec sleep 1000");
    char* arguments[] = {program.data(), nullptr};
    char* environment[] = {nullptr};
    inquest_child child = {program.c_str(), arguments, environment, nullptr, -1, -1, 0, 0};
    pid_t pid = inquest_child_start(&child);
    REQUIRE(pid > 0);
    int wait_status = 0;
    CHECK(inquest_child_finish(pid, inquest_deadline_after_ms(20), &wait_status) == -ETIMEDOUT);
    CHECK(kill(pid, 0) == -1);
}
