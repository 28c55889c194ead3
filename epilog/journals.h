/* The journals of the job's steps on this node (spank/format/step_journal.h), and what follows from them. */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilog/child.h"
#include "spank/harvest/step_messages.h"

namespace inquest::epilog {

struct JobStep {
    harvest::JournalContent journal;
    std::string name;            /* "0", "batch" */
    std::int64_t started_wall_s; /* STEP_START */
    bool failed;                 /* a task of this node did */
    std::uint64_t
        failed_wall_ns; /* of its first failed task; of the newest message when no local task failed */
};

inline constexpr std::size_t kMaxSteps = 1024;

/* The readable journals of `job_id` in `directory` (INQUEST_STEPS_DIRECTORY), at most kMaxSteps: that of
 * the batch step, then those with the newest messages first; those of another user are left out. Empty when
 * there is none. */
std::vector<JobStep> read_job_steps(const std::string& directory, std::uint32_t job_id,
                                    const UserIdentity& user);

/* The same, of whichever user: a job has one. */
std::vector<JobStep> read_job_steps(const std::string& directory, std::uint32_t job_id);

/* A step from the bytes of its journal; false when it is not usable. */
bool read_job_step(const std::string& bytes, JobStep& step);

/* Names in `directory` that belong to the job: "<job>.<step>", <step> of lower-case letters and digits. */
std::vector<std::string> names_of_job(const std::string& directory, std::uint32_t job_id);

/* The last components of their report directories: batch step and other steps of a restarted job may have
 * different ones (docs/formats/evidence.md). */
std::vector<std::string> report_names(const std::vector<JobStep>& steps);

/* The order in which steps are asked what went wrong: those that failed on this node by the time of the
 * failure, then the others, then the batch step, because it fails when a step of its script did. */
std::vector<const JobStep*> by_decisiveness(const std::vector<JobStep>& steps);

}  // namespace inquest::epilog
