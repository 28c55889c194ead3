#include "epilog/harvest_steps.h"

#include "tests/unit/catch.h"
#include "tests/unit/epilog/journal_bytes.h"
#include "tests/unit/epilog/temporary_directory.h"
#include "tests/unit/replicas/box_builder.h"

namespace inquest::epilog {
namespace {

constexpr const char* kNodeJson = "inquest-7/evidence/0/n1/node.json";
constexpr const char* kFinal = R"({"step_ended": true, "collected_wall_ns": 1000500000000})";

/* A step of one node that started at second 1000 of the clock. */
std::vector<JobStep> one_step(const TemporaryDirectory& directory, std::int32_t wait_status) {
    JournalSketch sketch;
    sketch.report = directory / "inquest-7";
    std::vector<JobStep> steps(1);
    REQUIRE(read_job_step(step_start(sketch) + task_exit(sketch, 0, wait_status, 1), steps[0]));
    return steps;
}

void harvest(const std::vector<JobStep>& steps) {
    harvest_wanted_steps(steps, {false, true}, Deadline::after(std::chrono::seconds(4)));
}

bool is_new(const TemporaryDirectory& directory) {
    return directory.read(kNodeJson).find("\"inquest-node-evidence-1\"") != std::string::npos;
}

TEST_CASE("a failed step without evidence of this node is harvested") {
    const TemporaryDirectory directory;
    harvest(one_step(directory, 9));
    CHECK(is_new(directory));
}

TEST_CASE("evidence from before the end of the step is followed by the final one") {
    const TemporaryDirectory directory;
    directory.write(kNodeJson, R"({"step_ended": false, "collected_wall_ns": 1000500000000})");
    harvest(one_step(directory, 0));
    CHECK(is_new(directory));
}

TEST_CASE("final evidence stays as it is, unless an earlier run of the job left it") {
    const TemporaryDirectory directory;
    directory.write(kNodeJson, kFinal);
    harvest(one_step(directory, 9));
    CHECK(directory.read(kNodeJson) == kFinal);
    directory.write(kNodeJson, R"({"step_ended": true, "collected_wall_ns": 999000000000})");
    harvest(one_step(directory, 9));
    CHECK(is_new(directory));
}

TEST_CASE("final evidence that lacks an exit which the journal holds is written again") {
    const TemporaryDirectory directory;
    directory.write(kNodeJson, R"({"step_ended": true, "collected_wall_ns": 1000500000000,
                                   "tasks": [{"wait_status": null}]})");
    harvest(one_step(directory, 0));
    CHECK(is_new(directory));
}

TEST_CASE("a well ended step whose replicas on this node differ is harvested, unless that was watched") {
    const TemporaryDirectory directory;
    std::vector<JobStep> steps = one_step(directory, 0);
    steps[0].journal.step.box_directory = directory / "boxes";
    std::filesystem::create_directory(directory / "boxes");
    for (int rank = 0; rank < 2; rank++) {
        test::BoxBuilder box({815 + rank, 4711}, rank, 2);
        box.digest(test::parameters_after(4, static_cast<std::uint64_t>(rank), 2), "DistributedDataParallel");
        box.write_into(directory / "boxes");
    }
    harvest_wanted_steps(steps, {false, false}, Deadline::after(std::chrono::seconds(4)));
    CHECK_FALSE(directory.exists("inquest-7"));
    harvest(steps);
    CHECK(is_new(directory));
    CHECK(directory.read(kNodeJson).find("\"divergence_noticed_mono_ns\": null") == std::string::npos);
}

TEST_CASE("what a node left for the comparison with others is removed") {
    const TemporaryDirectory directory;
    directory.write("inquest-7/digests/0/n1", "end\n");
    harvest(one_step(directory, 0));
    CHECK_FALSE(directory.exists("inquest-7"));
}

TEST_CASE("a healthy step that nobody asks about is not harvested") {
    const TemporaryDirectory directory;
    harvest(one_step(directory, 0));
    CHECK_FALSE(directory.exists("inquest-7"));
}

}  // namespace
}  // namespace inquest::epilog
