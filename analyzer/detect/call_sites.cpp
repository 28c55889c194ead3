#include "analyzer/detect/call_sites.h"

#include <algorithm>

namespace inquest::detect {
namespace {

// More additional calls than this are not one call site that some ranks entered, but different programs.
constexpr int64_t kMostAdditionalCalls = 8;

const model::CollectiveCall* call_at(const CallsOfRank& calls, int64_t position) {
    const auto found = calls.find(position);
    return found == calls.end() ? nullptr : found->second;
}

bool agrees_shifted(const CallsOfRank& longer, const CallsOfRank& shorter, int64_t position, int64_t shift) {
    int64_t compared = 0;
    for (int64_t at = position;; ++at) {
        const model::CollectiveCall* a = call_at(longer, at + shift);
        const model::CollectiveCall* b = call_at(shorter, at);
        if (a == nullptr || b == nullptr) return compared > 0;
        if (!same_site(*a, *b)) return false;
        ++compared;
    }
}

}  // namespace

bool knows_site(const GroupCalls& group, const std::vector<size_t>& ranks, const model::CollectiveCall& site,
                int64_t position) {
    return std::any_of(ranks.begin(), ranks.end(), [&](size_t rank) {
        const CallsOfRank& calls = group.calls.at(rank);
        return std::any_of(calls.begin(), calls.end(), [&](const auto& entry) {
            return entry.first != position && same_site(*entry.second, site);
        });
    });
}

bool agrees_without_calls(const CallsOfRank& longer, const CallsOfRank& shorter, int64_t position) {
    for (int64_t shift = 1; shift <= kMostAdditionalCalls; ++shift) {
        if (agrees_shifted(longer, shorter, position, shift)) return true;
    }
    return false;
}

std::optional<int64_t> first_site_difference(const CallsOfRank& a, const CallsOfRank& b, int64_t limit) {
    for (const auto& [position, call] : a) {
        if (position >= limit) break;
        const model::CollectiveCall* other = call_at(b, position);
        if (other != nullptr && !same_site(*call, *other)) return position;
    }
    return std::nullopt;
}

bool has_followed(const CallsOfRank& calls, const model::CollectiveCall& before,
                  const model::CollectiveCall& next, int64_t limit) {
    return std::any_of(calls.begin(), calls.end(), [&](const auto& entry) {
        const model::CollectiveCall* after = call_at(calls, entry.first + 1);
        return entry.first + 1 < limit && after != nullptr && same_site(*entry.second, before) &&
               same_site(*after, next);
    });
}

}  // namespace inquest::detect
