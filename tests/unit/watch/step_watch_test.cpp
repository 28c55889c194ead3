#include "spank/watch/step_watch.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "spank/watch/evidence_sign.h"
#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::watch;
using inquest::harvest::ProcessIdentity;
using inquest::test::FakeNode;
using inquest::test::live_of_rank;
using inquest::test::read_file;
using Json = nlohmann::json;

namespace {

constexpr uint64_t kSecond = 1000000000;
const ProcessIdentity kRank{815, 4711};

/* A node with one living rank and a watch over it; the analyzer only says that it was called. */
struct Scene {
    explicit Scene(uint32_t node_index = 0, uint32_t node_count = 1) {
        node.node_index = node_index;
        node.node_count = node_count;
        const auto analyzer = node.root() / "analyzer";
        inquest::test::write_file(analyzer,
                                  "#!/bin/sh\necho \"$@\" >> " + (node.root() / "analysed").string() + "\n");
        std::filesystem::permissions(analyzer, std::filesystem::perms::owner_all);
        inquest::harvest::HarvestSystem system = node.system();
        system.sleep_ns = [move = system.sleep_ns](uint64_t duration_ns) {
            usleep(50); /* the analyzer is a real process */
            move(duration_ns / 100 + 1);
        };
        watch.emplace(system, WorkerPrograms{analyzer, node.root() / "scancel", {}});
        live.last_progress_mono_ns = node.mono_ns;
        node.write_process(kRank, 'S', 1ULL << 39);
        node.write_box(kRank, live);
        REQUIRE(watch->handle(node.start_message()) == INQUEST_STEP_REPLY_DONE);
        REQUIRE(watch->handle(node.task_message(INQUEST_TASK_START, static_cast<int32_t>(node_index),
                                                kRank.pid)) == INQUEST_STEP_REPLY_DONE);
        watch->tick();
    }

    void write_live() { node.write_box(kRank, live); }

    void pass(uint64_t duration_ns) {
        const uint64_t until = node.mono_ns + duration_ns;
        while (node.mono_ns < until) {
            node.mono_ns += kSecond / 5;
            watch->tick();
        }
    }

    uint8_t exit_task(int32_t wait_status) {
        const auto task = static_cast<int32_t>(node.node_index);
        return watch->handle(node.task_message(INQUEST_TASK_EXIT, task, kRank.pid, wait_status));
    }

    [[nodiscard]] bool has_evidence() const { return std::filesystem::exists(node.evidence()); }
    [[nodiscard]] Json node_json() const {
        return Json::parse(read_file(node.evidence() / node.step().node / "node.json"));
    }
    [[nodiscard]] std::string analysed() const { return read_file(node.root() / "analysed"); }

    FakeNode node;
    inquest_box_live live = live_of_rank(0);
    std::optional<StepWatch> watch;
};

}  // namespace

TEST_CASE("a healthy step leaves nothing behind") {
    Scene scene;
    scene.pass(60 * kSecond);
    scene.live.state = INQUEST_STATE_EXITED;
    scene.write_live();
    scene.node.remove_process(kRank);
    scene.pass(kSecond);
    CHECK(scene.exit_task(0) == INQUEST_STEP_REPLY_DONE);
    CHECK(scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(scene.watch->is_finished());
    CHECK_FALSE(std::filesystem::exists(scene.node.report()));
    CHECK(scene.analysed().empty());
}

TEST_CASE("a rank that vanishes is evidence within a second") {
    Scene scene;
    scene.node.remove_process(kRank);
    scene.pass(kSecond * 6 / 10);
    REQUIRE(scene.has_evidence());
    CHECK(scene.node_json()["reason"] == "death");
    CHECK(scene.node_json()["processes"][0]["gone_mono_ns"].is_number());
}

TEST_CASE("a task that ends with status 0 is no death, whatever its box says") {
    Scene scene;
    scene.node.remove_process(kRank);
    scene.pass(kSecond / 5);
    scene.exit_task(0);
    scene.pass(kSecond);
    CHECK_FALSE(scene.has_evidence());
}

TEST_CASE("a failed task makes the directory before the answer and evidence after it") {
    Scene scene;
    CHECK(scene.exit_task(256) == INQUEST_STEP_REPLY_DONE);
    CHECK(scene.has_evidence());
    CHECK_FALSE(std::filesystem::exists(scene.node.evidence() / "n1"));
    scene.pass(kSecond / 5);
    CHECK(scene.node_json()["reason"] == "failure");
    CHECK(scene.node_json()["tasks"][0]["wait_status"] == 256);
    CHECK(scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(scene.node_json()["reason"] == "end");
    CHECK(scene.node_json()["step_ended"] == true);
}

TEST_CASE("evidence that cannot be written is refused, not fatal") {
    Scene scene;
    std::filesystem::remove_all(scene.node.root() / "work");
    CHECK(scene.exit_task(256) == INQUEST_STEP_REPLY_REFUSED);
    scene.pass(kSecond);
    CHECK(scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_REFUSED);
}

TEST_CASE("a stall is harvested after the stall time and again while it lasts, ten times") {
    Scene scene;
    scene.live.collectives_begun = 1;
    scene.live.last_progress_mono_ns = scene.node.mono_ns;
    scene.write_live();
    scene.pass(9 * kSecond);
    CHECK_FALSE(scene.has_evidence());
    scene.pass(2 * kSecond);
    REQUIRE(scene.has_evidence());
    CHECK(scene.node_json()["reason"] == "stall");
    CHECK(scene.node_json()["stalled_since_mono_ns"] == scene.live.last_progress_mono_ns);
    scene.pass(200 * kSecond);
    CHECK(scene.node.signals.size() == 10);
    scene.live.last_progress_mono_ns = scene.node.mono_ns;
    scene.write_live();
    scene.pass(11 * kSecond);
    CHECK(scene.node.signals.size() == 11);
}

TEST_CASE("a stall that is diagnosed for good is left alone") {
    Scene scene;
    scene.live.collectives_begun = 1;
    scene.write_live();
    scene.pass(11 * kSecond);
    REQUIRE(scene.has_evidence());
    inquest::test::write_file(scene.node.report() / "diagnosis.json", R"({"step": "0", "end": "hang"})");
    scene.pass(100 * kSecond);
    CHECK(scene.node.signals.size() == 1);
}

TEST_CASE("evidence that another node wants is given once per sign") {
    Scene scene(1, 2);
    REQUIRE(give_sign(scene.node.step()));
    scene.pass(3 * kSecond);
    CHECK(scene.node_json()["reason"] == "requested");
    scene.pass(60 * kSecond);
    CHECK(scene.node.signals.size() == 1);
    std::filesystem::last_write_time(scene.node.evidence(), std::filesystem::file_time_type::clock::now());
    scene.pass(3 * kSecond);
    CHECK(scene.node.signals.size() == 2);
}

TEST_CASE("a node whose step has ended still answers the sign") {
    Scene scene(1, 2);
    scene.exit_task(0);
    CHECK(scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK_FALSE(scene.has_evidence());
    REQUIRE(give_sign(scene.node.step()));
    scene.pass(2 * kSecond);
    CHECK(scene.node_json()["reason"] == "requested");
    CHECK(scene.node_json()["step_ended"] == true);
    scene.pass(25 * 3600 * kSecond);
    CHECK(scene.watch->is_finished());
}

TEST_CASE("the lead has a failed step analysed at its end") {
    Scene scene;
    scene.exit_task(256);
    scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END));
    scene.pass(6 * kSecond);
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK(scene.analysed() ==
          "analyze " + scene.node.evidence().string() + " --report " + scene.node.report().string() + "\n");
}

TEST_CASE("the lead removes the evidence of a step that turned out well") {
    Scene scene;
    scene.live.collectives_begun = 1;
    scene.write_live();
    scene.pass(11 * kSecond);
    REQUIRE(scene.has_evidence());
    scene.exit_task(0);
    scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END));
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK_FALSE(std::filesystem::exists(scene.node.report()));
}

TEST_CASE("the lead removes nothing while another node is not known to be well") {
    Scene scene(0, 2);
    REQUIRE(give_sign(scene.node.step()));
    scene.exit_task(0);
    scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END));
    scene.pass(6 * kSecond);
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK(scene.has_evidence());
}

TEST_CASE("a step of one node that ended well keeps no worker") {
    Scene scene;
    scene.exit_task(0);
    scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END));
    CHECK(scene.watch->is_finished());
}

TEST_CASE("a step whose tasks are not all known to be well, or that has other nodes, keeps its worker") {
    Scene unknown;
    unknown.watch->handle(unknown.node.plain_message(INQUEST_STEP_END));
    CHECK_FALSE(unknown.watch->is_finished());
    Scene failed;
    failed.exit_task(9);
    failed.watch->handle(failed.node.plain_message(INQUEST_STEP_END));
    failed.pass(2 * kSecond);
    CHECK_FALSE(failed.watch->is_finished());
    Scene wide(0, 2);
    wide.exit_task(0);
    wide.watch->handle(wide.node.plain_message(INQUEST_STEP_END));
    wide.pass(2 * kSecond);
    CHECK_FALSE(wide.watch->is_finished());
}

TEST_CASE("the worker goes when the box directory of its ended step was removed") {
    Scene scene(0, 2);
    scene.exit_task(0);
    std::filesystem::remove_all(scene.node.boxes());
    scene.pass(2 * kSecond);
    CHECK_FALSE(scene.watch->is_finished());
    scene.watch->handle(scene.node.plain_message(INQUEST_STEP_END));
    scene.pass(2 * kSecond);
    CHECK(scene.watch->is_finished());
    CHECK_FALSE(std::filesystem::exists(scene.node.report()));
}

TEST_CASE("the end of the job is the end of the step, also when nobody said so") {
    Scene scene;
    scene.exit_task(9);
    CHECK(scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(scene.node_json()["step_ended"] == true);
}

TEST_CASE("messages out of order are refused") {
    FakeNode node;
    StepWatch watch(node.system(), WorkerPrograms{"/nonexistent", "/nonexistent", {}});
    watch.tick();
    CHECK(watch.handle("") == INQUEST_STEP_REPLY_REFUSED);
    CHECK(watch.handle(node.plain_message(INQUEST_STEP_END)) == INQUEST_STEP_REPLY_REFUSED);
    CHECK(watch.handle(node.plain_message(INQUEST_JOB_END)) == INQUEST_STEP_REPLY_DONE);
    CHECK(watch.is_finished());
}
