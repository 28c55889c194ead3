/* Optimizers are numbered by each process alone. Where one rank trains a model more, as a probe, its numbers
 * name other models from there on, and nothing may be compared. The analyzer has the same rule
 * (analyzer/detect/checkpoints.cpp); both are held against tests/support/ordinal_cases.h. */
#ifndef INQUEST_SPANK_REPLICAS_ORDINALS_H
#define INQUEST_SPANK_REPLICAS_ORDINALS_H

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "spank/replicas/replica_group.h"

namespace inquest::replicas {

using GroupKey = std::pair<uint64_t, std::string>; /* ordinal of the optimizer, ranks */

constexpr uint64_t kNoneShifted = std::numeric_limits<uint64_t>::max();

/* The first ordinal that names another model on some rank, by what the ranks have reported so far: each rank
 * is held against the first one of its group. All groups are those of one world. */
uint64_t first_shifted(const std::map<GroupKey, ReplicaGroup>& groups);

}  // namespace inquest::replicas

#endif
