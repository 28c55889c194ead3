#include "epilog/journals.h"

#include "tests/unit/catch.h"
#include "tests/unit/epilog/journal_bytes.h"
#include "tests/unit/epilog/temporary_directory.h"

namespace inquest::epilog {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

UserIdentity me() {
    return {geteuid(), getegid()};
}

std::string journal(std::uint32_t step_id, std::int32_t wait_status, std::uint64_t exit_second) {
    JournalSketch sketch;
    sketch.step_id = step_id;
    return step_start(sketch) + task_exit(sketch, 0, wait_status, exit_second * kSecond) +
           step_end(sketch, (exit_second + 1) * kSecond);
}

TEST_CASE("only the job's names count") {
    const TemporaryDirectory directory;
    for (const char* name : {"7.0", "7.batch", "7.12", "77.0", "7", "7.", "7.0-x", "7.Batch", "x.0"}) {
        directory.write(name, "");
    }
    CHECK(names_of_job(directory.path(), 7) == std::vector<std::string>{"7.0", "7.12", "7.batch"});
    CHECK(names_of_job(directory / "missing", 7).empty());
}

TEST_CASE("journals of the job and the user are read, damaged ones skipped") {
    const TemporaryDirectory directory;
    directory.write("7.0", journal(0, 256, 2000));
    directory.write("7.1", "damaged");
    JournalSketch other;
    other.uid = geteuid() + 1;
    directory.write("7.2", step_start(other));
    other = JournalSketch();
    other.job_id = 8;
    directory.write("7.3", step_start(other));
    const auto steps = read_job_steps(directory.path(), 7, me());
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].name == "0");
    CHECK(steps[0].failed);
    CHECK(steps[0].started_wall_s == 1000);
    CHECK(steps[0].failed_wall_ns == 2000 * kSecond);
}

TEST_CASE("of too many steps the batch step and the newest are read") {
    const TemporaryDirectory directory;
    constexpr std::uint32_t kBatch = 0xfffffffb;
    const auto now = std::filesystem::file_time_type::clock::now();
    const auto write_aged = [&](const std::string& name, const std::string& bytes, int age_seconds) {
        directory.write(name, bytes);
        std::filesystem::last_write_time(directory / name, now - std::chrono::seconds(age_seconds));
    };
    write_aged("7.batch", journal(kBatch, 256, 3000), 5000);
    for (std::uint32_t step = 0; step < kMaxSteps; step++)
        write_aged("7." + std::to_string(step), journal(step, 0, 2000), static_cast<int>(4000 - step));
    const auto steps = read_job_steps(directory.path(), 7, me());
    REQUIRE(steps.size() == kMaxSteps);
    CHECK(steps.front().name == "batch");
    CHECK(steps[1].name == std::to_string(kMaxSteps - 1));
    CHECK(steps.back().name == "1");
}

TEST_CASE("a step fails when its first task does") {
    JournalSketch sketch;
    JobStep step{};
    REQUIRE(read_job_step(step_start(sketch) + task_exit(sketch, 1, 9, 30 * kSecond) +
                              task_exit(sketch, 0, 256, 20 * kSecond) + task_exit(sketch, 2, 0, 10 * kSecond),
                          step));
    CHECK(step.failed_wall_ns == 20 * kSecond);
}

TEST_CASE("the first step that failed decides, the batch step last") {
    constexpr std::uint32_t kBatch = 0xfffffffb;
    const std::vector<std::pair<std::uint32_t, std::string>> journals = {{kBatch, journal(kBatch, 256, 100)},
                                                                         {0, journal(0, 0, 110)},
                                                                         {1, journal(1, 256, 130)},
                                                                         {2, journal(2, 9, 120)}};
    std::vector<JobStep> steps(journals.size());
    for (std::size_t i = 0; i < journals.size(); i++)
        REQUIRE(read_job_step(journals[i].second, steps[i]));
    std::vector<std::string> names;
    for (const JobStep* step : by_decisiveness(steps))
        names.push_back(step->name);
    CHECK(names == std::vector<std::string>{"2", "1", "0", "batch"});
}

}  // namespace
}  // namespace inquest::epilog
