// Time stamps of log lines.
#pragma once
#include <optional>
#include <string_view>

#include "analyzer/model/timeline.h"

namespace inquest::evidence {

struct LogTime {
    model::WallNs wall_ns = 0;
    model::LogClock clock = model::LogClock::kUtc;
};

// The first time stamp near the beginning of a line. Known: ISO 8601 with and without zone
// ("2024-08-23T22:22:50.870Z", "2024-05-07 15:51:09,140", "2024/05/07 15:51:09"), glog's "E1026
// 04:01:29.510593654" (month without padding, two digits of day, no year; PyTorch logs it), "I20241026
// 04:01:29.5" and syslog's "Oct 26 04:01:29". A stamp without a year is in 1972, a leap year.
std::optional<LogTime> find_log_time(std::string_view line);

// Moves stamps without a year into the year that brings them closest to a dated line of the file or, without
// one, to `reference_wall_ns` (0: unknown; then they stay).
void resolve_years(model::LogFile& log, model::WallNs reference_wall_ns);

}  // namespace inquest::evidence
