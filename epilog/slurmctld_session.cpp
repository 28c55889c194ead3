#include "epilog/slurmctld_session.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <memory>
#include <string>

#include "epilog/job_run.h"
#include "epilog/record_line.h"

namespace inquest::epilog {
namespace {

struct JobsDeleter {
    void operator()(job_info_msg_t* jobs) const { slurm_free_job_info_msg(jobs); }
};
using OwnedJobs = std::unique_ptr<job_info_msg_t, JobsDeleter>;

OwnedJobs load_job(std::uint32_t job_id) {
    job_info_msg_t* jobs = nullptr;
    return OwnedJobs(slurm_load_job(&jobs, job_id, SHOW_ALL) == SLURM_SUCCESS ? jobs : nullptr);
}

/* The answer about one task of an array may hold the others too. */
const slurm_job_info_t* find_job(const job_info_msg_t& jobs, std::uint32_t job_id) {
    for (std::uint32_t at = 0; at < jobs.record_count; at++)
        if (jobs.job_array[at].job_id == job_id) return &jobs.job_array[at];
    return nullptr;
}

/* A requeued job has the same number in its next run. */
bool is_run_of(const slurm_job_info_t& job, const RecordEntry& entry) {
    return (job.job_state & JOB_STATE_BASE) == JOB_RUNNING &&
           job.start_time <= entry.run_wall_s + kMaxClockSkewS;
}

const char* value_of(const slurm_job_info_t& job, RecordField field) {
    switch (field) {
        case RecordField::kSystemComment:
            return job.system_comment;
        case RecordField::kComment:
            return job.comment;
        case RecordField::kAdminComment:
            break;
    }
    return job.admin_comment;
}

/* False where this version of Slurm cannot change the field of a running job: 22.05 has no SystemComment to
 * change. */
template <typename Change>
bool set_system_comment(Change& change, char* line) {
    if constexpr (requires { change.system_comment; }) {
        change.system_comment = line;
        return true;
    } else {
        return false;
    }
}

bool set_value(job_desc_msg_t& change, RecordField field, char* line) {
    if (field == RecordField::kSystemComment) return set_system_comment(change, line);
    if (field == RecordField::kComment)
        change.comment = line;
    else
        change.admin_comment = line;
    return true;
}

}  // namespace

StoreOutcome store_through_slurmctld(const RecordEntry& entry) {
    slurm_init(nullptr);
    const OwnedJobs jobs = load_job(entry.job_id);
    if (!jobs) return StoreOutcome::kUnavailable;
    const slurm_job_info_t* job = find_job(*jobs, entry.job_id);
    if (job == nullptr) return StoreOutcome::kNoRecord;
    if (!is_run_of(*job, entry)) return StoreOutcome::kOtherRun;
    const char* value = value_of(*job, entry.field);
    if (!may_replace(value == nullptr ? std::string() : std::string(value), entry))
        return StoreOutcome::kKept;
    job_desc_msg_t change;
    slurm_init_job_desc_msg(&change);
    change.job_id = entry.job_id;
    std::string line = entry.line;
    if (!set_value(change, entry.field, line.data())) return StoreOutcome::kUnavailable;
    return slurm_update_job(&change) == SLURM_SUCCESS ? StoreOutcome::kStored : StoreOutcome::kUnavailable;
}

}  // namespace inquest::epilog
