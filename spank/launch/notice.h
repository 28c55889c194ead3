/* The program inquest-notice: prints a step's notice beside srun, once, and once more at the end if it has
 * changed; what does not hold any more it takes back at once. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spank/launch/exit_status.h"
#include "spank/launch/notice_source.h"

namespace inquest::launch {

/* Decides what to print when; knows no files and no clock. */
class NoticePrinter {
 public:
    /* Text to print now for the notice as it is; "" for nothing. An empty notice has nothing to say: what was
     * printed before is then taken back. `at_end`: srun is ending, nothing comes later. */
    std::string next(const std::optional<std::string>& notice, bool at_end);

 private:
    std::string take_back();

    std::optional<std::string> printed_;
};

/* inquest-notice --report DIRECTORY --step NAME. Runs until its standard input ends or its parent is gone.
 * Then, while evidence of the step exists whose notice is not final yet, it waits, up to kLastWaitMs. */
ExitStatus run_notice(int argument_count, const char* const* arguments);

/* Whether the notice says what there is to say: it is not older than any node's evidence, and it was written
 * after srun's end or no node has written anything for kSettleMs since that end. */
bool is_final(const std::optional<Notice>& notice, int64_t evidence_written_ns, int64_t end_wall_ns,
              int64_t now_wall_ns);

inline constexpr int kLookIntervalMs = 1000;
inline constexpr int kSettleMs = 1500;
inline constexpr int kLastWaitMs = 4700; /* srun waits 5000 in all */

}  // namespace inquest::launch
