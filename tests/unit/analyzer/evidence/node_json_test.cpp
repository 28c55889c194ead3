#include "analyzer/evidence/node_json.h"

#include "tests/unit/catch.h"

using namespace inquest::evidence;

namespace {

constexpr const char* kNode = R"({
  "schema": "inquest-node-evidence-1", "job": 4711, "step": "0", "node": "n3", "node_index": 2, "node_count": 4,
  "nodes": "n[1-4]", "task_count": 4, "reason": "stall", "collected_mono_ns": 5000000000,
  "collected_wall_ns": 1700000005000000000, "stall_ns": 10000000000, "stalled_since_mono_ns": 1000000000,
  "step_ended": false, "injected": ["PYTHONFAULTHANDLER"], "left_alone": ["NCCL_DEBUG"],
  "tasks": [{"task": 2, "pid": 815, "started_mono_ns": 1, "exited_mono_ns": 4000000000, "exited_wall_ns": null,
             "wait_status": 9, "oom_kills": 1}],
  "processes": [{"pid": 815, "start": 4711, "alive": false, "state": null, "gone_mono_ns": 4000000000, "cpu_ns": 7,
                 "cpu_after_ns": 8, "cpu_interval_ns": 1000000000, "bytes_written": 1, "bytes_written_after": 2}],
  "damage": ["box-816-4712: torn record 17 in ring events"]})";

}  // namespace

TEST_CASE("node.json as it is specified") {
    Notes notes;
    CHECK(looks_like_node_json(kNode));
    const auto evidence = read_node_json("n3/node.json", kNode, Limits(), notes);
    REQUIRE(evidence);
    CHECK(evidence->job == 4711);
    CHECK(evidence->step == "0");
    CHECK(evidence->node_count == 4);
    CHECK(evidence->node_names == std::vector<std::string>{"n1", "n2", "n3", "n4"});
    CHECK(evidence->node.name == "n3");
    CHECK(evidence->node.reason == "stall");
    CHECK(evidence->node.stalled_since_wall_ns == 1'700'000'001'000'000'000);
    REQUIRE(evidence->node.tasks.size() == 1);
    CHECK(evidence->node.tasks[0].wait_status == 9);
    CHECK(evidence->node.tasks[0].exited_wall_ns == 1'700'000'004'000'000'000);
    const auto& sample = evidence->processes.at({815, 4711});
    CHECK_FALSE(sample.alive);
    CHECK(sample.gone_wall_ns == 1'700'000'004'000'000'000);
    CHECK(sample.bytes_written_after == 2);
    const auto list = notes.take();
    REQUIRE(list.size() == 1);
    CHECK(list[0].text == "box-816-4712: torn record 17 in ring events");
    CHECK(list[0].source.source == "n3/node.json");
}

TEST_CASE("absent, null and wrong facts are unknown") {
    Notes notes;
    const auto evidence =
        read_node_json("node.json",
                       R"({"schema":"inquest-node-evidence-9","job":"x","step":null,"tasks":[7],
        "processes":{"a":1},"node_count":99999999999,"collected_mono_ns":-5,"damage":"x"})",
                       Limits(), notes);
    REQUIRE(evidence);
    CHECK_FALSE(evidence->job);
    CHECK_FALSE(evidence->step);
    CHECK_FALSE(evidence->node_count);
    CHECK(evidence->node.tasks.at(0).task == -1);
    CHECK_FALSE(evidence->node.stalled_since_wall_ns);
    CHECK(notes.take().at(0).text.find("schema") != std::string::npos);
}

TEST_CASE("no object, no evidence") {
    Notes notes;
    CHECK_FALSE(read_node_json("node.json", "", Limits(), notes));
    CHECK_FALSE(read_node_json("node.json", "[]", Limits(), notes));
    CHECK_FALSE(read_node_json("node.json", std::string(100'000, '['), Limits(), notes));
}
