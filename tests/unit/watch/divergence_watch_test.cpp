/* The exchange between the nodes of a step. */
#include "spank/watch/divergence_watch.h"

#include "spank/replicas/exchange_text.h"
#include "tests/unit/catch.h"
#include "tests/unit/replicas/box_builder.h"

using namespace inquest::watch;
using inquest::harvest::StepDescription;
using inquest::replicas::ReplicaRecord;
using inquest::test::FakeNode;
using inquest::test::parameters_after;

namespace {

constexpr uint64_t kSecond = 1000000000;

/* Two nodes with one report directory: the lead with ranks 0 and 1, the other with ranks 2 and 3. */
struct Scene {
    Scene() {
        lead.node_count = 2;
        steps[0] = lead.step();
        lead.node_index = 1;
        steps[1] = lead.step();
        lead.node_index = 0;
    }

    static ReplicaRecord record(uint32_t rank, int64_t step, uint64_t value, const std::string& ranks) {
        ReplicaRecord record{{1, 1000, rank, 4}, parameters_after(step, value, 4)};
        auto& digest = std::get<inquest::replicas::StateDigest>(record.what);
        digest.promise = 1;
        digest.ranks = ranks;
        return record;
    }
    void report(int64_t step, const std::vector<uint64_t>& values, const std::string& first_ranks = "0-3",
                const std::string& second_ranks = "0-3") {
        watches[0].take({record(0, step, values[0], first_ranks), record(1, step, values[1], first_ranks)});
        watches[1].take({record(2, step, values[2], second_ranks), record(3, step, values[3], second_ranks)});
    }
    void pass(int ticks = 20) {
        for (int at = 0; at < ticks; at++) {
            lead.mono_ns += kSecond / 5;
            watches[1].tick();
            watches[0].tick();
        }
    }
    [[nodiscard]] bool has_files() const { return std::filesystem::exists(lead.report()); }

    FakeNode lead;
    inquest::harvest::HarvestSystem system = lead.system();
    StepDescription steps[2];
    DivergenceWatch watches[2] = {{steps[0], system}, {steps[1], system}};
};

}  // namespace

TEST_CASE("the lead compares ranks of all nodes, and healthy nodes leave nothing") {
    Scene scene;
    scene.report(4, {7, 7, 7, 7});
    scene.pass();
    CHECK(scene.has_files());
    scene.watches[0].end();
    scene.watches[1].end();
    scene.pass();
    CHECK_FALSE(scene.has_files());
    for (DivergenceWatch& watch : scene.watches) {
        watch.leave();
        CHECK_FALSE(watch.take_difference());
    }
    CHECK_FALSE(scene.has_files());
}

TEST_CASE("the lead finds a rank of another node that differs") {
    Scene scene;
    scene.report(4, {7, 7, 7, 7});
    scene.report(8, {7, 7, 7, 9});
    scene.pass();
    CHECK(scene.watches[0].take_difference());
    CHECK_FALSE(scene.watches[1].take_difference());
}

TEST_CASE("what ranks of one node settle among themselves goes into no file") {
    Scene scene;
    scene.report(4, {7, 7, 7, 7}, "0-1", "2-3");
    scene.pass();
    CHECK_FALSE(scene.has_files());
    scene.report(8, {7, 7, 7, 9}, "0-1", "2-3");
    scene.pass();
    CHECK_FALSE(scene.has_files());
    CHECK_FALSE(scene.watches[0].take_difference());
    CHECK(scene.watches[1].take_difference());
}

TEST_CASE("the end compares what only some ranks reported, when all nodes have ended") {
    Scene scene;
    scene.watches[0].take({Scene::record(0, 8, 7, "0-3")});
    scene.watches[1].take({Scene::record(2, 8, 9, "0-3")});
    scene.pass();
    scene.watches[0].end();
    scene.pass();
    CHECK_FALSE(scene.watches[0].take_difference());
    scene.watches[1].end();
    scene.pass();
    CHECK(scene.watches[0].take_difference());
}

TEST_CASE("a node whose lead is gone removes its own file") {
    Scene scene;
    scene.report(4, {7, 7, 7, 7});
    scene.watches[1].tick();
    scene.pass(10);
    scene.watches[1].leave();
    CHECK_FALSE(scene.has_files());
}

TEST_CASE("the end of the job is waited for a bounded time when a node never says its last") {
    Scene scene;
    scene.report(4, {7, 7, 7, 7});
    scene.pass();
    const uint64_t before = scene.lead.mono_ns;
    scene.watches[0].end();
    scene.watches[0].leave();
    CHECK(scene.lead.mono_ns - before <= 3 * kSecond);
    scene.watches[1].leave();
    CHECK_FALSE(scene.has_files());
}

TEST_CASE("with 1,250 nodes on a slow file server no tick takes long, and all files have their turn") {
    constexpr uint32_t kNodes = 1250;
    FakeNode lead;
    lead.node_count = kNodes;
    inquest::harvest::HarvestSystem system = lead.system();
    system.mono_ns = [&lead] { return lead.mono_ns += kSecond / 1000; }; /* each file takes a millisecond */
    const auto directory = lead.report() / "digests" / "0";
    std::filesystem::create_directories(directory);
    const std::string line = format_record(Scene::record(7, 4, 7, "0-4999"));
    for (uint32_t node = 1; node < kNodes; node++)
        inquest::test::write_file(directory / ("m" + std::to_string(node)), line + "\nend\n");
    const auto left = [&] {
        return std::distance(std::filesystem::directory_iterator(directory),
                             std::filesystem::directory_iterator());
    };
    const StepDescription step = lead.step();
    DivergenceWatch watch(step, system);
    int ticks = 0;
    for (; ticks < 100 && left() > 0; ticks++) {
        const auto before = left();
        const uint64_t begin = lead.mono_ns;
        watch.tick();
        CHECK(lead.mono_ns - begin < kSecond / 10);
        CHECK(before - left() <= 60);
    }
    CHECK(ticks <= 30);
    CHECK(left() == 0);
}
