/* The record of a job that still runs: inquestd runs `inquest-epilog --live JOB STEP` when the diagnosis of a
 * running step is worth it. */
#pragma once

#include <cstdint>
#include <string>

#include "epilog/job_end.h"

namespace inquest::epilog {

struct LiveStep {
    std::uint32_t job_id;
    std::string name; /* "0", "batch" */
};

/* Puts the step's diagnosis, as it stands in the report directory, into the job's record through slurmctld.
 * The epilog writes it again at the end of the job, through slurmdbd. A diagnosis
 * that has nothing to tell takes away the line of an earlier one. Without a diagnosis, in a job that was
 * restarted, what the record says about an earlier run is taken away. Reports problems to syslog. */
void record_live(const JobEndPaths& paths, const LiveStep& live, RecordField field, Deadline deadline);

}  // namespace inquest::epilog
