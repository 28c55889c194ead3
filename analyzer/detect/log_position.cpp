#include "analyzer/detect/log_position.h"

#include <algorithm>

namespace inquest::detect {
namespace {

// More lines than a log that was read can have.
constexpr int64_t kOrderPerFile = int64_t{1} << 32;

}  // namespace

LogPosition position_of(const StepView& step, size_t file, const model::LogLine& line) {
    LogPosition position;
    position.source = {step.timeline->logs[file].name, "line " + std::to_string(line.number)};
    if (line.wall_ns && line.clock == model::LogClock::kUtc) position.wall_ns = *line.wall_ns;
    position.order = static_cast<int64_t>(file) * kOrderPerFile + line.number;
    return position;
}

model::Subject subject_in_log(const StepView& step, int rank) {
    const auto found = std::find_if(step.ranks.begin(), step.ranks.end(),
                                    [&](const RankView& view) { return *view.rank->rank == rank; });
    if (found != step.ranks.end()) return subject_of(*found);
    return {rank, {}, 0, {}};
}

}  // namespace inquest::detect
