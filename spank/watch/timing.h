/* How long the parts of one event take at most: what waits for others derives its patience from theirs. */
#ifndef INQUEST_SPANK_WATCH_TIMING_H
#define INQUEST_SPANK_WATCH_TIMING_H

#include <cstdint>

namespace inquest::watch {

constexpr uint64_t kNsPerSecond = 1000000000U;

/* A worker looks for the sign of other nodes this often... */
constexpr uint64_t kSignEveryNs = kNsPerSecond;
/* ... and harvests for this long, plus the time of one file operation. */
constexpr uint64_t kHarvestNs = 8U * kNsPerSecond;

/* A node that is there has written its evidence when this has passed since the sign. */
constexpr uint64_t kWaitForNodesNs = kSignEveryNs + kHarvestNs + kNsPerSecond;

}  // namespace inquest::watch

#endif
