#include "epilog/record_store.h"

#include "epilog/child.h"
#include "epilog/slurmdb_session.h"

namespace inquest::epilog {
namespace {

constexpr int kFirstExitStatus = 10; /* apart from what libslurm's own exits use */

}  // namespace

StoreOutcome store_record(const RecordEntry& entry, Deadline deadline) {
    const ChildResult child = run_in_child(
        deadline, 0, [&](int) { return kFirstExitStatus + static_cast<int>(store_through_slurmdbd(entry)); });
    const int outcome = child.exit_status - kFirstExitStatus;
    const bool known = outcome >= 0 && outcome <= static_cast<int>(StoreOutcome::kUnavailable);
    return child.end == ChildEnd::kExited && known ? static_cast<StoreOutcome>(outcome)
                                                   : StoreOutcome::kUnavailable;
}

bool is_worth_retrying(StoreOutcome outcome) {
    return outcome == StoreOutcome::kNoRecord || outcome == StoreOutcome::kUnavailable;
}

const char* describe(StoreOutcome outcome) {
    switch (outcome) {
        case StoreOutcome::kStored:
            return "stored";
        case StoreOutcome::kKept:
            return "the value that was there is kept";
        case StoreOutcome::kOtherRun:
            return "the job's record is of another run";
        case StoreOutcome::kNoRecord:
            return "the accounting does not have the job";
        case StoreOutcome::kUnavailable:
            break;
    }
    return "slurmdbd is not available";
}

}  // namespace inquest::epilog
