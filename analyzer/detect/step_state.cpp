#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/detect/detect.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;

model::Evidence step_evidence(const StepView& step, const std::string& text) {
    const auto& nodes = step.timeline->nodes;
    const model::SourceRef source = nodes.empty() ? model::SourceRef{} : nodes.front().source;
    return {source, std::nullopt, step.stalled_since_ns, text};
}

Observation about_step(const StepView& step, const std::string& fact, const std::string& text) {
    Observation observation;
    observation.fact = fact;
    observation.evidence = {step_evidence(step, text)};
    return observation;
}

size_t count(const StepView& step, bool (*holds)(const RankView&)) {
    return static_cast<size_t>(std::count_if(step.ranks.begin(), step.ranks.end(), holds));
}

bool is_working(const RankView& view) {
    return view.works;
}
bool is_running(const RankView& view) {
    return view.end.kind == EndKind::kRunning;
}

void add_stall(const StepView& step, Observations& observations) {
    if (!step.stalled) return;
    const size_t blocked = count(step, waits);
    const std::string known = std::to_string(step.ranks.size());
    WallNs seen = 0;
    for (const RankView& view : step.ranks)
        seen = std::max({seen, view.block.until_ns, view.seen_ns});
    const std::string since = seconds_text(std::max<int64_t>(seen - step.stalled_since_ns, 0));
    Observation stalled =
        about_step(step, "stalled",
                   fmt::format("{} of {} ranks wait; the last progress of any rank was at {}", blocked,
                               step.ranks.size(), clock_text(step.stalled_since_ns)));
    stalled.wall_ns = step.stalled_since_ns;
    stalled.attributes = {{"since_s", since},
                          {"works", yes_no(count(step, is_working) > 0)},
                          {"blocked_ranks", std::to_string(blocked)},
                          {"known_ranks", known}};
    observations.push_back(std::move(stalled));
    const bool all_known = static_cast<size_t>(step.world_size) == step.ranks.size();
    if (blocked == 0 || !all_known || blocked != step.ranks.size()) return;
    Observation deadlock = about_step(
        step, "deadlock", fmt::format("all {} ranks wait for each other; none of them works", blocked));
    deadlock.wall_ns = step.stalled_since_ns;
    deadlock.attributes = {{"blocked_ranks", std::to_string(blocked)}, {"known_ranks", known}};
    observations.push_back(std::move(deadlock));
}

void add_end(const StepView& step, Observations& observations) {
    const size_t running = count(step, is_running);
    if (all_ended_with_zero(step)) {
        Observation well = about_step(step, "ended_well", "every task and rank ended with status 0");
        well.attributes = {{"by", "status"}, {"rank_count", std::to_string(step.ranks.size())}};
        observations.push_back(std::move(well));
    } else if (running > 0 && !step.trouble) {
        Observation runs = about_step(step, "still_running",
                                      fmt::format("{} ranks run; none has failed or stalled", running));
        runs.attributes = {{"rank_count", std::to_string(running)}};
        observations.push_back(std::move(runs));
    }
    if (step.failed) {
        Observation failed = about_step(step, "step_failed", "a task or rank ended with a failure");
        failed.attributes = {{"rank_count", std::to_string(step.ranks.size())}};
        observations.push_back(std::move(failed));
    }
}

void add_missing(const StepView& step, Observations& observations) {
    const model::Timeline& timeline = *step.timeline;
    const auto known = static_cast<int>(step.ranks.size());
    if (known > 0 && known < step.world_size) {
        Observation missing = about_step(
            step, "rank_missing", fmt::format("{} of {} ranks left a black box", known, step.world_size));
        missing.attributes = {{"known", std::to_string(known)}, {"world", std::to_string(step.world_size)}};
        observations.push_back(std::move(missing));
    }
    const auto nodes = static_cast<int>(timeline.nodes.size());
    if (timeline.node_count && nodes < *timeline.node_count) {
        Observation missing = about_step(
            step, "node_missing", fmt::format("evidence of {} of {} nodes", nodes, *timeline.node_count));
        missing.attributes = {{"known", std::to_string(nodes)},
                              {"node_count", std::to_string(*timeline.node_count)}};
        observations.push_back(std::move(missing));
    }
    if (known == 0) {
        Observation none = about_step(step, "no_black_box", "no black box of a rank was found");
        none.attributes = {{"logs", std::to_string(timeline.logs.size())}};
        observations.push_back(std::move(none));
    }
    if (!timeline.notes.empty()) {
        Observation damaged = about_step(step, "damaged_evidence", "some evidence could not be read");
        damaged.attributes = {{"count", std::to_string(timeline.notes.size())}};
        observations.push_back(std::move(damaged));
    }
}

// The shortest timeout of a process group that any rank recorded: it decides how long a hang lasts.
void add_timeout(const StepView& step, Observations& observations) {
    int64_t shortest_ns = 0;
    for (const RankView& view : step.ranks) {
        for (const model::ProcessGroup& group : view.rank->groups) {
            const bool shorter = shortest_ns == 0 || group.timeout_ns < shortest_ns;
            if (group.timeout_ns > 0 && shorter) shortest_ns = group.timeout_ns;
        }
    }
    if (!step.trouble || shortest_ns == 0) return;
    const std::string seconds = seconds_text(shortest_ns);
    Observation timeout =
        about_step(step, "collective_timeout", "process groups time out after " + seconds + " s");
    timeout.attributes = {{"seconds", seconds}};
    observations.push_back(std::move(timeout));
}

// Wrapper classes and functions of the frameworks, as the hooks record them.
const std::map<std::string, std::string>& framework_of_wrapper() {
    static const std::map<std::string, std::string> frameworks = {{"DistributedDataParallel", "ddp"},
                                                                  {"FullyShardedDataParallel", "fsdp"},
                                                                  {"fully_shard", "fsdp"},
                                                                  {"FSDPModule", "fsdp"},
                                                                  {"DeepSpeedEngine", "deepspeed"}};
    return frameworks;
}

void add_framework(const StepView& step, Observations& observations) {
    for (const RankView& view : step.ranks) {
        for (const model::WrappedModel& model : view.rank->models) {
            const auto known = framework_of_wrapper().find(model.wrapper);
            if (known == framework_of_wrapper().end()) continue;
            Observation framework = about_step(step, "framework", "the model is wrapped by " + model.wrapper);
            framework.attributes = {{"framework", known->second}, {"wrapper", model.wrapper}};
            observations.push_back(std::move(framework));
            return;
        }
    }
}

void add_losses(const StepView& step, Observations& observations) {
    for (const RankView& view : step.ranks) {
        for (const model::Backward& backward : view.rank->backwards) {
            if (!backward.loss || std::isfinite(*backward.loss)) continue;
            Observation loss = about_step(step, "loss_not_finite", "");
            loss.subjects = {subject_of(view, backward.place)};
            loss.place = backward.place;
            loss.wall_ns = backward.begin_wall_ns;
            loss.attributes = {{"loss", fmt::format("{}", *backward.loss)},
                               {"step", std::to_string(backward.step)}};
            loss.evidence = {{backward.source, view.rank->rank, backward.begin_wall_ns,
                              fmt::format("loss {} at step {}", *backward.loss, backward.step)}};
            observations.push_back(std::move(loss));
            break;
        }
    }
}

}  // namespace

Observations detect_step_state(const StepView& step) {
    Observations observations;
    add_stall(step, observations);
    add_end(step, observations);
    add_missing(step, observations);
    add_timeout(step, observations);
    add_framework(step, observations);
    add_losses(step, observations);
    return observations;
}

}  // namespace inquest::detect
