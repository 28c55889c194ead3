#include "spank/replicas/ordinals.h"

#include <algorithm>
#include <vector>

namespace inquest::replicas {
namespace {

/* The groups in which a rank has named its model; mostly one. */
using NamedBy = std::map<uint32_t, std::vector<const ReplicaGroup*>>;
using Named = std::map<uint64_t, NamedBy>; /* by ordinal */

Named collect_named(const std::map<GroupKey, ReplicaGroup>& groups) {
    Named named;
    for (const auto& [key, group] : groups)
        for (uint32_t index = 0; index < group.ranks().size(); index++)
            if (group.names().has_any(index)) named[key.first][group.ranks()[index]].push_back(&group);
    return named;
}

bool have_different_counts(const Named& named) {
    std::map<uint32_t, size_t> counts;
    for (const auto& [ordinal, by_rank] : named)
        for (const auto& [rank, groups] : by_rank)
            counts[rank]++;
    return std::any_of(counts.begin(), counts.end(),
                       [&](const auto& one) { return one.second != counts.begin()->second; });
}

/* The first rank of each group that has named its model. */
class FirstRanks {
 public:
    explicit FirstRanks(const NamedBy& by_rank) : by_rank_(by_rank) {}

    uint32_t of(const ReplicaGroup& group) {
        const auto [found, is_new] = known_.try_emplace(&group, 0);
        if (is_new)
            found->second = *std::find_if(group.ranks().begin(), group.ranks().end(),
                                          [&](uint32_t rank) { return by_rank_.count(rank) != 0; });
        return found->second;
    }

 private:
    const NamedBy& by_rank_;
    std::map<const ReplicaGroup*, uint32_t> known_;
};

bool have_common(const std::vector<const ReplicaGroup*>& groups, uint32_t first, uint32_t rank,
                 bool with_place) {
    return std::any_of(groups.begin(), groups.end(), [&](const ReplicaGroup* group) {
        const auto one = group->index_of(first);
        return one && group->names().have_common(*one, *group->index_of(rank), with_place);
    });
}

bool names_differ(const NamedBy& by_rank, bool with_place) {
    FirstRanks first_ranks(by_rank);
    return std::any_of(by_rank.begin(), by_rank.end(), [&](const auto& one) {
        const ReplicaGroup* group =
            *std::min_element(one.second.begin(), one.second.end(),
                              [](const auto* a, const auto* b) { return a->ranks() < b->ranks(); });
        return !have_common(one.second, first_ranks.of(*group), one.first, with_place);
    });
}

}  // namespace

uint64_t first_shifted(const std::map<GroupKey, ReplicaGroup>& groups) {
    const Named named = collect_named(groups);
    const bool with_place = have_different_counts(named);
    const auto found = std::find_if(named.begin(), named.end(),
                                    [&](const auto& one) { return names_differ(one.second, with_place); });
    return found == named.end() ? kNoneShifted : found->first;
}

}  // namespace inquest::replicas
