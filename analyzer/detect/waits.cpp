#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/detect/detect.h"

namespace inquest::detect {
namespace {

using model::Observation;

std::string wait_text(const RankView& view, const std::string& what) {
    const Block& block = view.block;
    const std::string ending = block.failed ? "failed there" : "had not returned";
    return fmt::format("{}, entered {}, {} {} s later", what, clock_text(block.since_ns), ending,
                       seconds_text(waited_ns(view)));
}

// Per group and position that somebody waits at: how many ranks have entered the call.
using Entered = std::map<std::pair<int64_t, std::string_view>, std::set<int>>;

std::pair<int64_t, std::string_view> position_of(const model::CollectiveCall& call) {
    return {call.sequence, call.group};
}

Entered count_entered(const StepView& step) {
    Entered entered;
    for (const RankView& view : step.ranks) {
        if (view.block.kind == BlockKind::kCollective) entered[position_of(*view.block.call)];
    }
    for (const RankView& view : step.ranks) {
        for (const model::CollectiveCall& call : view.rank->collectives) {
            const auto waited_for = entered.find(position_of(call));
            if (waited_for != entered.end()) waited_for->second.insert(*view.rank->rank);
        }
    }
    return entered;
}

Observation wait_in_collective(const StepView& step, const RankView& view, size_t entered) {
    const model::CollectiveCall& call = *view.block.call;
    Observation observation;
    observation.fact = "waits_in_collective";
    observation.subjects = {subject_of(view)};
    observation.place = call.place;
    observation.wall_ns = view.block.since_ns;
    observation.attributes = {{"operation", call.operation},
                              {"group", call.group},
                              {"sequence", std::to_string(call.sequence)},
                              {"position", std::to_string(call.sequence)},
                              {"elements", std::to_string(call.elements)},
                              {"dtype", call.dtype},
                              {"waited_s", seconds_text(waited_ns(view))},
                              {"others_entered", std::to_string(entered)},
                              {"member_count", std::to_string(step.world_size)}};
    observation.evidence = {
        {call.source, view.rank->rank, view.block.since_ns,
         wait_text(view, fmt::format("{} #{} of group {} at {}:{}", call.operation, call.sequence, call.group,
                                     call.place.file, call.place.line))}};
    return observation;
}

Observation inside_backward(const RankView& view) {
    const model::Backward& backward = *view.block.backward;
    Observation observation;
    observation.fact = "inside_backward";
    observation.subjects = {subject_of(view)};
    observation.place = backward.place;
    observation.wall_ns = view.block.since_ns;
    observation.attributes = {{"step", std::to_string(backward.step)},
                              {"waited_s", seconds_text(waited_ns(view))},
                              {"blocked", yes_no(waits_long(view) || view.block.failed)}};
    observation.evidence = {{backward.source, view.rank->rank, view.block.since_ns,
                             wait_text(view, fmt::format("backward of step {} at {}:{}", backward.step,
                                                         backward.place.file, backward.place.line))}};
    return observation;
}

}  // namespace

Observations detect_waits(const StepView& step) {
    Observations observations;
    if (!step.trouble) return observations;
    const Entered entered = count_entered(step);
    for (const RankView& view : step.ranks) {
        if (view.block.kind == BlockKind::kCollective) {
            const size_t count = entered.at(position_of(*view.block.call)).size();
            observations.push_back(wait_in_collective(step, view, count));
        }
        if (view.block.kind == BlockKind::kBackward) observations.push_back(inside_backward(view));
    }
    return observations;
}

}  // namespace inquest::detect
