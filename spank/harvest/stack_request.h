/* Asks living processes for fresh Python stacks: a real-time signal makes the hook's faulthandler append them
 * to stack-<pid>-<start>.txt in the box directory, also when the main thread is stuck in C++. */
#ifndef INQUEST_SPANK_HARVEST_STACK_REQUEST_H
#define INQUEST_SPANK_HARVEST_STACK_REQUEST_H

#include <cstdint>
#include <string>
#include <vector>

#include "spank/harvest/harvest_system.h"

namespace inquest::harvest {

struct StackRequest {
    ProcessIdentity process;
    int signal = 0; /* inquest_box_live.stack_signal: hostile */
};

/* Signals each process whose identity still matches, whose uids are ours and which catches the signal
 * (SigCgt), then waits until each stack file has grown and rests, or until `deadline_mono_ns`. A signal that
 * is not caught would kill the process: it is never sent. Requests with signal 0 are skipped. Returns one
 * line of damage for each process that gave no stacks. */
std::vector<std::string> request_stacks(int directory_fd, const std::vector<StackRequest>& requests,
                                        uint64_t deadline_mono_ns, const HarvestSystem& system);

}  // namespace inquest::harvest

#endif
