// Maps the monotonic clock of one node to wall time, through two readings of both clocks at the same moment.
#pragma once
#include <cstdint>

#include "analyzer/model/rank.h"

namespace inquest::evidence {

struct ClockPair {
    uint64_t mono_ns = 0;
    uint64_t wall_ns = 0;

    // 0 (unknown) for a time of 0 and for times that do not fit.
    model::WallNs wall_of(uint64_t time_mono_ns) const {
        if (time_mono_ns == 0 || wall_ns == 0) return 0;
        constexpr uint64_t kMost = INT64_MAX;
        if (time_mono_ns > kMost || mono_ns > kMost || wall_ns > kMost) return 0;
        const int64_t since = static_cast<int64_t>(time_mono_ns) - static_cast<int64_t>(mono_ns);
        int64_t wall = 0;
        if (__builtin_add_overflow(static_cast<int64_t>(wall_ns), since, &wall)) return 0;
        return wall > 0 ? wall : 0;
    }
};

}  // namespace inquest::evidence
