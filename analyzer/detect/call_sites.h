// Compares the call sites of two ranks' sequences in one group.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/detect/group_calls.h"

namespace inquest::detect {

using CallsOfRank = std::map<int64_t, const model::CollectiveCall*>;

// Has one of `ranks` made a call at this site, at any position but `position`?
bool knows_site(const GroupCalls& group, const std::vector<size_t>& ranks, const model::CollectiveCall& site,
                int64_t position);

// True when leaving out up to eight calls of `longer` from `position` on makes everything that follows agree
// with `shorter`, and something follows.
bool agrees_without_calls(const CallsOfRank& longer, const CallsOfRank& shorter, int64_t position);

// The first position before `limit` at which the sites differ although the calls are compatible.
std::optional<int64_t> first_site_difference(const CallsOfRank& a, const CallsOfRank& b, int64_t limit);

// Has `next` ever been the call right after one at the site of `before`, earlier than `limit`?
bool has_followed(const CallsOfRank& calls, const model::CollectiveCall& before,
                  const model::CollectiveCall& next, int64_t limit);

}  // namespace inquest::detect
