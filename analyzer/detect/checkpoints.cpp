#include "analyzer/detect/checkpoints.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace inquest::detect {
namespace {

using model::StateDigest;
// With the number of tensors: see first_shifted().
using HistoryKey = std::tuple<int64_t, int, std::vector<int>, std::string, int64_t>;
// START before every STEP: step 0 has no STEP.
using MomentKey = std::pair<int64_t, int>;
using Moments = std::map<MomentKey, std::map<int, DigestOf>>;

// Running statistics have changed by the time of START: the first forward pass came before.
bool is_compared(const StateDigest& digest, int rank) {
    const bool start = digest.at.site == INQUEST_SITE_START && digest.part != INQUEST_PART_BUFFERS;
    const bool site = start || digest.at.site == INQUEST_SITE_STEP;
    return site && std::find(digest.ranks.begin(), digest.ranks.end(), rank) != digest.ranks.end();
}

bool equal(const StateDigest& a, const StateDigest& b) {
    return a.low == b.low && a.high == b.high && a.tensors == b.tensors;
}

History history_of(const HistoryKey& key, const Moments& moments) {
    History history;
    int part = 0;
    std::tie(history.optimizer, part, history.ranks, history.promise, std::ignore) = key;
    history.part = static_cast<inquest_part>(part);
    for (const auto& [moment, members] : moments) {
        if (members.size() < 2) continue;
        Comparison comparison;
        comparison.at = members.begin()->second.digest->at;
        for (const auto& [rank, member] : members)
            comparison.members.push_back(member);
        history.comparisons.push_back(std::move(comparison));
    }
    return history;
}

// Members with equal values, the largest side first; equally large ones in the order of their lowest rank.
std::vector<std::vector<DigestOf>> group_by_value(const Comparison& comparison) {
    std::vector<std::vector<DigestOf>> sides;
    for (const DigestOf& member : comparison.members) {
        const auto side = std::find_if(sides.begin(), sides.end(), [&](const auto& known) {
            return equal(*known.front().digest, *member.digest);
        });
        if (side == sides.end()) {
            sides.push_back({member});
        } else {
            side->push_back(member);
        }
    }
    std::stable_sort(sides.begin(), sides.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return sides;
}

// What an ordinal has named on one rank: the ranks that agree, the promise and the number of tensors; where
// these say too little, also where the step was called.
using Named = std::set<std::tuple<std::vector<int>, std::string, int64_t, std::string, int64_t>>;

Named::value_type name_of(const StateDigest& digest, bool with_place) {
    const model::Place place = with_place && digest.promise.empty() ? digest.place : model::Place{};
    return {digest.ranks, digest.promise, digest.tensors, place.file, place.line};
}

bool have_common(const Named& one, const Named& other) {
    return std::any_of(one.begin(), one.end(), [&](const auto& name) { return other.count(name) != 0; });
}

// Each rank against the first one of its group.
bool names_differ(const std::map<int, Named>& by_rank) {
    return std::any_of(by_rank.begin(), by_rank.end(), [&](const auto& entry) {
        const std::vector<int>& group = std::get<0>(*entry.second.begin());
        const auto first =
            std::find_if(group.begin(), group.end(), [&](int rank) { return by_rank.count(rank) != 0; });
        return !have_common(by_rank.at(*first), entry.second);
    });
}

bool is_compared_state(const RankView& view, const StateDigest& digest) {
    return digest.part == INQUEST_PART_PARAMETERS && is_compared(digest, *view.rank->rank);
}

bool have_different_counts(const StepView& step) {
    std::set<size_t> counts;
    for (const RankView& view : step.ranks) {
        std::set<int64_t> optimizers;
        for (const StateDigest& digest : view.rank->replica.digests) {
            if (is_compared_state(view, digest)) optimizers.insert(digest.at.optimizer);
        }
        if (!optimizers.empty()) counts.insert(optimizers.size());
    }
    return counts.size() > 1;
}

// Ordinals are counted by each process alone. Where one rank trains a model more, as a probe, its ordinals
// name other models from there on; the first optimizer for which that shows.
int64_t first_shifted(const StepView& step) {
    const bool with_place = have_different_counts(step);
    std::map<int64_t, std::map<int, Named>> named;
    for (const RankView& view : step.ranks) {
        for (const StateDigest& digest : view.rank->replica.digests) {
            if (!is_compared_state(view, digest)) continue;
            named[digest.at.optimizer][*view.rank->rank].insert(name_of(digest, with_place));
        }
    }
    const auto found =
        std::find_if(named.begin(), named.end(), [](const auto& one) { return names_differ(one.second); });
    return found == named.end() ? std::numeric_limits<int64_t>::max() : found->first;
}

}  // namespace

bool Comparison::agrees() const {
    return std::all_of(members.begin(), members.end(), [&](const DigestOf& member) {
        return equal(*member.digest, *members.front().digest);
    });
}

WallNs Comparison::wall_ns() const {
    WallNs first = members.front().digest->wall_ns;
    for (const DigestOf& member : members)
        first = std::min(first, member.digest->wall_ns);
    return first;
}

const Comparison* History::find(int64_t step, inquest_site site) const {
    for (const Comparison& comparison : comparisons) {
        if (comparison.at.step == step && comparison.at.site == site) return &comparison;
    }
    return nullptr;
}

std::vector<History> collect_histories(const StepView& step) {
    const int64_t shifted = first_shifted(step);
    std::map<HistoryKey, Moments> found;
    for (const RankView& view : step.ranks) {
        for (const StateDigest& digest : view.rank->replica.digests) {
            if (!is_compared(digest, *view.rank->rank) || digest.at.optimizer >= shifted) continue;
            const HistoryKey key(digest.at.optimizer, digest.part, digest.ranks, digest.promise,
                                 digest.tensors);
            found[key][{digest.at.step, digest.at.site}].insert_or_assign(*view.rank->rank,
                                                                          DigestOf{&view, &digest});
        }
    }
    std::vector<History> histories;
    for (const auto& [key, moments] : found) {
        History history = history_of(key, moments);
        if (!history.comparisons.empty()) histories.push_back(std::move(history));
    }
    return histories;
}

const History* sibling(const std::vector<History>& all, const History& of, inquest_part part) {
    const auto same_state = [&](const History& other) {
        return other.optimizer == of.optimizer && other.part == part && other.ranks == of.ranks;
    };
    const auto found = std::find_if(all.begin(), all.end(), same_state);
    return found == all.end() ? nullptr : &*found;
}

Sides sides_of(const Comparison& comparison) {
    const auto groups = group_by_value(comparison);
    Sides sides;
    sides.all_differ = groups.size() == comparison.members.size();
    sides.tie = groups.size() > 1 && groups[0].size() == groups[1].size() && !sides.all_differ;
    if (comparison.members.size() == 2 && groups.size() == 2) sides.tie = true;
    const bool majority = groups.front().size() * 2 > comparison.members.size();
    if (majority) sides.majority = groups.front();
    for (const DigestOf& member : comparison.members) {
        const bool right = majority && equal(*member.digest, *groups.front().front().digest);
        if (!right) sides.off.push_back(member);
    }
    return sides;
}

bool has_majority(const Comparison& comparison) {
    return sides_of(comparison).majority.size() >= 2;
}

std::vector<int> ranks_of(const std::vector<DigestOf>& members) {
    std::vector<int> ranks;
    ranks.reserve(members.size());
    for (const DigestOf& member : members)
        ranks.push_back(*member.view->rank->rank);
    return ranks;
}

}  // namespace inquest::detect
