/* Tells inquestd on this node that a job has ended (INQUEST_JOB_END, spank/format/step_journal.h). */
#pragma once

#include <string>

#include "epilog/deadline.h"
#include "epilog/job.h"

namespace inquest::epilog {

enum class DaemonAnswer {
    kDone,   /* no worker of the job is left */
    kAbsent, /* nobody listens */
    kNoHelp  /* refused, or no answer before the deadline */
};

DaemonAnswer tell_daemon_job_end(const std::string& socket_path, const Job& job, Deadline deadline);

}  // namespace inquest::epilog
