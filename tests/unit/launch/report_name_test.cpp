#include "spank/launch/report_name.h"

#include <set>

#include "tests/unit/catch.h"

namespace {

using namespace inquest::launch;

std::string name_of(const std::string& step, const Environment& environment,
                    const std::set<std::string>& taken = {}) {
    return report_name(7, step, environment, [&](const std::string& name) { return taken.count(name) != 0; });
}

}  // namespace

TEST_CASE("each run of a requeued job has a report directory of its own") {
    CHECK(name_of("0", {}) == "inquest-7");
    CHECK(name_of("0", {{"SLURM_RESTART_COUNT", "0"}}) == "inquest-7");
    CHECK(name_of("0", {{"SLURM_RESTART_COUNT", "2"}}) == "inquest-7-restart2");
    CHECK(name_of("0", {{"SLURM_RESTART_COUNT", "2"}}, {"inquest-7-restart2"}) == "inquest-7-restart2");
    for (const char* odd : {"", "-1", "1x", "../1", " 1", "99999999999"})
        CHECK(name_of("0", {{"SLURM_RESTART_COUNT", odd}}) == "inquest-7");
}

TEST_CASE("the batch step, the first of its run, takes the first name that no earlier run has") {
    CHECK(name_of("batch", {}) == "inquest-7");
    CHECK(name_of("batch", {}, {"inquest-7"}) == "inquest-7-restart1");
    CHECK(name_of("batch", {}, {"inquest-7", "inquest-7-restart1"}) == "inquest-7-restart2");
    CHECK(name_of("batch", {}, {"inquest-7-restart1"}) == "inquest-7");
}
