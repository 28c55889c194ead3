/* Puts a record line into the job's record: of a job that has ended through slurmdbd, of a running one
 * through slurmctld.
 *
 * slurmctld refuses to change a job that has ended, also while its epilogs run, so slurmdbd is the only way
 * (Slurm 22.05 to 26.05). libslurm ends the calling process on some errors and may wait long for a
 * connection, so all of it happens in a child with a deadline. SLURM_CONF is honoured. */
#pragma once

#include "epilog/deadline.h"
#include "epilog/spool.h"

namespace inquest::epilog {

enum class StoreOutcome {
    kStored,
    kKept,       /* another program's value is there, or an earlier line that this one may not replace */
    kOtherRun,   /* the record that a change by job id reaches is of another run of a requeued job */
    kNoRecord,   /* slurmdbd does not know the job (yet) */
    kUnavailable /* no slurmdbd, an error, or the deadline */
};

StoreOutcome store_record(const RecordEntry& entry, Deadline deadline);

/* The same for a job that still runs, through slurmctld: the only way then. Of the entry the cluster does not
 * matter. */
StoreOutcome store_in_running_job(const RecordEntry& entry, Deadline deadline);

/* Whether the line may take the place of this value: nobody else's, and of our own as the entry says. One
 * about another run of a requeued job always gives way: slurmctld hands the value of one run on to the next
 * [seen on 22.05.8]. */
bool may_replace(const std::string& value, const RecordEntry& entry);

/* Whether a later attempt may store the line. */
bool is_worth_retrying(StoreOutcome outcome);

/* For the log: what the outcome means. */
const char* describe(StoreOutcome outcome);

}  // namespace inquest::epilog
