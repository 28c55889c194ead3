#include "epilog/job_run.h"

#include "tests/unit/catch.h"

namespace inquest::epilog {
namespace {

constexpr std::uint32_t kPending = 0;
constexpr std::uint32_t kFailed = 5;
constexpr std::uint32_t kRequeued = 1024;

JobRun run(std::uint32_t state, std::int64_t started_wall_s) {
    JobRun result;
    result.job_id = 7;
    result.state = state;
    result.submitted_wall_s = started_wall_s - 10;
    result.started_wall_s = started_wall_s;
    return result;
}

TEST_CASE("the only run is the run, whatever the clocks say") {
    const auto choice = choose_run({run(kFailed, 5000)}, 100);
    REQUIRE(choice);
    CHECK_FALSE(choice->by_state);
}

TEST_CASE("a pending run of a requeued job is passed over by its state") {
    const auto choice = choose_run({run(kRequeued, 1000), run(kPending, 2000)}, 1001);
    REQUIRE(choice);
    CHECK(choice->run.started_wall_s == 1000);
    CHECK(choice->by_state);
}

TEST_CASE("the newest run needs no help") {
    const auto choice = choose_run({run(kFailed, 2000), run(kRequeued, 1000)}, 2001);
    REQUIRE(choice);
    CHECK(choice->run.started_wall_s == 2000);
    CHECK_FALSE(choice->by_state);
}

TEST_CASE("two runs in one state cannot be told apart") {
    CHECK_FALSE(choose_run({run(kRequeued, 1000), run(kRequeued, 2000), run(kPending, 3000)}, 1001));
    CHECK(choose_run({run(kRequeued, 1000), run(kRequeued, 2000), run(kPending, 3000)}, 2001));
}

TEST_CASE("no run fits a time before all of them") {
    CHECK_FALSE(choose_run({run(kFailed, 1000), run(kFailed, 2000)}, 10));
    CHECK_FALSE(choose_run({}, 10));
}

}  // namespace
}  // namespace inquest::epilog
