#include "analyzer/knowledge/match_condition.h"

#include <algorithm>

namespace inquest::knowledge {
namespace {

bool has_attributes(const model::Observation& observation, const Condition& condition) {
    return std::all_of(condition.where.begin(), condition.where.end(), [&](const auto& wanted) {
        const auto found = observation.attributes.find(wanted.first);
        if (found == observation.attributes.end()) return false;
        return std::find(wanted.second.begin(), wanted.second.end(), found->second) != wanted.second.end();
    });
}

bool same_process(const model::Subject& a, const model::Subject& b) {
    if (a.rank && b.rank) return *a.rank == *b.rank;
    return a.pid != 0 && a.pid == b.pid && a.node == b.node;
}

bool holds_rank_relation(const model::Observation& observation, const Condition& condition,
                         const model::Observation* subject) {
    if (condition.ranks == RankRelation::kAny) return true;
    if (subject == nullptr) return false;
    return shares_a_rank(observation, *subject) == (condition.ranks == RankRelation::kSame);
}

bool holds_time_relation(const model::Observation& observation, const Condition& condition,
                         const model::Observation* subject) {
    if (condition.when == TimeRelation::kAny) return true;
    if (subject == nullptr) return false;
    return condition.when == TimeRelation::kBefore ? happened_before(observation, *subject)
                                                   : happened_before(*subject, observation);
}

}  // namespace

bool happened_before(const model::Observation& a, const model::Observation& b) {
    if (a.wall_ns != 0 && b.wall_ns != 0) return a.wall_ns < b.wall_ns;
    return a.log_order != 0 && b.log_order != 0 && a.log_order < b.log_order;
}

bool shares_a_rank(const model::Observation& a, const model::Observation& b) {
    return std::any_of(a.subjects.begin(), a.subjects.end(), [&](const model::Subject& mine) {
        return std::any_of(b.subjects.begin(), b.subjects.end(),
                           [&](const model::Subject& other) { return same_process(mine, other); });
    });
}

bool satisfies(const model::Observation& observation, const Condition& condition,
               const model::Observation* subject) {
    return observation.fact == condition.fact && has_attributes(observation, condition) &&
           holds_rank_relation(observation, condition, subject) &&
           holds_time_relation(observation, condition, subject);
}

ObservationRefs find_all(const Observations& observations, const Condition& condition,
                         const model::Observation* subject) {
    ObservationRefs found;
    for (const model::Observation& observation : observations) {
        if (satisfies(observation, condition, subject)) found.push_back(&observation);
    }
    return found;
}

}  // namespace inquest::knowledge
