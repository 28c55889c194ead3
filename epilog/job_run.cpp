#include "epilog/job_run.h"

#include <algorithm>

namespace inquest::epilog {
namespace {

const JobRun* latest_started(const std::vector<JobRun>& runs, std::int64_t run_wall_s) {
    const JobRun* latest = nullptr;
    for (const JobRun& run : runs) {
        if (run.started_wall_s > run_wall_s + kMaxClockSkewS) continue;
        if (latest == nullptr || run.submitted_wall_s > latest->submitted_wall_s) latest = &run;
    }
    return latest;
}

}  // namespace

std::optional<RunChoice> choose_run(const std::vector<JobRun>& runs, std::int64_t run_wall_s) {
    if (runs.size() == 1) return RunChoice{runs.front(), false};
    const JobRun* chosen = latest_started(runs, run_wall_s);
    if (chosen == nullptr) return std::nullopt;
    const auto is_newer = [&](const JobRun& run) { return run.submitted_wall_s > chosen->submitted_wall_s; };
    const bool newer_exists = std::any_of(runs.begin(), runs.end(), is_newer);
    const bool same_state = std::any_of(runs.begin(), runs.end(), [&](const JobRun& run) {
        return is_newer(run) && run.state == chosen->state;
    });
    if (same_state) return std::nullopt;
    return RunChoice{*chosen, newer_exists};
}

}  // namespace inquest::epilog
