#include "epilog/record_store.h"

#include <algorithm>

#include "epilog/child.h"
#include "epilog/record_line.h"
#include "epilog/slurmctld_session.h"
#include "epilog/slurmdb_session.h"

namespace inquest::epilog {
namespace {

constexpr int kFirstExitStatus = 10; /* apart from what libslurm's own exits use */

StoreOutcome store_in_child(StoreOutcome (*store)(const RecordEntry&), const RecordEntry& entry,
                            Deadline deadline) {
    const ChildResult child =
        run_in_child(deadline, 0, [&](int) { return kFirstExitStatus + static_cast<int>(store(entry)); });
    const int outcome = child.exit_status - kFirstExitStatus;
    const bool known = outcome >= 0 && outcome <= static_cast<int>(StoreOutcome::kUnavailable);
    return child.end == ChildEnd::kExited && known ? static_cast<StoreOutcome>(outcome)
                                                   : StoreOutcome::kUnavailable;
}

/* Each run has report directories of its own. A line without one may be about any run. */
bool is_about_other_run(const std::string& value, const RecordEntry& entry) {
    const std::string_view name = named_report(value);
    const auto& names = entry.report_names;
    return !name.empty() && !names.empty() && std::find(names.begin(), names.end(), name) == names.end();
}

}  // namespace

StoreOutcome store_record(const RecordEntry& entry, Deadline deadline) {
    return store_in_child(store_through_slurmdbd, entry, deadline);
}

StoreOutcome store_in_running_job(const RecordEntry& entry, Deadline deadline) {
    return store_in_child(store_through_slurmctld, entry, deadline);
}

bool may_replace(const std::string& value, const RecordEntry& entry) {
    if (value.empty()) return !entry.line.empty();
    if (!value.starts_with(kRecordLinePrefix)) return false;
    return entry.replaces_own || is_about_other_run(value, entry);
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
