/* What a harvest asks the machine for. Tests replace it, so that they need no sleep, no root and no signal.
 */
#ifndef INQUEST_SPANK_HARVEST_HARVEST_SYSTEM_H
#define INQUEST_SPANK_HARVEST_HARVEST_SYSTEM_H

#include <cstdint>
#include <functional>
#include <string>

#include "spank/harvest/process_table.h"

namespace inquest::harvest {

struct HarvestSystem {
    std::function<uint64_t()> mono_ns; /* CLOCK_MONOTONIC */
    std::function<uint64_t()> wall_ns; /* CLOCK_REALTIME */
    std::function<void(uint64_t)> sleep_ns;
    /* Sends a signal to exactly this process; false when it is gone or may not be signalled. */
    std::function<bool(const ProcessIdentity&, int)> send_signal;
    std::string proc_root;
};

/* The machine itself. Signals go through a pidfd where the kernel has one (pidfd_open(2), Linux 5.3), so that
 * a reused pid is never hit. */
HarvestSystem real_system();

}  // namespace inquest::harvest

#endif
