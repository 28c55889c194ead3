#include <fmt/format.h>

#include <set>

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

// Members of the group that have entered the call at this position.
size_t count_entered(const StepView& step, const model::CollectiveCall& call) {
    std::set<int> entered;
    for (const RankView& view : step.ranks) {
        for (const model::CollectiveCall& other : view.rank->collectives) {
            if (other.group == call.group && other.sequence == call.sequence)
                entered.insert(*view.rank->rank);
        }
    }
    return entered.size();
}

Observation wait_in_collective(const StepView& step, const RankView& view) {
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
                              {"others_entered", std::to_string(count_entered(step, call))},
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
    for (const RankView& view : step.ranks) {
        if (view.block.kind == BlockKind::kCollective) observations.push_back(wait_in_collective(step, view));
        if (view.block.kind == BlockKind::kBackward) observations.push_back(inside_backward(view));
    }
    return observations;
}

}  // namespace inquest::detect
