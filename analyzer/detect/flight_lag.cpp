// Flight recorder dumps of ranks without a black box: who is behind in a group's calls. A dump is a snapshot,
// so being behind is a fact about that moment, not a cause.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/detect/detect.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::FlightEntry;
using model::FlightRecord;
using model::Observation;

struct Last {
    int64_t sequence = -1;  // of the last call that the rank's recorder holds; -1: none
    bool open = false;
    const FlightEntry* entry = nullptr;
};

// By group, then by rank: every member whose dump was read.
using Groups = std::map<std::string, std::map<int, Last>>;

Groups known_members(const model::Timeline& timeline) {
    std::set<int> dumped;
    for (const FlightRecord& flight : timeline.unattached_flights) {
        if (flight.rank) dumped.insert(*flight.rank);
    }
    Groups groups;
    for (const FlightRecord& flight : timeline.unattached_flights) {
        for (const auto& [group, ranks] : flight.group_ranks) {
            for (const int rank : ranks) {
                if (dumped.count(rank) != 0) groups[group][rank];
            }
        }
    }
    return groups;
}

Groups last_calls(const model::Timeline& timeline) {
    Groups groups = known_members(timeline);
    for (const FlightRecord& flight : timeline.unattached_flights) {
        if (!flight.rank) continue;
        for (const FlightEntry& entry : flight.entries) {
            if (entry.is_p2p) continue;
            Last& last = groups[entry.group][*flight.rank];
            if (entry.collective_sequence <= last.sequence) continue;
            last = {entry.collective_sequence, entry.state != "completed", &entry};
        }
    }
    return groups;
}

const Last& furthest(const std::map<int, Last>& members) {
    return std::max_element(
               members.begin(), members.end(),
               [](const auto& a, const auto& b) { return a.second.sequence < b.second.sequence; })
        ->second;
}

std::set<int> behind_in(const std::map<int, Last>& members) {
    const int64_t most = furthest(members).sequence;
    std::set<int> behind;
    for (const auto& [rank, last] : members) {
        if (last.sequence < most) behind.insert(rank);
    }
    return behind;
}

// Waits, in some group, for a member that has not come as far.
bool is_held_up(const Groups& groups, int rank) {
    return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
        const auto own = group.second.find(rank);
        if (own == group.second.end() || !own->second.open) return false;
        return std::any_of(group.second.begin(), group.second.end(),
                           [&](const auto& other) { return other.second.sequence < own->second.sequence; });
    });
}

// Ranks that are behind and that nobody holds up; all that are behind where everybody waits for somebody.
std::set<int> laggards(const Groups& groups) {
    std::set<int> behind;
    for (const auto& [name, members] : groups)
        behind.merge(behind_in(members));
    std::set<int> first;
    std::copy_if(behind.begin(), behind.end(), std::inserter(first, first.end()),
                 [&](int rank) { return !is_held_up(groups, rank); });
    return first.empty() ? behind : first;
}

std::string lag_text(const std::string& group, const std::map<int, Last>& members, int rank) {
    const Last& own = members.at(rank);
    const Last& most = furthest(members);
    std::vector<int> ahead;
    for (const auto& [member, last] : members) {
        if (last.sequence == most.sequence) ahead.push_back(member);
    }
    const std::string where = own.entry == nullptr
                                  ? std::string("no call at all")
                                  : fmt::format("{} #{} as its last", own.entry->operation, own.sequence);
    return fmt::format("in group {} the recorder of rank {} holds {}, that of {} holds {} #{}", group, rank,
                       where, knowledge::describe_ranks(ahead), most.entry->operation, most.sequence);
}

// The group in which the rank is furthest behind.
std::string worst_lag(const Groups& groups, int rank) {
    int64_t worst = 0;
    std::string text;
    for (const auto& [name, members] : groups) {
        const auto own = members.find(rank);
        if (own == members.end()) continue;
        const int64_t lag = furthest(members).sequence - own->second.sequence;
        if (lag <= worst) continue;
        worst = lag;
        text = lag_text(name, members, rank);
    }
    return text;
}

}  // namespace

Observations detect_flight_lag(const StepView& step) {
    const Groups groups = last_calls(*step.timeline);
    const std::set<int> ranks = laggards(groups);
    if (ranks.empty()) return {};
    Observation observation;
    observation.fact = "flight_lag";
    std::set<int> others;
    for (const FlightRecord& flight : step.timeline->unattached_flights) {
        if (!flight.rank) continue;
        if (ranks.count(*flight.rank) == 0) {
            others.insert(*flight.rank);
            continue;
        }
        observation.subjects.push_back({*flight.rank, "", 0, {}});
        observation.evidence.push_back({flight.source, *flight.rank, 0, worst_lag(groups, *flight.rank)});
    }
    std::sort(observation.subjects.begin(), observation.subjects.end(),
              [](const model::Subject& a, const model::Subject& b) { return *a.rank < *b.rank; });
    observation.attributes = {{"others", knowledge::describe_ranks({others.begin(), others.end()})},
                              {"lag", observation.evidence.front().text}};
    return {observation};
}

}  // namespace inquest::detect
