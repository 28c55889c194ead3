#include "spank/plugin/oom_count.h"

#include "tests/unit/catch.h"
#include "tests/unit/plugin/scratch.h"

namespace {

const std::string kOomControl = "oom_kill_disable 0\nunder_oom 0\noom_kill ";

}  // namespace

TEST_CASE("cgroup v1: the step and its tasks are added") {
    Scratch scratch;
    std::string self =
        scratch.file("self", "5:memory:/slurm_n1/uid_1/job_7/step_0/task_special\n4:cpu:/x/step_9\n");
    const std::string step = "memory/slurm_n1/uid_1/job_7/step_0/";
    scratch.file(step + "memory.oom_control", kOomControl + "1\n");
    scratch.file(step + "task_0/memory.oom_control", kOomControl + "2\n");
    scratch.file(step + "task_1/memory.oom_control", kOomControl + "0\n");
    scratch.file(step + "other/memory.oom_control", kOomControl + "50\n");
    CHECK(inquest_oom_kills(self.c_str(), scratch.path().c_str()) == 3);
}

TEST_CASE("cgroup v2: the step counts all below it") {
    Scratch scratch;
    std::string self = scratch.file("self", "0::/system.slice/slurmstepd.scope/job_7/step_batch/slurm\n");
    scratch.file("system.slice/slurmstepd.scope/job_7/step_batch/memory.events",
                 "low 0\nhigh 0\nmax 9\noom 4\noom_kill 4\noom_group_kill 7\n");
    CHECK(inquest_oom_kills(self.c_str(), scratch.path().c_str()) == 4);
}

TEST_CASE("what cannot be known is 0") {
    Scratch scratch;
    CHECK(inquest_oom_kills(scratch.path("absent").c_str(), scratch.path().c_str()) == 0);
    std::string outside = scratch.file("outside", "0::/user.slice\n");
    CHECK(inquest_oom_kills(outside.c_str(), scratch.path().c_str()) == 0);
    std::string other_line = scratch.file("other_line", "5:memory:/user\n4:cpu:/job_7/step_0\n");
    CHECK(inquest_oom_kills(other_line.c_str(), scratch.path().c_str()) == 0);
}
