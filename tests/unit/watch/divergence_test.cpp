/* Replicas that differ, from the boxes of one node to evidence, diagnosis and record. */
#include "spank/replicas/exchange_text.h"
#include "spank/replicas/text_hash.h"
#include "spank/watch/evidence_sign.h"
#include "tests/unit/watch/divergence_scene.h"

using namespace inquest::watch;
using inquest::test::BoxBuilder;
using inquest::test::kDiverged;
using inquest::test::kHealthy;
using inquest::test::parameters_after;
using inquest::test::read_file;
using inquest::test::Scene;
using inquest::test::write_file;

TEST_CASE("replicas that agree leave nothing behind") {
    Scene scene(kDiverged);
    for (int64_t step = 1; step < 64; step++)
        scene.report(step, static_cast<uint64_t>(step), static_cast<uint64_t>(step));
    scene.tick_some();
    scene.end();
    CHECK_FALSE(scene.has_report());
    CHECK(scene.watch->is_finished());
}

TEST_CASE("replicas that differ are evidence while the job runs, and for the record") {
    Scene scene(kDiverged);
    write_file(scene.node.boxes() / "tensors-815-4711.ibt", "table");
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.watch->on_recorded();
    CHECK(scene.node_json()["reason"] == "divergence");
    CHECK(scene.node_json()["divergence_noticed_mono_ns"].is_number());
    CHECK(std::filesystem::exists(scene.node.evidence() / "n1" / "tensors-815-4711.ibt.zst"));
    scene.report(8, 7, 8);
    scene.tick_some();
    CHECK(scene.calls("analyzer") == 1);
    CHECK_FALSE(scene.watch->take_record_request());
    CHECK(scene.calls("scancel") == 0);
}

TEST_CASE("a diagnosis of replicas that differ outlives the well ended step") {
    Scene scene(kDiverged);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.end();
    CHECK(scene.node_json()["step_ended"] == true);
    write_file(scene.node.root() / "verdict", kHealthy); /* what boxes that went on for weeks would say */
    scene.tick_some();
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK(scene.has_evidence());
    CHECK(scene.calls("analyzer") == 1);
    CHECK(read_file(scene.node.report() / "diagnosis.json") == kDiverged);
}

TEST_CASE("a rank that leaves early without a word does not undo what was told") {
    Scene scene(kDiverged);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.watch->on_recorded();
    scene.set_verdict(kHealthy);
    scene.tick_some();
    scene.node.remove_process(scene.boxes[1].process());
    REQUIRE(scene.tick_until([&] { return scene.node_json()["reason"] == "death"; }));
    scene.tick_some();
    scene.end();
    scene.tick_some();
    CHECK(scene.calls("analyzer") == 1);
    CHECK(read_file(scene.node.report() / "diagnosis.json") == kDiverged);
    CHECK_FALSE(scene.watch->take_record_request());
}

TEST_CASE("what was told is taken back when the step has ended well and the last diagnosis says healthy") {
    Scene scene(R"({"step": "0", "cause": "x", "family": "other", "confidence": "certain"})");
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.watch->on_recorded();
    scene.end();
    scene.set_verdict(kHealthy);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.tick_some();
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK(scene.has_evidence()); /* for srun and the epilog, which removes it */
    CHECK(read_file(scene.node.report() / "diagnosis.json") == kHealthy);
    scene.watch->on_recorded();
    CHECK_FALSE(scene.watch->take_record_request());
}

TEST_CASE(
    "a verdict without all nodes is made anew when their evidence comes late, and a job not cancelled "
    "before") {
    Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE, 2);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.watch->on_recorded();
    scene.tick_some();
    CHECK(scene.calls("scancel") == 0);
    CHECK(scene.calls("analyzer") == 1);
    scene.set_verdict(kHealthy);
    scene.write_other_node(R"({"step_ended": false})");
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.tick_some(500);
    CHECK(scene.calls("scancel") == 0);
    CHECK(scene.calls("analyzer") == 2);
    CHECK(scene.has_evidence());
}

TEST_CASE("a false alarm is none before late nodes have had their say") {
    Scene scene(kHealthy, 0, 2);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 1; }));
    scene.tick_some();
    CHECK(scene.has_evidence());
    scene.set_verdict(kDiverged);
    scene.write_other_node(R"({"step_ended": false})");
    CHECK(scene.tick_until([&] { return scene.watch->take_record_request(); }));
}

TEST_CASE("nodes that never answer are not waited for all day") {
    Scene scene(kHealthy, 0, 2);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 1; }));
    CHECK(scene.tick_until([&] { return !scene.has_report(); }));
    CHECK(scene.calls("analyzer") == 1);
}

TEST_CASE("a worker that is started in the middle takes up what was told, and takes it back if need be") {
    Scene scene(kDiverged, INQUEST_STEP_FLAG_CANCEL_ON_DIVERGENCE);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.set_verdict(kHealthy); /* what overwritten boxes would say */
    SECTION("it stands") {
        scene.start_watch();
        REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
        scene.watch->on_recorded();
        CHECK(scene.tick_until([&] { return scene.calls("scancel") == 1; }));
        CHECK(scene.calls("analyzer") == 1);
    }
    SECTION("it was about something else") {
        write_file(scene.node.report() / "diagnosis.json",
                   R"({"step": "0", "cause": "x", "family": "other"})");
        scene.start_watch();
        REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 2; }));
        scene.tick_some();
        CHECK(scene.has_evidence());
        CHECK(scene.calls("scancel") == 0);
    }
}

TEST_CASE("a divergence whose evidence could not be written is written at the end") {
    Scene scene(kDiverged);
    std::filesystem::remove_all(scene.node.report());
    std::filesystem::create_directories(scene.node.report().parent_path());
    write_file(scene.node.report(), "a file where the directory should be");
    scene.report(4, 7, 8);
    scene.tick_some();
    std::filesystem::remove(scene.node.report());
    scene.end();
    CHECK(scene.node_json()["divergence_noticed_mono_ns"].is_number());
}

TEST_CASE("a cause that is not known is not told while the job runs") {
    Scene scene(R"({"step": "0", "cause": "unknown", "end": "unknown"})");
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 1; }));
    scene.tick_some();
    CHECK_FALSE(scene.watch->take_record_request());
}

TEST_CASE("replicas that differ are told although the cause is not known") {
    Scene scene(R"({"step": "0", "cause": "unknown", "end": "silent"})");
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
}

TEST_CASE("a difference that only the end shows is analysed too") {
    Scene scene(kDiverged);
    scene.boxes[0].digest(parameters_after(4, 7, 3), "DistributedDataParallel");
    scene.boxes[1].digest(parameters_after(4, 8, 3), "DistributedDataParallel");
    scene.write_boxes();
    scene.tick_some();
    CHECK_FALSE(scene.has_report());
    scene.end();
    CHECK(scene.node_json()["divergence_noticed_mono_ns"].is_number());
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 1; }));
    scene.tick_some();
    CHECK(scene.has_evidence());
}

TEST_CASE("a false alarm leaves nothing, and is not raised again") {
    Scene scene(kHealthy);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 1; }));
    REQUIRE(scene.tick_until([&] { return !scene.has_report(); }));
    scene.report(8, 7, 8);
    scene.tick_some();
    CHECK(scene.calls("analyzer") == 1);
    CHECK_FALSE(scene.watch->take_record_request());
    scene.end();
    CHECK_FALSE(scene.has_report());
}

TEST_CASE("a false alarm of the last moment leaves nothing either") {
    Scene scene(kHealthy);
    scene.tick();
    scene.report(4, 7, 8);
    scene.end();
    CHECK(scene.has_evidence());
    REQUIRE(scene.tick_until([&] { return !scene.has_report(); }));
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK_FALSE(scene.has_report());
}

TEST_CASE("evidence of something else stays when the replicas turn out to agree") {
    Scene scene(kHealthy);
    scene.report(4, 7, 8);
    scene.node.remove_process(scene.boxes[1].process());
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") >= 1; }));
    scene.watch->handle(scene.node.task_message(INQUEST_TASK_START, 1, 816));
    scene.watch->handle(scene.node.task_message(INQUEST_TASK_EXIT, 1, 816, 9));
    scene.tick_some();
    CHECK(scene.has_evidence());
}

TEST_CASE("a failed step is not held against its last digests") {
    Scene scene(kHealthy);
    scene.boxes[0].digest(parameters_after(4, 7, 2), "DistributedDataParallel");
    scene.write_boxes();
    scene.tick();
    scene.end(256);
    CHECK(scene.node_json()["divergence_noticed_mono_ns"].is_null());
}

TEST_CASE("evidence that others asked for and took away again is not made anew") {
    Scene scene(kHealthy);
    REQUIRE(give_sign(scene.node.step()));
    const auto taken_away = scene.node.root() / "elsewhere";
    scene.tick_until([&] { return std::filesystem::exists(scene.node.evidence() / "n1" / "node.json"); });
    REQUIRE(scene.has_evidence());
    std::filesystem::rename(scene.node.report(), taken_away);
    scene.end();
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK_FALSE(scene.has_report());
}

TEST_CASE("a difference that only the end of the job shows is told in evidence that was already final") {
    Scene scene(kHealthy, 0, 2);
    scene.boxes[0].digest(parameters_after(4, 7, 4), "DistributedDataParallel");
    scene.write_boxes();
    scene.tick();
    REQUIRE(give_sign(scene.node.step()));
    scene.end();
    REQUIRE(scene.node_json()["divergence_noticed_mono_ns"].is_null());
    inquest::replicas::ReplicaRecord other{{0, 1000, 2, 4}, parameters_after(4, 8, 4)};
    std::get<inquest::replicas::StateDigest>(other.what).promise =
        inquest::replicas::text_hash({"DistributedDataParallel"});
    const auto digests = scene.node.report() / "digests" / "0";
    std::filesystem::create_directories(digests);
    write_file(digests / "n2", format_record(other) + "\nend\n");
    scene.watch->handle(scene.node.plain_message(INQUEST_JOB_END));
    CHECK(scene.node_json()["divergence_noticed_mono_ns"].is_number());
}

TEST_CASE("a record that its writer left torn hides none behind it at the end") {
    Scene scene(kDiverged);
    inquest_box_record busy{};
    busy.begin_mark = INQUEST_BOX_MARK_BUSY;
    for (BoxBuilder& box : scene.boxes)
        box.set_record(INQUEST_RING_DIGESTS, box.live().ring_head[INQUEST_RING_DIGESTS]++, busy);
    scene.report(4, 7, 8);
    scene.end();
    CHECK(scene.node_json()["divergence_noticed_mono_ns"].is_number());
}

TEST_CASE("what was told without the evidence of all nodes is looked at again at the end") {
    Scene scene(kDiverged, 0, 2);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.end();
    std::filesystem::create_directories(scene.node.evidence() / "n2");
    write_file(scene.node.evidence() / "n2" / "node.json", R"({"step_ended": true, "tasks": []})");
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 2; }));
}

TEST_CASE("a diagnosis that says the same again asks for no record") {
    Scene scene(kDiverged, 0, 2);
    scene.report(4, 7, 8);
    REQUIRE(scene.tick_until([&] { return scene.watch->take_record_request(); }));
    scene.watch->on_recorded();
    bool is_other = false;
    SECTION("it does") {}
    SECTION("it names other ranks") {
        is_other = true;
        scene.set_verdict(R"({"step": "0", "cause": "some-cause", "family": "weight-divergence",
            "confidence": "certain", "end": "silent", "initiating": [{"rank": 1}]})");
    }
    scene.write_other_node(R"({"step_ended": false})");
    REQUIRE(scene.tick_until([&] { return scene.calls("analyzer") == 2; }));
    scene.tick_some();
    CHECK(scene.watch->take_record_request() == is_other);
}
