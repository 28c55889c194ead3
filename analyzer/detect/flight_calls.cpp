#include "analyzer/detect/flight_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace inquest::detect {
namespace {

// What each rank did at one sequence number of one group; "" for a rank without an entry.
using Doings = std::map<int, std::string>;

std::string doing_of(const model::FlightEntry& entry) {
    std::string text = entry.operation;
    for (const auto& sizes : entry.input_sizes) {
        text += '[';
        for (const int64_t size : sizes)
            text += std::to_string(size) + ',';
        text += ']';
    }
    for (const std::string& dtype : entry.input_dtypes)
        text += dtype;
    return text;
}

using Key = std::pair<std::string, int64_t>;

std::map<Key, Doings> collect(const StepView& step, std::set<int>& recorded) {
    std::map<Key, Doings> by_sequence;
    for (const RankView& view : step.ranks) {
        if (!view.rank->flight) continue;
        recorded.insert(*view.rank->rank);
        for (const model::FlightEntry& entry : view.rank->flight->entries) {
            if (entry.is_p2p || entry.collective_sequence < 0) continue;
            by_sequence[{entry.group, entry.collective_sequence}][*view.rank->rank] = doing_of(entry);
        }
    }
    return by_sequence;
}

}  // namespace

bool flight_splits_alike(const StepView& step, const std::vector<int>& side) {
    std::set<int> recorded;
    for (const auto& [key, doings] : collect(step, recorded)) {
        std::map<std::string, std::set<int>> sides;
        for (const int rank : recorded) {
            const auto found = doings.find(rank);
            sides[found == doings.end() ? std::string() : found->second].insert(rank);
        }
        if (sides.size() < 2) continue;
        const std::set<int> wanted(side.begin(), side.end());
        return std::any_of(sides.begin(), sides.end(), [&](const auto& one) { return one.second == wanted; });
    }
    return false;
}

}  // namespace inquest::detect
