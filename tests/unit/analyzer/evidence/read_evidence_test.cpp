#include "analyzer/evidence/read_evidence.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "tests/unit/analyzer/evidence/box_builder.h"
#include "tests/unit/analyzer/evidence/flight_builder.h"
#include "tests/unit/analyzer/evidence/temporary_directory.h"
#include "tests/unit/catch.h"

using inquest::evidence::read_evidence;
using inquest::testing::BoxBuilder;
using inquest::testing::flight_pickle;
using inquest::testing::TemporaryDirectory;

namespace {

std::string compressed(const std::string& bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
    return out;
}

std::string box_of_rank(int rank, int pid) {
    BoxBuilder builder;
    builder.live.rank = rank;
    builder.header.task = rank;
    builder.header.pid = pid;
    builder.collective("all_reduce", 1, 100, 0);
    return builder.bytes();
}

std::string node_json(const std::string& node, int index, int pid, int task, const std::string& reason,
                      const std::string& since = "null") {
    const std::string id = std::to_string(pid);
    return R"({"schema":"inquest-node-evidence-1","job":17,"step":"0","node":")" + node +
           R"(","node_index":)" + std::to_string(index) +
           R"(,"node_count":3,"nodes":"n[1-3]","task_count":3,"reason":")" + reason +
           R"(","collected_mono_ns":5000000000,"collected_wall_ns":1700000005000000000,"stall_ns":1,
           "stalled_since_mono_ns":)" +
           since + R"(,"step_ended":false,"injected":["A"],"left_alone":[],"tasks":[{"task":)" +
           std::to_string(task) + R"(,"pid":)" + id +
           R"(,"wait_status":null,"oom_kills":0}],"processes":[{"pid":)" + id +
           R"(,"start":4711,"alive":true,"state":"S","cpu_ns":1}],"damage":[]})";
}

constexpr const char* kStack =
    "Current thread 0x01 (most recent call first):\n  File \"train.py\", line 84 in f\n";

bool has_note(const inquest::model::Timeline& timeline, const std::string& part) {
    for (const auto& note : timeline.notes) {
        if (note.text.find(part) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("a step's directory becomes one timeline") {
    const TemporaryDirectory d;
    d.write("n2/node.json", node_json("n2", 1, 900, 1, "stall"));
    d.write("n2/box-900-4711.ibb.zst", compressed(box_of_rank(1, 900)));
    d.write("n2/stack-900-4711.txt", kStack);
    d.write("n2/flight-900-4711.pickle", flight_pickle({{}}));
    d.write("n2/flight-900-4711.json", R"({"entries":[],"pg_config":{}})");
    d.write("n2/log-slurm.txt", "[rank1]: boom\n");
    d.write("n1/node.json", node_json("n1", 0, 800, 0, "stall"));
    d.write("n1/box-815-4711.ibb", box_of_rank(0, 815));  // a child of task 0
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    CHECK(timeline->job == 17);
    CHECK(timeline->step == "0");
    CHECK(timeline->node_count == 3);
    CHECK(timeline->world_size == 4);
    CHECK(timeline->injected == std::vector<std::string>{"A"});
    CHECK(timeline->missing_nodes == std::vector<std::string>{"n3"});
    REQUIRE(timeline->nodes.size() == 2);
    CHECK(timeline->nodes[0].name == "n1");
    REQUIRE(timeline->ranks.size() == 3);
    CHECK(timeline->ranks[0].rank == 0);
    CHECK(timeline->ranks[0].end->task == 0);  // by task number
    CHECK_FALSE(timeline->ranks[0].sample);
    const auto& second = timeline->ranks[1];
    CHECK(second.node == "n2");
    CHECK(second.stack->threads.size() == 1);
    CHECK(second.flight->entries.size() == 1);
    CHECK(second.flight->rank == 1);
    CHECK(second.sample->alive);
    CHECK(second.end->pid == 900);
    CHECK(second.source.source == "n2/box-900-4711.ibb.zst");
    CHECK_FALSE(timeline->ranks[2].rank);  // task 0 itself has no box
    CHECK(timeline->logs.at(0).lines.at(0).rank == 1);
    CHECK(has_note(*timeline, "no evidence of this node"));
    CHECK(has_note(*timeline, "process without a readable black box"));
}

namespace {

// Two boxes without a rank; the processes are those of tasks 0 and 1, or both of task 0.
std::string box_without_rank(int pid, int task) {
    BoxBuilder builder;
    builder.live.rank = -1;
    builder.live.state = INQUEST_STATE_TORCH_IMPORTED;
    builder.header.task = task;
    builder.header.pid = pid;
    return builder.bytes();
}

std::string ended(std::string node, int wait_status) {
    const std::string open = "\"wait_status\":null";
    return node.replace(node.find(open), open.size(), "\"wait_status\":" + std::to_string(wait_status));
}

}  // namespace

TEST_CASE("the copy of a box that was analysed counts where the last one is missing or damaged") {
    const TemporaryDirectory d;
    d.write("n1/box-815-4711.analysed.ibb", box_of_rank(0, 815));
    d.write("n1/box-816-4711.analysed.ibb", box_of_rank(1, 816));
    d.write("n1/box-816-4711.ibb", "INQBBOX1 and nothing more");
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    REQUIRE(timeline->ranks.size() == 2);
    CHECK(timeline->ranks[0].rank == 0);
    CHECK(timeline->ranks[1].rank == 1);
}

TEST_CASE("the copies of a box are one process, whichever comes first") {
    const TemporaryDirectory d;
    d.write("n1/box-815-4711.analysed.ibb", box_of_rank(0, 815));
    d.write("n1/box-815-4711.ibb", box_of_rank(0, 815));
    const auto timeline =
        read_evidence({d.path() + "/n1/box-815-4711.ibb", d.path() + "/n1/box-815-4711.analysed.ibb"});
    REQUIRE(timeline);
    CHECK(timeline->ranks.size() == 1);
}

TEST_CASE("a task that failed before it had a rank is known by its number") {
    const TemporaryDirectory d;
    d.write("n1/node.json", ended(node_json("n1", 0, 800, 0, "end"), 256));
    d.write("n1/box-800-4711.ibb", box_without_rank(800, 0));
    d.write("n2/node.json", ended(node_json("n2", 1, 900, 1, "end"), 0));
    d.write("n2/box-900-4711.ibb", box_without_rank(900, 1));
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    REQUIRE(timeline->ranks.size() == 2);
    CHECK(timeline->ranks[0].rank == 0);
    CHECK_FALSE(timeline->ranks[1].rank);  // it ended well
}

TEST_CASE("a launcher whose workers failed before they had ranks is no rank") {
    const TemporaryDirectory d;
    d.write("n1/node.json", ended(node_json("n1", 0, 800, 0, "end"), 256));
    d.write("n1/box-800-4711.ibb", box_without_rank(800, 0));
    d.write("n1/box-801-4711.ibb", box_without_rank(801, 0));
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    for (const auto& rank : timeline->ranks)
        CHECK_FALSE(rank.rank);
}

TEST_CASE("of a report directory the step that failed first counts") {
    const TemporaryDirectory d;
    d.write("report.txt", "old report");
    d.write("diagnosis.json", "{}");
    d.write("evidence/0/n1/node.json", node_json("n1", 0, 800, 0, "end"));
    d.write("evidence/1/n1/node.json", node_json("n1", 0, 801, 0, "stall", "2000000000"));
    d.write("evidence/2/n1/node.json", node_json("n1", 0, 802, 0, "death", "3000000000"));
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    CHECK(timeline->logs.empty());
    REQUIRE(timeline->nodes.size() == 1);
    CHECK(timeline->nodes[0].source.source == "evidence/1/n1/node.json");
    CHECK(has_note(*timeline, "another step, left out"));
}

TEST_CASE("a node whose harvest was not finished is told") {
    const TemporaryDirectory d;
    d.write("n1/box-815-4711.ibb", box_of_rank(0, 815));
    d.write("n1/.node.json.x", "{");
    d.write("n1/node.json.tmp", "{");
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    CHECK(timeline->nodes.at(0).name == "n1");
    CHECK(has_note(*timeline, "node.json is missing"));
}

TEST_CASE("dumps and logs in any directory") {
    const TemporaryDirectory d;
    d.write("comm_lib_trace_rank_7", flight_pickle({{}}));
    d.write("stack_3.txt", kStack);
    d.write("train.log", "hello\n");
    d.write("weights.pt", std::string("PK\3\4") + std::string(100, '\0'));
    d.write("nothing", "");
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    CHECK(timeline->unattached_flights.at(0).rank == 7);
    CHECK(timeline->ranks.at(0).rank == 3);
    CHECK(timeline->logs.at(0).name == "train.log");
    CHECK(has_note(*timeline, "not recognised: binary"));
    CHECK(has_note(*timeline, "empty"));
}

TEST_CASE("dumps find the process of their rank, the richer of two counts") {
    const TemporaryDirectory d;
    d.write("n1/box-815-4711.ibb", box_of_rank(0, 815));
    d.write("n1/stack-815-4711.txt", "");
    d.write("dump_0.json", R"({"entries":[{"profiling_name":"gloo:barrier"}]})");
    d.write("trace_0", flight_pickle({{}, {}}));
    d.write("trace_1", flight_pickle({{}}));
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    REQUIRE(timeline->ranks.size() == 1);
    REQUIRE(timeline->ranks[0].flight);
    CHECK(timeline->ranks[0].flight->entries.size() == 2);
    REQUIRE(timeline->unattached_flights.size() == 1);
    CHECK(timeline->unattached_flights[0].rank == 1);
    CHECK(has_note(*timeline, "second flight recorder of one rank"));
    CHECK_FALSE(has_note(*timeline, "no Python stack"));
}

TEST_CASE("single files and several paths") {
    const TemporaryDirectory d;
    const std::string log = d.write("a.log", "one\n");
    const std::string other = d.write("b.log.zst", compressed("two\n"));
    CHECK(read_evidence({log})->logs.at(0).name == "a.log");
    const auto both = read_evidence({log, other});
    REQUIRE(both);
    CHECK(both->logs.size() == 2);
    CHECK(both->logs[0].name == log);
    CHECK(both->logs[1].lines.at(0).text == "two");
}

TEST_CASE("links, pipes and directories that loop are left out") {
    const TemporaryDirectory d;
    d.write("n1/a.log", "one\n");
    REQUIRE(symlink("a.log", d.path("n1/b.log").c_str()) == 0);
    REQUIRE(symlink("..", d.path("n1/loop").c_str()) == 0);
    REQUIRE(mkfifo(d.path("n1/pipe").c_str(), 0600) == 0);
    const auto timeline = read_evidence({d.path()});
    REQUIRE(timeline);
    CHECK(timeline->logs.size() == 1);
    CHECK(has_note(*timeline, "not a regular file"));
    CHECK_FALSE(read_evidence({d.path("n1/b.log")}));
    CHECK_FALSE(read_evidence({d.path("n1/pipe")}));
}

TEST_CASE("nothing readable is the only error") {
    const TemporaryDirectory d;
    CHECK_FALSE(read_evidence({}));
    CHECK_FALSE(read_evidence({d.path()}));
    const auto absent = read_evidence({d.path("absent")});
    REQUIRE_FALSE(absent);
    CHECK(absent.error().find("No such file") != std::string::npos);
}

TEST_CASE("a decompression bomb is cut") {
    const TemporaryDirectory d;
    inquest::evidence::Limits limits;
    limits.decompressed_bytes = 100'000;
    const std::string bomb = d.write("a.log.zst", compressed(std::string(50'000'000, '\n')));
    const auto timeline = read_evidence({bomb}, limits);
    REQUIRE(timeline);
    CHECK(timeline->logs.at(0).lines.size() == 100'000);
    CHECK(has_note(*timeline, "larger than the limit"));
    const std::string whole = compressed("some text\nand more of it\n");
    const auto torn = read_evidence({d.write("b.log.zst", whole.substr(0, whole.size() - 3))});
    CHECK((!torn || has_note(*torn, "zstd")));
}
