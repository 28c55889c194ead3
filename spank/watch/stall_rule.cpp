#include "spank/watch/stall_rule.h"

#include <algorithm>

namespace inquest::watch {

bool is_waiting(const inquest_box_live& live) {
    if (live.state < INQUEST_STATE_GROUP_READY) return false;
    return live.collectives_begun > live.collectives_ended || live.phase == INQUEST_PHASE_BACKWARD ||
           live.phase == INQUEST_PHASE_GROUP_SETUP;
}

std::optional<uint64_t> stalled_since(const std::vector<inquest_box_live>& living, uint64_t stall_ns,
                                      uint64_t now_mono_ns) {
    if (stall_ns == 0 || std::none_of(living.begin(), living.end(), is_waiting)) return std::nullopt;
    uint64_t newest = 0;
    for (const inquest_box_live& live : living)
        newest = std::max(newest, std::min(live.last_progress_mono_ns, now_mono_ns));
    return now_mono_ns - newest >= stall_ns ? std::optional(newest) : std::nullopt;
}

}  // namespace inquest::watch
