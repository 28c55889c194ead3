#include "analyzer/detect/call_split.h"

#include <algorithm>
#include <functional>

#include "analyzer/detect/call_sites.h"

namespace inquest::detect {
namespace {

using model::CollectiveCall;
using Alike = std::function<bool(const CollectiveCall&, const CollectiveCall&)>;

// Calls that agree again for this long after a difference: the difference was meant (an if with two matching
// branches), not a fault.
constexpr int64_t kMeantIfAgreesFor = 8;

const CollectiveCall* call_at(const GroupCalls& group, size_t rank, int64_t position) {
    const CallsOfRank& calls = group.calls.at(rank);
    const auto found = calls.find(position);
    return found == calls.end() ? nullptr : found->second;
}

// The first position that is known of every rank, and the last that is known of any.
std::pair<int64_t, int64_t> position_range(const StepView& step, const GroupCalls& group) {
    int64_t first = 1;
    int64_t last = 0;
    for (const size_t rank : group.members) {
        const CallsOfRank& calls = group.calls.at(rank);
        if (calls.empty()) continue;
        if (step.ranks[rank].rank->collectives_overwritten) first = std::max(first, calls.begin()->first);
        last = std::max(last, calls.rbegin()->first);
    }
    return {first, last};
}

std::vector<Side> split_by(const GroupCalls& group, int64_t position, const Alike& alike) {
    std::vector<Side> sides;
    for (const size_t rank : group.members) {
        const CollectiveCall* call = call_at(group, rank, position);
        if (call == nullptr) continue;
        const auto side = std::find_if(sides.begin(), sides.end(),
                                       [&](const Side& known) { return alike(*known.call, *call); });
        if (side == sides.end()) {
            sides.push_back({{rank}, call});
        } else {
            side->ranks.push_back(rank);
        }
    }
    return sides;
}

bool agree_at(const GroupCalls& group, int64_t position) {
    const std::vector<Side> sides = split_by(group, position, compatible);
    return sides.size() == 1 && sides.front().ranks.size() == group.members.size();
}

bool agree_again_after(const GroupCalls& group, int64_t position) {
    for (int64_t next = position + 1; next <= position + kMeantIfAgreesFor; ++next) {
        if (!agree_at(group, next)) return false;
    }
    return true;
}

// Largest side against all others; the others take the call of the largest among them.
void set_sides(CallSplit& split, std::vector<Side> sides) {
    std::stable_sort(sides.begin(), sides.end(),
                     [](const Side& a, const Side& b) { return a.ranks.size() > b.ranks.size(); });
    split.majority = sides.front();
    split.minority = sides[1];
    for (size_t index = 2; index < sides.size(); ++index) {
        const std::vector<size_t>& more = sides[index].ranks;
        split.minority.ranks.insert(split.minority.ranks.end(), more.begin(), more.end());
    }
    std::sort(split.minority.ranks.begin(), split.minority.ranks.end());
    split.tie = split.majority.ranks.size() == split.minority.ranks.size();
}

bool stands_before(const CollectiveCall& a, const CollectiveCall& b) {
    return a.place.file == b.place.file && a.place.function == b.place.function &&
           a.place.line < b.place.line;
}

bool comparable_places(const CollectiveCall& a, const CollectiveCall& b) {
    return a.place.known() && a.place.file == b.place.file && a.place.function == b.place.function &&
           a.place.line != b.place.line;
}

// Both sides have made both calls before: the call that has always come here is the regular one. The other
// side has left it out when its own call is what usually comes next, else it has made a call too many.
void decide_by_history(const GroupCalls& group, CallSplit& split) {
    const CallsOfRank& calls = group.calls.at(split.majority.ranks.front());
    const CollectiveCall* before = call_at(group, split.majority.ranks.front(), split.position - 1);
    if (before == nullptr) return;
    const CollectiveCall& of_majority = *split.majority.call;
    const CollectiveCall& of_minority = *split.minority.call;
    const bool majority_regular = has_followed(calls, *before, of_majority, split.position);
    const bool minority_regular = has_followed(calls, *before, of_minority, split.position);
    if (majority_regular == minority_regular) return;
    const CollectiveCall& regular = majority_regular ? of_majority : of_minority;
    const CollectiveCall& odd = majority_regular ? of_minority : of_majority;
    const bool left_out = has_followed(calls, regular, odd, split.position);
    split.majority_is_extra = left_out == majority_regular;
    split.proof = SideProof::kHistory;
}

// Which of two calls at one position is the additional one, when no later calls tell.
void decide_by_sites(const GroupCalls& group, CallSplit& split) {
    const CollectiveCall& of_majority = *split.majority.call;
    const CollectiveCall& of_minority = *split.minority.call;
    const bool majority_alone = !knows_site(group, split.minority.ranks, of_majority, split.position);
    const bool minority_alone = !knows_site(group, split.majority.ranks, of_minority, split.position);
    if (majority_alone != minority_alone) {
        split.majority_is_extra = majority_alone;
        split.proof = SideProof::kOneSided;
        return;
    }
    if (!majority_alone) {
        decide_by_history(group, split);
        return;
    }
    const bool by_line = comparable_places(of_majority, of_minority);
    split.proof = by_line ? SideProof::kLineOrder : SideProof::kEntryTime;
    split.majority_is_extra = by_line ? stands_before(of_majority, of_minority)
                                      : of_majority.begin_wall_ns < of_minority.begin_wall_ns;
}

bool decide_by_alignment(const GroupCalls& group, CallSplit& split) {
    const CallsOfRank& a = group.calls.at(split.majority.ranks.front());
    const CallsOfRank& b = group.calls.at(split.minority.ranks.front());
    const bool extra_in_a = agrees_without_calls(a, b, split.position);
    const bool extra_in_b = agrees_without_calls(b, a, split.position);
    if (extra_in_a == extra_in_b) return false;
    split.majority_is_extra = extra_in_a;
    split.proof = SideProof::kAlignment;
    return true;
}

// A call that only some ranks make may match another one by chance; the sequences then fail later. Moves the
// split back to where the sites part for good.
void move_to_first_parting(const GroupCalls& group, CallSplit& split) {
    const CallsOfRank& a = group.calls.at(split.majority.ranks.front());
    const CallsOfRank& b = group.calls.at(split.minority.ranks.front());
    const auto parting = first_site_difference(a, b, split.position);
    if (!parting) return;
    const std::vector<Side> sides = split_by(group, *parting, same_site);
    if (sides.size() < 2) return;
    CallSplit earlier;
    earlier.position = *parting;
    set_sides(earlier, sides);
    if (decide_by_alignment(group, earlier)) split = earlier;
}

bool ended(const RankView& view) {
    return view.end.own_failure || (view.end.kind != EndKind::kRunning && !waits(view));
}

bool waits_in_group(const RankView& view, const GroupCalls& group) {
    return view.block.kind == BlockKind::kCollective && view.block.call->group == group.name;
}

// Members without a call at a position. Dead ranks cannot enter a call, ranks that are busy may still come,
// and those that wait in an earlier call of the group are held up by it: none of these makes the sequences
// differ.
struct Missing {
    std::vector<size_t> elsewhere;  // wait in another group's call or in backward
    std::vector<size_t> ended;
    std::vector<size_t> behind;  // wait in an earlier call of this group
    std::vector<size_t> idle;    // alive and not waiting
};

Missing missing_at(const StepView& step, const GroupCalls& group, int64_t position) {
    Missing missing;
    for (const size_t rank : group.members) {
        if (call_at(group, rank, position) != nullptr) continue;
        const RankView& view = step.ranks[rank];
        if (ended(view)) {
            missing.ended.push_back(rank);
        } else if (waits_in_group(view, group)) {
            missing.behind.push_back(rank);
        } else {
            (waits(view) ? missing.elsewhere : missing.idle).push_back(rank);
        }
    }
    return missing;
}

bool all_ended_with_zero(const StepView& step, const std::vector<size_t>& ranks) {
    return std::all_of(ranks.begin(), ranks.end(),
                       [&](size_t rank) { return step.ranks[rank].end.kind == EndKind::kZero; });
}

int64_t steps_of(const StepView& step, const std::vector<size_t>& ranks) {
    int64_t most = 0;
    for (const size_t rank : ranks)
        most = std::max(most, step.ranks[rank].rank->step);
    return most;
}

// Ranks that finished well did not leave early when the call that the others wait in is one that they never
// make, and they did as many steps.
bool finished_without_the_call(const StepView& step, const GroupCalls& group, const Side& present,
                               const std::vector<size_t>& gone, int64_t position) {
    if (!all_ended_with_zero(step, gone) || gone.size() < present.ranks.size()) return false;
    if (knows_site(group, gone, *present.call, position)) return false;
    return steps_of(step, gone) >= steps_of(step, present.ranks);
}

std::optional<CallSplit> split_by_absence(const StepView& step, const GroupCalls& group, const Side& present,
                                          int64_t position) {
    const Missing missing = missing_at(step, group, position);
    Side absent;
    const bool only_elsewhere = missing.idle.empty() && missing.ended.empty() && missing.behind.empty();
    if (only_elsewhere) absent.ranks = missing.elsewhere;
    const bool only_ended = missing.idle.empty() && missing.elsewhere.empty() && missing.behind.empty();
    if (only_ended && finished_without_the_call(step, group, present, missing.ended, position)) {
        absent.ranks = missing.ended;
    }
    if (absent.ranks.empty()) return std::nullopt;
    CallSplit split;
    split.position = position;
    split.incompatible = false;
    set_sides(split, {present, absent});
    split.majority_is_extra = split.majority.call != nullptr;
    split.proof =
        knows_site(group, absent.ranks, *present.call, position) ? SideProof::kNone : SideProof::kOneSided;
    return split;
}

CallSplit split_by_calls(const GroupCalls& group, const std::vector<Side>& sides, int64_t position) {
    CallSplit split;
    split.position = position;
    set_sides(split, sides);
    if (!decide_by_alignment(group, split)) decide_by_sites(group, split);
    move_to_first_parting(group, split);
    return split;
}

}  // namespace

std::optional<CallSplit> find_call_split(const StepView& step, const GroupCalls& group) {
    const auto [first, last] = position_range(step, group);
    for (int64_t position = first; position <= last; ++position) {
        const std::vector<Side> sides = split_by(group, position, compatible);
        if (sides.size() > 1 && !agree_again_after(group, position)) {
            return split_by_calls(group, sides, position);
        }
        if (sides.size() == 1 && sides.front().ranks.size() < group.members.size()) {
            return split_by_absence(step, group, sides.front(), position);
        }
    }
    return std::nullopt;
}

std::optional<Absence> find_absence(const StepView& step, const GroupCalls& group) {
    const auto [first, last] = position_range(step, group);
    for (int64_t position = first; position <= last; ++position) {
        const std::vector<Side> sides = split_by(group, position, compatible);
        if (sides.size() != 1) return std::nullopt;
        const Missing missing = missing_at(step, group, position);
        if (missing.idle.empty()) continue;
        return Absence{position, missing.idle, sides.front().ranks, sides.front().call};
    }
    return std::nullopt;
}

}  // namespace inquest::detect
