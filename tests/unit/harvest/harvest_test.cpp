#include "spank/harvest/harvest.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "spank/harvest/box_files.h"
#include "tests/unit/catch.h"
#include "tests/unit/harvest/fake_node.h"

using namespace inquest::harvest;
using inquest::test::FakeNode;
using inquest::test::read_file;
using inquest::test::write_file;
using Json = nlohmann::json;

namespace {

const ProcessIdentity kLiving{815, 4711};
const ProcessIdentity kGone{816, 4712};

HarvestRequest request_for(const FakeNode& node, Reason reason) {
    HarvestRequest request;
    request.step = node.step();
    request.reason = reason;
    request.deadline_mono_ns = node.mono_ns + 8000000000;
    return request;
}

Json node_json(const FakeNode& node) {
    return Json::parse(read_file(node.evidence() / "n1" / "node.json"));
}

}  // namespace

TEST_CASE("a harvest writes boxes, stacks, flight records and node.json") {
    FakeNode node;
    node.write_process(kLiving, 'S', 1ULL << 39);
    node.write_box(kLiving, inquest::test::live_of_rank(0));
    node.write_box(kGone, inquest::test::live_of_rank(1));
    write_file(node.boxes() / "nccl_trace_rank_1", "\x80\x02.");
    write_file(node.boxes() / "unrelated", "x");
    HarvestRequest request = request_for(node, Reason::stall);
    request.stalled_since_mono_ns = 5;
    request.gone_mono_ns[kGone] = 77;
    const auto result = harvest_node(request, node.system());
    REQUIRE(result);
    CHECK(result->boxes == 2);
    CHECK(result->damage.empty());

    std::vector<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(node.evidence() / "n1"))
        files.push_back(file.path().filename());
    std::sort(files.begin(), files.end());
    CHECK(files == std::vector<std::string>{"box-815-4711.ibb.zst", "box-816-4712.ibb.zst",
                                            "flight-816-4712.pickle", "node.json", "stack-815-4711.txt"});

    const Json json = node_json(node);
    CHECK(json["schema"] == "inquest-node-evidence-1");
    CHECK(json["reason"] == "stall");
    CHECK(json["stall_ns"] == 10000000000);
    CHECK(json["stalled_since_mono_ns"] == 5);
    CHECK(json["step"] == "0");
    REQUIRE(json["processes"].size() == 2);
    CHECK(json["processes"][0]["alive"] == true);
    CHECK(json["processes"][0]["state"] == "S");
    CHECK(json["processes"][0]["cpu_interval_ns"] == 1000000000);
    CHECK(json["processes"][0]["cpu_ns"] == json["processes"][0]["cpu_after_ns"]);
    CHECK(json["processes"][0]["gone_mono_ns"].is_null());
    CHECK(json["processes"][1]["alive"] == false);
    CHECK(json["processes"][1]["gone_mono_ns"] == 77);
    CHECK(json["processes"][1]["cpu_ns"].is_null());
}

TEST_CASE("NCCL's messages are kept, of each file the end and of many files some") {
    FakeNode node;
    constexpr int kFirstPid = 1000;
    constexpr int kFiles = 300;
    for (int pid = kFirstPid; pid < kFirstPid + kFiles; pid++)
        write_file(node.boxes() / ("nccl_debug-n1-" + std::to_string(pid) + ".txt"),
                   std::string(pid == kFirstPid ? 300 * 1024 : 0, 'x') + "end");
    const auto result = harvest_node(request_for(node, Reason::failure), node.system());
    REQUIRE(result);
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(node.evidence() / "n1")) {
        if (!entry.path().filename().string().starts_with("nccl_debug-n1-")) continue;
        const std::string text = read_file(entry.path());
        CHECK(text.ends_with("end"));
        CHECK(text.size() <= size_t{256} * 1024);
        files++;
    }
    CHECK(files == 256);
    CHECK(std::count(result->damage.begin(), result->damage.end(), "nccl_debug: too many files") == 1);
}

TEST_CASE("a later harvest keeps what an earlier one found") {
    FakeNode node;
    node.write_process(kLiving, 'S', 1ULL << 39);
    node.write_box(kLiving, inquest::test::live_of_rank(0));
    REQUIRE(harvest_node(request_for(node, Reason::stall), node.system()));
    node.remove_process(kLiving);
    std::filesystem::remove(node.boxes() / "stack-815-4711.txt");
    HarvestRequest last = request_for(node, Reason::end);
    last.step.ended = true;
    REQUIRE(harvest_node(last, node.system()));
    CHECK(std::filesystem::exists(node.evidence() / "n1" / "stack-815-4711.txt"));
    CHECK(node_json(node)["step_ended"] == true);
    CHECK(node_json(node)["reason"] == "end");
}

TEST_CASE("a process that is gone keeps the sample that was taken while it lived") {
    FakeNode node;
    node.write_process(kLiving, 'S', 1ULL << 39);
    node.write_box(kLiving, inquest::test::live_of_rank(0));
    HarvestRequest stall = request_for(node, Reason::stall);
    stall.stalled_since_mono_ns = 5;
    REQUIRE(harvest_node(stall, node.system()));
    const Json before = node_json(node)["processes"][0];
    node.remove_process(kLiving);
    HarvestRequest end = request_for(node, Reason::end);
    end.gone_mono_ns[kLiving] = 77;
    REQUIRE(harvest_node(end, node.system()));
    Json after = node_json(node)["processes"][0];
    CHECK(after["alive"] == false);
    CHECK(after["gone_mono_ns"] == 77);
    after["alive"] = before["alive"];
    after["gone_mono_ns"] = before["gone_mono_ns"];
    CHECK(after == before);
    CHECK(before["bytes_written_after"] == 4096);
    CHECK(node_json(node)["stalled_since_mono_ns"] == 5);

    std::filesystem::remove_all(node.boxes());
    REQUIRE(harvest_node(request_for(node, Reason::end), node.system()));
    CHECK(node_json(node)["processes"][0]["gone_mono_ns"] == 77);
    CHECK(node_json(node)["stalled_since_mono_ns"] == 5);
}

TEST_CASE("a stall that was followed by a call is over") {
    FakeNode node;
    inquest_box_live live = inquest::test::live_of_rank(0);
    node.write_box(kLiving, live);
    HarvestRequest stall = request_for(node, Reason::stall);
    stall.stalled_since_mono_ns = 5;
    REQUIRE(harvest_node(stall, node.system()));
    live.last_progress_mono_ns = node.mono_ns; /* an exception, the exit: records, but no calls */
    node.write_box(kLiving, live);
    REQUIRE(harvest_node(request_for(node, Reason::end), node.system()));
    CHECK(node_json(node)["stalled_since_mono_ns"] == 5);
    live.step++;
    node.write_box(kLiving, live);
    REQUIRE(harvest_node(request_for(node, Reason::end), node.system()));
    CHECK(node_json(node)["stalled_since_mono_ns"].is_null());
}

TEST_CASE("an earlier node.json that is no such thing is as good as none") {
    FakeNode node;
    node.write_box(kLiving, inquest::test::live_of_rank(0));
    std::filesystem::create_directories(node.evidence() / "n1");
    for (const char* json :
         {"", "[]", R"({"processes": 7, "stalled_since_mono_ns": -1})",
          R"({"processes": [7, {"pid": -1, "start": 1}, {"pid": 99999999999, "start": 1}, {"pid": "1"}]})"}) {
        write_file(node.evidence() / "n1" / "node.json", json);
        REQUIRE(harvest_node(request_for(node, Reason::end), node.system()));
        CHECK(node_json(node)["processes"].size() == 1);
        CHECK(node_json(node)["stalled_since_mono_ns"].is_null());
    }
}

TEST_CASE("a process that goes away during the harvest is not waited for") {
    FakeNode node;
    node.write_process(kLiving, 'S', 1ULL << 39);
    node.write_box(kLiving, inquest::test::live_of_rank(0));
    HarvestSystem system = node.system();
    system.send_signal = [&node](const ProcessIdentity& process, int) {
        node.remove_process(process);
        return true;
    };
    const uint64_t before_ns = node.mono_ns;
    REQUIRE(harvest_node(request_for(node, Reason::failure), system));
    CHECK(node.mono_ns - before_ns < 100000000);
    CHECK(node_json(node)["processes"][0]["cpu_after_ns"].is_null());
}

TEST_CASE("only ranks between their start and their end are asked for stacks") {
    for (const uint32_t state :
         {INQUEST_STATE_CLAIMED, INQUEST_STATE_TORCH_IMPORTED, INQUEST_STATE_GROUP_READY,
          INQUEST_STATE_MODEL_WRAPPED, INQUEST_STATE_EXITING, INQUEST_STATE_EXITED}) {
        FakeNode node;
        inquest_box_live live = inquest::test::live_of_rank(0);
        live.state = state;
        node.write_process(kLiving, 'S', 1ULL << 39);
        node.write_box(kLiving, live);
        const auto result = harvest_node(request_for(node, Reason::stall), node.system());
        REQUIRE(result);
        const bool is_asked = state == INQUEST_STATE_GROUP_READY || state == INQUEST_STATE_MODEL_WRAPPED;
        CHECK(node.signals.size() == (is_asked ? 1 : 0));
        CHECK(result->damage.empty());
    }
}

TEST_CASE("hostile files become damage") {
    FakeNode node;
    write_file(node.boxes() / "box-1-1.ibb", "too short");
    REQUIRE(mkfifo((node.boxes() / "stack-1-1.txt").c_str(), 0600) == 0);
    std::filesystem::create_symlink("/etc/passwd", node.boxes() / "stack-2-2.txt");
    const auto result = harvest_node(request_for(node, Reason::end), node.system());
    REQUIRE(result);
    CHECK(result->damage.size() == 3);
    CHECK_FALSE(std::filesystem::exists(node.evidence() / "n1" / "stack-2-2.txt"));
    CHECK(node_json(node)["damage"].size() == 3);
}

TEST_CASE("without a box directory node.json still says what is known") {
    FakeNode node;
    std::filesystem::remove_all(node.boxes());
    HarvestRequest request = request_for(node, Reason::failure);
    request.step.tasks.push_back({0, 815, 1, 2, 3, 256, 1});
    request.step.nodes = "n\xff";
    REQUIRE(harvest_node(request, node.system()));
    const Json json = node_json(node);
    CHECK(json["damage"].size() == 1);
    CHECK(json["tasks"][0]["wait_status"] == 256);
    CHECK(json["tasks"][0]["oom_kills"] == 1);
    CHECK(json["processes"].empty());
}

TEST_CASE("evidence goes into real directories of the user only") {
    FakeNode node;
    SECTION("the working directory is gone") {
        std::filesystem::remove_all(node.root() / "work");
    }
    SECTION("the report directory is a link") {
        std::filesystem::create_directory(node.root() / "elsewhere");
        std::filesystem::create_symlink(node.root() / "elsewhere", node.report());
    }
    SECTION("the report directory is a file") {
        write_file(node.report(), "");
    }
    CHECK_FALSE(harvest_node(request_for(node, Reason::end), node.system()));
    CHECK_FALSE(std::filesystem::exists(node.root() / "elsewhere" / "evidence"));
}

TEST_CASE("directories are the user's alone") {
    FakeNode node;
    REQUIRE(harvest_node(request_for(node, Reason::end), node.system()));
    for (const auto& path : {node.report(), node.evidence(), node.evidence() / "n1"}) {
        struct stat status {};
        REQUIRE(stat(path.c_str(), &status) == 0);
        CHECK((status.st_mode & 0777U) == 0700);
    }
}

TEST_CASE("tensor tables are kept, except for a stall") {
    FakeNode node;
    write_file(node.boxes() / "tensors-815-4711.ibt", "table");
    write_file(node.boxes() / "tensors-816-4712.ibt", std::string(kMaxTableBytes + 1, 'x'));
    const auto table = node.evidence() / "n1" / "tensors-815-4711.ibt.zst";
    REQUIRE(harvest_node(request_for(node, Reason::stall), node.system()));
    CHECK_FALSE(std::filesystem::exists(table));
    const auto result = harvest_node(request_for(node, Reason::divergence), node.system());
    REQUIRE(result);
    CHECK(std::filesystem::exists(table));
    CHECK(node_json(node)["reason"] == "divergence");
    REQUIRE(result->damage.size() == 1);
    CHECK(result->damage[0] == "tensors-816-4712.ibt.zst: too long");
}

TEST_CASE("the first copies that were analysed stay beside the newest") {
    FakeNode node;
    const auto copy = [&](const std::string& kept) {
        return node.evidence() / "n1" / ("tensors-815-4711" + kept + ".ibt.zst");
    };
    HarvestRequest request = request_for(node, Reason::divergence);
    std::vector<std::string> written;
    for (const char* content : {"first", "second", "third"}) {
        write_file(node.boxes() / "tensors-815-4711.ibt", content);
        REQUIRE(harvest_node(request, node.system()));
        CHECK(std::filesystem::exists(copy(".analysed")) == !written.empty());
        written.push_back(read_file(copy("")));
        request = request_for(node, Reason::end);
        request.keeps_analysed = true;
    }
    CHECK(read_file(copy(".analysed")) == written[0]);
    CHECK(written[2] != written[1]);
}

TEST_CASE("a copy that cannot be made leaves the one that was analysed in its place") {
    FakeNode node;
    for (const char* name : {"tensors-815-4711.ibt", "box-815-4711.ibb"}) {
        const std::filesystem::path copy = node.evidence() / "n1" / (std::string(name) + ".zst");
        HarvestRequest request = request_for(node, Reason::divergence);
        write_file(node.boxes() / name, "first");
        REQUIRE(harvest_node(request, node.system()));
        const std::string first = read_file(copy);
        std::filesystem::remove(node.boxes() / name);
        std::filesystem::create_directory(node.boxes() / name);
        request.keeps_analysed = true;
        REQUIRE(harvest_node(request, node.system()));
        CHECK_FALSE(first.empty());
        CHECK(read_file(copy) == first);
    }
}

TEST_CASE("a divergence that was noticed and a cancelled job stay known") {
    FakeNode node;
    HarvestRequest request = request_for(node, Reason::divergence);
    request.divergence_noticed_mono_ns = 5;
    request.cancelled_for_divergence = true;
    REQUIRE(harvest_node(request, node.system()));
    REQUIRE(harvest_node(request_for(node, Reason::end), node.system()));
    CHECK(node_json(node)["divergence_noticed_mono_ns"] == 5);
    CHECK(node_json(node)["cancelled_for_divergence"] == true);
}

TEST_CASE("evidence that nobody wants any more is not written") {
    FakeNode node;
    HarvestRequest request = request_for(node, Reason::requested);
    request.may_make_directories = false;
    CHECK_FALSE(harvest_node(request, node.system()));
    CHECK_FALSE(std::filesystem::exists(node.report()));
    std::filesystem::create_directories(node.evidence());
    CHECK(harvest_node(request, node.system()));
}
