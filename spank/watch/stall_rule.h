/* When a node counts as stalled. Pure. */
#ifndef INQUEST_SPANK_WATCH_STALL_RULE_H
#define INQUEST_SPANK_WATCH_STALL_RULE_H

#include <cstdint>
#include <optional>
#include <vector>

#include "spank/format/black_box.h"

namespace inquest::watch {

/* Whether the process waits for other ranks: a collective is open, or it is in backward (where DDP's reducer
 * waits in C++) or in the set-up of a further process group. A process without its default group is starting:
 * others may take long to get there (import, data, a slow file system), and torch has a time-out for that. */
bool is_waiting(const inquest_box_live& live);

/* The time of the newest progress of any living process of the node, when that is at least `stall_ns` ago and
 * at least one process waits; otherwise nothing. A node on which nobody waits is working or elsewhere and
 * never stalls by itself. A time of progress in the future is taken as now. */
std::optional<uint64_t> stalled_since(const std::vector<inquest_box_live>& living, uint64_t stall_ns,
                                      uint64_t now_mono_ns);

}  // namespace inquest::watch

#endif
