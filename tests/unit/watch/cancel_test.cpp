/* When a job whose replicas differ is cancelled, and when not. */
#include <fcntl.h>
#include <sys/stat.h>

#include "spank/harvest/unique_fd.h"
#include "spank/watch/evidence_sign.h"
#include "tests/unit/watch/divergence_scene.h"

using namespace inquest::watch;
using inquest::test::kDiverged;
using inquest::test::kHealthy;
using inquest::test::read_file;
using inquest::test::Scene;
using inquest::test::write_file;

namespace {

constexpr const char* kOthersDiverged = R"({"step": "0", "cause": "some-cause", "family": "weight-divergence",
    "confidence": "certain", "end": "silent", "initiating": [{"rank": 1}]})";

}  // namespace

TEST_CASE("a job that cannot be cancelled is tried again a few times, told in the report, and left alone") {
    Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE);
    scene.write_program("scancel", "exit 1");
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    write_file(scene.node.report() / "report.txt", "report\n");
    write_file(scene.node.report() / "notice-0.txt", "notice\n");
    scene.watch->on_recorded();
    const auto report = [&] { return read_file(scene.node.report() / "report.txt"); };
    REQUIRE(scene.tick_until(
        [&] { return report().find("scancel failed 10 times (exit status 1)") != std::string::npos; }));
    CHECK(read_file(scene.node.report() / "notice-0.txt").find("could not be") != std::string::npos);
    scene.tick_some(300);
    CHECK(scene.calls("scancel") == 10);
    scene.end(256);
    CHECK(scene.node_json()["cancelled_for_divergence"] == false);
    CHECK(scene.node_json()["damage"].dump().find("scancel failed") != std::string::npos);
}

TEST_CASE("a job is cancelled as soon as that is possible again, and not once it has ended") {
    constexpr int32_t kGoesOn = -1;
    for (const int32_t wait_status : {kGoesOn, 256, 15}) {
        const bool ends = wait_status != kGoesOn;
        Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE);
        scene.write_program("scancel", "exit 1");
        scene.report(4, 7, 8);
        REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
        scene.watch->on_recorded();
        REQUIRE(scene.tick_until([&] { return scene.calls("scancel") == 2 && !scene.has_running_child(); }));
        scene.tick();
        scene.write_program("scancel", "exit 0");
        if (ends) scene.end(wait_status);
        scene.tick_some(300);
        CHECK(scene.calls("scancel") == (ends ? 2 : 3));
        /* SIGTERM: slurmctld was slow to answer. */
        if (ends) CHECK(scene.node_json()["cancelled_for_divergence"] == (wait_status == 15));
        CHECK(waitpid(-1, nullptr, WNOHANG) == -1); /* no zombie */
    }
}

TEST_CASE("a job is cancelled when that was asked for and the diagnosis is certain, once it has its record") {
    Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.tick_some(10);
    CHECK(scene.calls("scancel") == 0);
    scene.watch->on_recorded();
    REQUIRE(scene.tick_until([&] { return scene.calls("scancel") == 1; }));
    CHECK(scene.tick_until([&] { return read_file(scene.node.root() / "cancelled") == "7\n"; }));
    scene.end(15);
    CHECK(scene.node_json()["cancelled_for_divergence"] == true);
    scene.tick_some();
    CHECK(scene.calls("scancel") == 1);
    CHECK(scene.calls("analyzer") == 1);
}

TEST_CASE("a job is not cancelled for a diagnosis that is not certain, or not of a silent step") {
    for (const char* verdict : {R"({"step": "0", "cause": "x", "end": "silent", "confidence": "likely"})",
                                R"({"step": "0", "cause": "x", "end": "hang", "confidence": "certain"})"}) {
        Scene scene(verdict, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE);
        scene.report(4, 7, 8);
        REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
        scene.watch->on_recorded();
        scene.tick_some(200);
        CHECK(scene.calls("scancel") == 0);
    }
}

TEST_CASE("a job is not cancelled any more once the diagnosis is taken back, but for the next one") {
    Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE, 2);
    scene.write_program("scancel", "exit 1");
    const auto await_record = [&] {
        REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
        scene.watch->on_recorded();
    };
    scene.report(4, 7, 8);
    await_record();
    REQUIRE(scene.tick_until([&] { return scene.calls("scancel") == 2; }));
    scene.set_verdict(kHealthy);
    REQUIRE(give_sign(scene.node.step()));
    await_record();
    const size_t tries = scene.calls("scancel");
    scene.tick_some(300);
    CHECK(scene.calls("scancel") == tries);
    scene.set_verdict(kDiverged);
    REQUIRE(give_sign(scene.node.step()));
    await_record();
    CHECK(scene.tick_until([&] { return scene.calls("scancel") == tries + 1; }));
}

TEST_CASE("a crash while scancel hangs is no cancelled job") {
    constexpr int32_t kTerminated = 15;
    for (const int32_t wait_status : {int32_t{11}, int32_t{256}, kTerminated}) {
        Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE);
        const std::string gate = scene.node.root() / "gate";
        REQUIRE(mkfifo(gate.c_str(), 0600) == 0);
        const inquest::harvest::UniqueFd opener(open(gate.c_str(), O_RDWR | O_CLOEXEC));
        scene.write_program("scancel", "read line < '" + gate + "'");
        scene.report(4, 7, 8);
        REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
        scene.watch->on_recorded();
        REQUIRE(scene.tick_until([&] { return scene.calls("scancel") == 1; }));
        scene.end(wait_status);
        CHECK(scene.node_json()["cancelled_for_divergence"] == (wait_status == kTerminated));
        CHECK(write(opener.get(), "\n", 1) == 1);
        Scene::wait_for_children();
    }
}

TEST_CASE("the answer about an earlier record does not hasten the cancelling") {
    Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE, 2);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.set_verdict(kOthersDiverged);
    scene.write_other_node(R"({"step_ended": false})");
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 2 && !Scene::has_running_child(); }));
    scene.tick_some(10);
    CHECK_FALSE(scene.watch->take_record_request()); /* before that of the first */
    scene.watch->on_recorded();
    scene.tick_some(25);
    CHECK(scene.calls("scancel") == 0);
    REQUIRE(scene.watch->take_record_request());
    scene.watch->on_recorded();
    scene.tick_some(15);
    Scene::wait_for_children();
    CHECK(scene.calls("scancel") == 1);
}
