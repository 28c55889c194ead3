// Where and when a log line stands.
#pragma once
#include <cstdint>

#include "analyzer/detect/step_view.h"

namespace inquest::detect {

struct LogPosition {
    model::SourceRef source;
    WallNs wall_ns = 0;  // 0: the line has no time, or one in a zone that is not known
    int64_t order = 0;   // grows within a file and from file to file
};

LogPosition position_of(const StepView& step, size_t file, const model::LogLine& line);

// The rank as a subject, with node and process when a black box tells them.
model::Subject subject_in_log(const StepView& step, int rank);

}  // namespace inquest::detect
