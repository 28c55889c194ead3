/* The conversation with slurmctld about a job that still runs. Only for a child process (record_store.h). */
#pragma once

#include "epilog/record_store.h"

namespace inquest::epilog {

/* slurmctld takes changes of a job only until it ends, and passes the value on to the accounting then
 * (job_mgr.c, _update_job; Slurm 22.05 to 26.05). */
StoreOutcome store_through_slurmctld(const RecordEntry& entry);

}  // namespace inquest::epilog
