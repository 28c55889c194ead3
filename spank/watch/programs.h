/* The programs that a step worker runs, and what they need to know. */
#ifndef INQUEST_SPANK_WATCH_PROGRAMS_H
#define INQUEST_SPANK_WATCH_PROGRAMS_H

#include <string>

namespace inquest::watch {

struct WorkerPrograms {
    std::string analyzer;
    std::string scancel;
    std::string slurm_conf; /* the daemon's SLURM_CONF, empty without one */
};

}  // namespace inquest::watch

#endif
