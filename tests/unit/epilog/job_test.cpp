#include "epilog/job.h"

#include <map>

#include "epilog/hostlist.h"
#include "tests/unit/catch.h"

namespace inquest::epilog {
namespace {

std::optional<Job> read(const std::map<std::string, std::string>& variables) {
    return read_job([&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    });
}

TEST_CASE("a job is read from slurmd's environment") {
    const auto job = read({{"SLURM_JOB_ID", "4711"},
                           {"SLURM_JOB_UID", "1001"},
                           {"SLURM_JOB_GID", "100"},
                           {"SLURM_NODELIST", "n[1-2]"},
                           {"SLURMD_NODENAME", "n1"},
                           {"SLURM_CLUSTER_NAME", "hive"},
                           {"SLURM_JOB_EXIT_CODE", "0"},
                           {"SLURM_JOB_DERIVED_EC", "1024"}});
    REQUIRE(job);
    CHECK(job->job_id == 4711);
    CHECK(job->user.uid == 1001);
    CHECK(job->nodes == std::vector<std::string>{"n1", "n2"});
    CHECK(job->cluster == "hive");
    CHECK(job->failed_somewhere);
}

TEST_CASE("without the job's numbers there is no job") {
    CHECK_FALSE(read({}));
    CHECK_FALSE(read({{"SLURM_JOB_ID", "0"}, {"SLURM_JOB_UID", "1"}, {"SLURM_JOB_GID", "1"}}));
    CHECK_FALSE(read({{"SLURM_JOB_ID", "7x"}, {"SLURM_JOB_UID", "1"}, {"SLURM_JOB_GID", "1"}}));
    CHECK_FALSE(read({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "-1"}, {"SLURM_JOB_GID", "1"}}));
    const auto job = read({{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_UID", "1"}, {"SLURM_JOB_GID", "1"}});
    REQUIRE(job);
    CHECK(job->nodes.empty());
    CHECK_FALSE(job->failed_somewhere);
}

TEST_CASE("node lists in Slurm's form") {
    CHECK(expand_hostlist("n[1-3,7]") == std::vector<std::string>{"n1", "n2", "n3", "n7"});
    CHECK(expand_hostlist("a,b").size() == 2);
    CHECK(expand_hostlist("").empty());
    CHECK(expand_hostlist("n[1-99999999]").empty());
}

}  // namespace
}  // namespace inquest::epilog
