/* What slurmd tells the epilog about the job that ended, in the environment (slurmd's Epilog, Slurm 22.05 and
 * later). */
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epilog/child.h"

namespace inquest::epilog {

struct Job {
    std::uint32_t job_id; /* of the array task or the heterogeneous component: unique in the cluster */
    UserIdentity user;
    std::string cluster;            /* SLURM_CLUSTER_NAME */
    std::string node;               /* this node: SLURMD_NODENAME */
    std::vector<std::string> nodes; /* SLURM_JOB_NODELIST or SLURM_NODELIST, expanded; empty when unknown */
    bool failed_somewhere;          /* SLURM_JOB_EXIT_CODE or SLURM_JOB_DERIVED_EC (highest of the steps) */
};

/* The value of an environment variable, nullptr when absent: getenv, or a test's. */
using Environment = std::function<const char*(const char* name)>;

/* Nothing when SLURM_JOB_ID, SLURM_JOB_UID or SLURM_JOB_GID is missing or no number. */
std::optional<Job> read_job(const Environment& environment);

}  // namespace inquest::epilog
