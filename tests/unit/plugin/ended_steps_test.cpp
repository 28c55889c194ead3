#include "spank/plugin/ended_steps.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "spank/plugin/journal.h"
#include "tests/unit/catch.h"
#include "tests/unit/plugin/scratch.h"

namespace {

class Job {
 public:
    /* A step whose last message is of this kind and status, ended `second` seconds after some moment. */
    void add_step(uint32_t job_id, const std::string& name, inquest_step_message_kind kind, int wait_status,
                  int second) {
        inquest_step step = {};
        step.job_id = job_id;
        std::snprintf(step.name, sizeof step.name, "%s", name.c_str());
        REQUIRE(inquest_journal_make(run_.c_str(), &step) == 0);
        auto packet = std::make_unique<inquest_step_packet>();
        inquest_step_packet_begin(packet.get(), kind, &step);
        packet->head.wait_status = wait_status;
        REQUIRE(inquest_journal_append(run_.c_str(), &step, packet.get()) == 0);
        const timespec times[2] = {{second, 0}, {second, 0}};
        REQUIRE(utimensat(AT_FDCWD, journal(job_id, name).c_str(), times, 0) == 0);
    }

    bool has(uint32_t job_id, const std::string& name) const {
        return std::filesystem::exists(journal(job_id, name));
    }

    void trim(uint32_t job_id) const { inquest_ended_steps_trim(run_.c_str(), job_id); }

 private:
    std::string journal(uint32_t job_id, const std::string& name) const {
        return run_ + "/steps/" + std::to_string(job_id) + "." + name;
    }

    Scratch scratch_;
    std::string run_ = scratch_.path("run");
};

}  // namespace

TEST_CASE("of the steps that ended well the newest stay") {
    Job job;
    for (int number = 0; number < INQUEST_ENDED_STEPS_KEPT + 3; ++number) {
        job.add_step(7, std::to_string(number), INQUEST_STEP_END, 0, 100 - number);
    }
    job.trim(7);
    CHECK(job.has(7, "0"));
    CHECK(job.has(7, std::to_string(INQUEST_ENDED_STEPS_KEPT - 1)));
    for (int number = INQUEST_ENDED_STEPS_KEPT; number < INQUEST_ENDED_STEPS_KEPT + 3; ++number) {
        CHECK_FALSE(job.has(7, std::to_string(number)));
    }
}

TEST_CASE("a step that failed or still runs stays, and so does another job's") {
    Job job;
    job.add_step(7, "failed", INQUEST_STEP_END, 256, 1);
    job.add_step(7, "runs", INQUEST_TASK_EXIT, 0, 1);
    job.add_step(77, "0", INQUEST_STEP_END, 0, 1);
    for (int number = 0; number < INQUEST_ENDED_STEPS_KEPT; ++number) {
        job.add_step(7, std::to_string(number), INQUEST_STEP_END, 0, 2);
    }
    job.trim(7);
    CHECK(job.has(7, "failed"));
    CHECK(job.has(7, "runs"));
    CHECK(job.has(77, "0"));
    CHECK(job.has(7, "0"));
}
