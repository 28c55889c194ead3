#include <fmt/format.h>

#include <algorithm>

#include "analyzer/detect/call_sites.h"
#include "analyzer/detect/call_split.h"
#include "analyzer/detect/detect.h"
#include "analyzer/detect/flight_calls.h"
#include "analyzer/detect/stack_place.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using knowledge::describe_place;
using knowledge::describe_ranks;
using model::CollectiveCall;
using model::Observation;

std::vector<int> global_ranks(const StepView& step, const std::vector<size_t>& side) {
    std::vector<int> ranks;
    ranks.reserve(side.size());
    for (const size_t index : side)
        ranks.push_back(*step.ranks[index].rank->rank);
    return ranks;
}

const char* proof_name(SideProof proof) {
    switch (proof) {
        case SideProof::kAlignment:
            return "alignment";
        case SideProof::kOneSided:
            return "one_sided";
        case SideProof::kLineOrder:
            return "line_order";
        case SideProof::kEntryTime:
            return "entry_time";
        case SideProof::kHistory:
            return "history";
        case SideProof::kNone:
            return "none";
    }
    return "none";
}

// Same place, same operation, but another size, type or root: not a matter of who calls.
std::string aspect_of(const CallSplit& split) {
    if (split.majority.call == nullptr || split.minority.call == nullptr) return "absent";
    const CollectiveCall& a = *split.majority.call;
    const CollectiveCall& b = *split.minority.call;
    if (!same_site(a, b)) return a.operation == b.operation ? "site" : "operation";
    if (a.dtype != b.dtype) return "dtype";
    return a.elements != b.elements ? "size" : "root";
}

bool side_in_backward(const StepView& step, const Side& side) {
    return std::all_of(side.ranks.begin(), side.ranks.end(),
                       [&](size_t index) { return step.ranks[index].block.kind == BlockKind::kBackward; });
}

std::string call_text(const CollectiveCall& call) {
    return fmt::format("{} at {}", call.operation, describe_place(call.place));
}

// What the ranks of a side do, without its place.
std::string side_operation(const StepView& step, const Side& side) {
    if (side.call != nullptr) return side.call->operation;
    if (side_in_backward(step, side)) return "backward";
    const RankView& view = step.ranks[side.ranks.front()];
    if (view.block.call != nullptr) return view.block.call->operation;
    return view.end.kind == EndKind::kZero ? "the end of the program" : "no call of this group";
}

std::string side_text(const StepView& step, const Side& side) {
    if (side.call != nullptr) return call_text(*side.call);
    if (side_in_backward(step, side)) {
        return "backward at " + describe_place(place_of(step.ranks[side.ranks.front()]));
    }
    const RankView& view = step.ranks[side.ranks.front()];
    if (view.block.call != nullptr) return call_text(*view.block.call);
    return view.end.kind == EndKind::kZero ? "the end of the program" : "no call of this group";
}

model::Evidence side_evidence(const StepView& step, const Side& side, size_t index, int64_t position) {
    const RankView& view = step.ranks[index];
    const std::string rank = describe_ranks({*view.rank->rank});
    if (side.call == nullptr) {
        return {view.rank->source, view.rank->rank, view.block.since_ns,
                fmt::format("{} has no call #{} of the group; it is in {}", rank, position,
                            side_text(step, side))};
    }
    const auto& calls = view.rank->collectives;
    const auto own = std::find_if(calls.begin(), calls.end(), [&](const CollectiveCall& call) {
        return same_site(call, *side.call) && call.group == side.call->group &&
               call.begin_wall_ns >= side.call->begin_wall_ns - kShortestStallNs;
    });
    const CollectiveCall& call = own == calls.end() ? *side.call : *own;
    return {call.source, view.rank->rank, call.begin_wall_ns,
            fmt::format("{}: call #{} of group {} is {}", rank, position, call.group, call_text(call))};
}

struct Roles {
    const Side* initiating;
    const Side* others;
    bool initiating_is_extra;
};

// The minority initiates; of two equal sides the one that made the additional call.
Roles roles_of(const CallSplit& split) {
    const bool majority_initiates = split.tie && split.majority_is_extra;
    const Side& initiating = majority_initiates ? split.majority : split.minority;
    const Side& others = majority_initiates ? split.minority : split.majority;
    return {&initiating, &others, majority_initiates == split.majority_is_extra};
}

// "hang" when somebody waited long; otherwise the library noticed at once.
std::string end_seen(const StepView& step) {
    return std::any_of(step.ranks.begin(), step.ranks.end(), waits_long) ? "hang" : "crash";
}

std::string kind_of(const CallSplit& split, const Roles& roles, const std::string& aspect) {
    if (aspect == "size" || aspect == "dtype" || aspect == "root") return "argument";
    const bool unknown_side = split.proof == SideProof::kNone && split.incompatible;
    if (unknown_side) return "other_call";
    return roles.initiating_is_extra ? "extra_call" : "missing_call";
}

model::WallNs begin_of(const StepView& step, const Side& side) {
    model::WallNs first = side.call == nullptr ? 0 : side.call->begin_wall_ns;
    for (const size_t index : side.ranks) {
        const RankView& view = step.ranks[index];
        if (first == 0) first = view.block.since_ns != 0 ? view.block.since_ns : view.end.wall_ns;
    }
    return first;
}

model::Place place_of_side(const StepView& step, const Side& side) {
    return side.call != nullptr ? side.call->place : place_of(step.ranks[side.ranks.front()]);
}

Observation differing_calls(const StepView& step, const GroupCalls& group, const CallSplit& split) {
    const Roles roles = roles_of(split);
    const std::string aspect = aspect_of(split);
    Observation observation;
    observation.fact = "calls_differ";
    observation.place = place_of_side(step, *roles.initiating);
    observation.wall_ns = begin_of(step, *roles.initiating);
    for (const size_t index : roles.initiating->ranks) {
        observation.subjects.push_back(subject_of(step.ranks[index], observation.place));
        observation.evidence.push_back(side_evidence(step, *roles.initiating, index, split.position));
    }
    observation.evidence.push_back(
        side_evidence(step, *roles.others, roles.others->ranks.front(), split.position));
    observation.attributes = {
        {"kind", kind_of(split, roles, aspect)},
        {"aspect", aspect},
        {"group", group.name},
        {"position", std::to_string(split.position)},
        {"sequence", std::to_string(split.position)},
        {"operation", side_operation(step, *roles.initiating)},
        {"other_operation", side_text(step, *roles.others)},
        {"other_place", describe_place(place_of_side(step, *roles.others))},
        {"others", describe_ranks(global_ranks(step, roles.others->ranks))},
        {"tie", yes_no(split.tie)},
        {"alone", yes_no(roles.initiating->ranks.size() == 1)},
        {"one_sided", yes_no(split.proof != SideProof::kNone && split.proof != SideProof::kHistory)},
        {"side_by", proof_name(split.proof)},
        {"others_in_backward", yes_no(side_in_backward(step, *roles.others))},
        {"flight_agrees", yes_no(flight_splits_alike(step, global_ranks(step, roles.initiating->ranks)))},
        {"at_end", end_seen(step)}};
    return observation;
}

std::string doing_text(const RankView& view) {
    if (view.open_phase != nullptr) return view.open_phase->call;
    if (view.works) return "busy outside of any collective";
    return "outside of any collective";
}

Observation absent_rank(const StepView& step, const GroupCalls& group, const Absence& absence, size_t index) {
    const RankView& view = step.ranks[index];
    Observation observation;
    observation.fact = "rank_absent";
    observation.place = place_or_stack(view);
    observation.subjects = {subject_of(view, observation.place)};
    observation.wall_ns = view.rank->last_progress_wall_ns;
    observation.attributes = {{"operation", absence.call->operation},
                              {"group", group.name},
                              {"position", std::to_string(absence.position)},
                              {"doing", doing_text(view)},
                              {"others", describe_ranks(global_ranks(step, absence.present))},
                              {"other_place", describe_place(absence.call->place)},
                              {"at_end", step.failed ? "crash" : "slow"}};
    observation.evidence = {{view.rank->source, view.rank->rank, view.rank->last_progress_wall_ns,
                             fmt::format("rank {} has not entered {} #{}, in which {} wait", *view.rank->rank,
                                         absence.call->operation, absence.position,
                                         describe_ranks(global_ranks(step, absence.present)))}};
    return observation;
}

// Ranks that neither wait nor ended while all others wait in backward.
Observations absent_from_backward(const StepView& step) {
    std::vector<int> waiting;
    const RankView* first = nullptr;
    for (const RankView& view : step.ranks) {
        if (view.block.kind != BlockKind::kBackward) continue;
        waiting.push_back(*view.rank->rank);
        if (first == nullptr) first = &view;
    }
    Observations observations;
    if (first == nullptr) return observations;
    for (const RankView& view : step.ranks) {
        if (waits(view) || view.end.kind != EndKind::kRunning) continue;
        Observation observation;
        observation.fact = "rank_absent";
        observation.place = place_or_stack(view);
        observation.subjects = {subject_of(view, observation.place)};
        observation.wall_ns = view.rank->last_progress_wall_ns;
        observation.attributes = {{"operation", "backward"},
                                  {"group", ""},
                                  {"position", std::to_string(first->block.backward->step)},
                                  {"doing", doing_text(view)},
                                  {"others", describe_ranks(waiting)},
                                  {"other_place", describe_place(place_of(*first))},
                                  {"at_end", step.failed ? "crash" : "slow"}};
        observation.evidence = {{view.rank->source, view.rank->rank, view.rank->last_progress_wall_ns,
                                 fmt::format("rank {} is in no backward, in which {} wait", *view.rank->rank,
                                             describe_ranks(waiting))}};
        observations.push_back(std::move(observation));
    }
    return observations;
}

}  // namespace

Observations detect_call_differences(const StepView& step) {
    Observations observations;
    if (!step.trouble) return observations;
    for (const GroupCalls& group : collect_group_calls(step)) {
        if (const auto split = find_call_split(step, group)) {
            observations.push_back(differing_calls(step, group, *split));
            continue;
        }
        const auto absence = find_absence(step, group);
        if (!absence) continue;
        for (const size_t index : absence->absent) {
            observations.push_back(absent_rank(step, group, *absence, index));
        }
    }
    if (observations.empty()) return absent_from_backward(step);
    return observations;
}

}  // namespace inquest::detect
