#include "analyzer/detect/flight_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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

using Key = std::pair<std::string_view, int64_t>;  // group and sequence number

bool same_doing(const model::FlightEntry& a, const model::FlightEntry& b) {
    return a.operation == b.operation && a.input_sizes == b.input_sizes && a.input_dtypes == b.input_dtypes;
}

// Calls handle(rank, key, entry) for every collective of every flight recorder, rank by rank.
template <typename Handle>
void for_each_call(const StepView& step, Handle handle) {
    for (const RankView& view : step.ranks) {
        if (!view.rank->flight) continue;
        for (const model::FlightEntry& entry : view.rank->flight->entries) {
            if (entry.is_p2p || entry.collective_sequence < 0) continue;
            handle(*view.rank->rank, Key(entry.group, entry.collective_sequence), entry);
        }
    }
}

std::set<int> recorded_ranks(const StepView& step) {
    std::set<int> recorded;
    for (const RankView& view : step.ranks) {
        if (view.rank->flight) recorded.insert(*view.rank->rank);
    }
    return recorded;
}

struct Agreement {
    const model::FlightEntry* first = nullptr;
    int last_rank = -1;
    size_t ranks = 0;
    bool alike = true;
};

// What the ranks did, only where it was not the same on all: nearly everywhere it is.
std::map<Key, Doings> collect_differences(const StepView& step, size_t recorded) {
    std::map<Key, Agreement> agreements;
    for_each_call(step, [&](int rank, const Key& key, const model::FlightEntry& entry) {
        Agreement& at = agreements[key];
        if (at.first == nullptr) at.first = &entry;
        at.alike = at.alike && same_doing(*at.first, entry);
        at.ranks += at.last_rank == rank ? 0 : 1;
        at.last_rank = rank;
    });
    std::map<Key, Doings> differences;
    for (const auto& [key, at] : agreements) {
        if (!at.alike || at.ranks < recorded) differences[key];
    }
    for_each_call(step, [&](int rank, const Key& key, const model::FlightEntry& entry) {
        const auto found = differences.find(key);
        if (found != differences.end()) found->second[rank] = doing_of(entry);
    });
    return differences;
}

}  // namespace

bool flight_splits_alike(const StepView& step, const std::vector<int>& side) {
    const std::set<int> recorded = recorded_ranks(step);
    for (const auto& [key, doings] : collect_differences(step, recorded.size())) {
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
