/* Cancels the job as its user. */
#ifndef INQUEST_SPANK_WATCH_CANCEL_JOB_H
#define INQUEST_SPANK_WATCH_CANCEL_JOB_H

#include <cstdint>
#include <string>

namespace inquest::watch {

/* Runs `scancel JOB` without waiting for it, for at most 30 seconds; it may outlive the caller. slurm_conf:
 * the value of SLURM_CONF, empty for Slurm's own place. */
void cancel_job(const std::string& scancel, const std::string& slurm_conf, uint32_t job_id);

}  // namespace inquest::watch

#endif
