/* The daemon's child that puts the diagnosis of a running step into the job's record: `inquest-epilog --live`
 * (docs/man/inquest-epilog.8.md), as root. */
#ifndef INQUEST_SPANK_WATCH_RECORD_PROCESS_H
#define INQUEST_SPANK_WATCH_RECORD_PROCESS_H

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "spank/watch/step_worker.h"

namespace inquest::watch {

struct RecordProcess {
    pid_t pid = -1;
    StepKey step;
    uint64_t deadline_mono_ns = 0;
};

/* Starts it with an empty environment but SLURM_CONF, no input and no open descriptors. field: as the
 * epilog's option --field. A pid of -1: no process was to be had. */
pid_t start_record_process(const std::string& epilog, const std::string& field, const std::string& slurm_conf,
                           const StepKey& step);

}  // namespace inquest::watch

#endif
