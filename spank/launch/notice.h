/* The program inquest-notice: prints a step's notice beside srun, once, and once more at the end if it has
 * changed. */
#pragma once

#include <optional>
#include <string>

#include "spank/launch/exit_status.h"

namespace inquest::launch {

/* Decides what to print when; knows no files and no clock. */
class NoticePrinter {
 public:
    /* Text to print now for the notice as it is; "" for nothing. `at_end`: srun is ending, nothing comes
     * later. */
    std::string next(const std::optional<std::string>& notice, bool at_end);

 private:
    std::optional<std::string> printed_;
};

/* inquest-notice --report DIRECTORY --step NAME. Runs until its standard input ends or its parent is gone.
 * Then, when evidence of the step exists but no notice yet, it waits up to kLastWaitMs for it. */
ExitStatus run_notice(int argument_count, const char* const* arguments);

inline constexpr int kLookIntervalMs = 1000;
inline constexpr int kLastWaitMs = 4700; /* srun waits 5000 in all */

}  // namespace inquest::launch
