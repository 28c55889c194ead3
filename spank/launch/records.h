/* The answer to the plugin: NAME=VALUE records, each ended by NUL. The last one is INQUEST_ARMED=1 or
 * INQUEST_DISARMED=reason. */
#pragma once

#include <string>

#include "spank/launch/decision.h"

namespace inquest::launch {

inline constexpr size_t kRecordsMaxBytes = size_t{64} * 1024; /* the plugin reads no more */

/* An answer that would be larger becomes a disarmed one. */
std::string to_records(const Decision& decision);

/* The same for people, with reasons, one line each. */
std::string to_text(const Decision& decision);

}  // namespace inquest::launch
