// How the gradients came about on the way to the first bad checkpoint: accumulation_differs,
// wrapper_bypassed, steps_skipped.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analyzer/detect/divergence_reasons.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;
using model::OptimizerStep;

// The mask has a bit for each of the first 63 backward calls and one for all later ones (black_box.h).
constexpr int64_t kMaskBits = 64;

struct StepOf {
    const RankView* view = nullptr;
    const OptimizerStep* step = nullptr;
};

// How a rank came to the gradients of one step.
using Pattern = std::pair<int64_t, uint64_t>;
using Steps = std::map<int64_t, std::vector<StepOf>>;  // by the optimizer's step

bool in_window(const DivergenceFinding& finding, int64_t number) {
    const int64_t from = finding.last_good == nullptr ? 0 : finding.last_good->at.step;
    const int64_t to = std::max<int64_t>(finding.first_bad->at.step, 1);
    return number > from && number <= to;
}

Steps recorded_steps(const StepView& step, const DivergenceFinding& finding) {
    const auto& ranks = finding.history->ranks;
    Steps steps;
    for (const RankView& view : step.ranks) {
        if (std::find(ranks.begin(), ranks.end(), *view.rank->rank) == ranks.end()) continue;
        for (const OptimizerStep& one : view.rank->steps) {
            if (one.optimizer == finding.history->optimizer)
                steps[one.optimizer_step].push_back({&view, &one});
        }
    }
    return steps;
}

// Where the ring has overwritten them, the first later step that all of the ranks still have stands for them.
Steps steps_on_the_way(const StepView& step, const DivergenceFinding& finding) {
    Steps within;
    Steps later;
    for (auto& [number, members] : recorded_steps(step, finding)) {
        if (in_window(finding, number)) within[number] = members;
        const bool whole = members.size() >= finding.decisive->members.size();
        if (number > finding.first_bad->at.step && whole && later.empty()) later[number] = members;
    }
    return within.empty() ? later : within;
}

bool last_unsynced(const OptimizerStep& step) {
    if (step.micro_batches <= 0) return false;
    const int64_t last = std::min(step.micro_batches, kMaskBits) - 1;
    return (step.unsynced >> static_cast<uint64_t>(last) & 1U) != 0;
}

// The line of the backward call that led to the step; the step's own where none is recorded.
const model::Place& place_before(const StepOf& one) {
    const auto& backwards = one.view->rank->backwards;
    const auto found = std::find_if(
        backwards.rbegin(), backwards.rend(),
        [&](const model::Backward& backward) { return backward.begin_wall_ns <= one.step->wall_ns; });
    return found != backwards.rend() && found->place.known() ? found->place : one.step->place;
}

std::string pattern_text(const OptimizerStep& step) {
    int unsynced = 0;
    for (uint64_t bits = step.unsynced; bits != 0; bits &= bits - 1)
        ++unsynced;
    std::string text =
        fmt::format("{} backward call{}", step.micro_batches, step.micro_batches == 1 ? "" : "s");
    if (unsynced > 0) text += fmt::format(", {} of them without synchronisation", unsynced);
    if (last_unsynced(step)) text += ", the last one too";
    return text;
}

std::map<Pattern, std::vector<StepOf>> by_pattern(const std::vector<StepOf>& members) {
    std::map<Pattern, std::vector<StepOf>> patterns;
    for (const StepOf& member : members)
        patterns[{member.step->micro_batches, member.step->unsynced}].push_back(member);
    return patterns;
}

std::vector<int> ranks_in(const std::vector<StepOf>& members) {
    std::vector<int> ranks;
    ranks.reserve(members.size());
    for (const StepOf& member : members)
        ranks.push_back(*member.view->rank->rank);
    return ranks;
}

// "ranks 0-2: 2 backward calls; rank 3: 4 backward calls"
std::string describe_patterns(const std::map<Pattern, std::vector<StepOf>>& patterns) {
    std::vector<std::string> texts;
    texts.reserve(patterns.size());
    for (const auto& [pattern, members] : patterns) {
        texts.push_back(fmt::format("{}: {}", knowledge::describe_ranks(ranks_in(members)),
                                    pattern_text(*members.front().step)));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

Observation about(const std::string& fact, const DivergenceFinding& finding,
                  const std::vector<StepOf>& members) {
    Observation observation;
    observation.fact = fact;
    observation.wall_ns = finding.first_bad->wall_ns();
    for (const StepOf& member : members) {
        const model::Place& place = place_before(member);
        observation.subjects.push_back(subject_of(*member.view, place));
        if (!observation.place.known()) observation.place = place;
        observation.evidence.push_back(
            {member.step->source, member.view->rank->rank, member.step->wall_ns,
             fmt::format("step {} of optimizer {}: {}", member.step->optimizer_step, member.step->optimizer,
                         pattern_text(*member.step))});
    }
    return observation;
}

struct Difference {
    int64_t step = 0;
    std::string kind;
    std::vector<StepOf> off;     // the minority, or everybody
    std::vector<StepOf> others;  // the majority; may be empty
    std::map<Pattern, std::vector<StepOf>> patterns;
};

std::optional<Difference> difference_at(int64_t number, const std::vector<StepOf>& members) {
    Difference difference;
    difference.step = number;
    difference.patterns = by_pattern(members);
    const auto largest =
        std::max_element(difference.patterns.begin(), difference.patterns.end(),
                         [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (difference.patterns.size() == 1) {
        if (members.size() < 2 || !last_unsynced(*members.front().step)) return std::nullopt;
        difference.kind = "never_synchronised";
        difference.off = members;
        return difference;
    }
    const bool majority = largest->second.size() * 2 > members.size();
    for (const auto& [pattern, side] : difference.patterns) {
        auto& list = majority && pattern == largest->first ? difference.others : difference.off;
        list.insert(list.end(), side.begin(), side.end());
    }
    std::sort(difference.off.begin(), difference.off.end(),
              [](const StepOf& a, const StepOf& b) { return *a.view->rank->rank < *b.view->rank->rank; });
    const int64_t count = difference.patterns.begin()->first.first;
    const bool same_count = std::all_of(difference.patterns.begin(), difference.patterns.end(),
                                        [&](const auto& side) { return side.first.first == count; });
    difference.kind = same_count ? "synchronisation" : "count";
    return difference;
}

// A rank whose scaler skipped a step makes up for it later: its counts are off for another reason.
std::vector<const RankView*> skipping_ranks(const StepView& step, const DivergenceFinding& finding) {
    std::vector<const RankView*> skipping;
    for (const RankView& view : step.ranks) {
        const auto& skips = view.rank->replica.skips;
        const bool before = std::any_of(skips.begin(), skips.end(), [&](const model::ScalerSkip& skip) {
            return skip.wall_ns <= finding.first_bad->wall_ns();
        });
        if (before) skipping.push_back(&view);
    }
    return skipping;
}

void add_accumulation(const DivergenceFinding& finding, const Steps& steps, bool skipped,
                      Observations& observations) {
    for (const auto& [number, members] : steps) {
        const auto difference = difference_at(number, members);
        if (!difference) continue;
        Observation observation = about("accumulation_differs", finding, difference->off);
        const bool unsynced = std::any_of(members.begin(), members.end(),
                                          [](const StepOf& member) { return last_unsynced(*member.step); });
        observation.attributes = {{"kind", difference->kind},
                                  {"step", std::to_string(number)},
                                  {"counts", describe_patterns(difference->patterns)},
                                  {"others", knowledge::describe_ranks(ranks_in(difference->others))},
                                  {"skipped", yes_no(skipped)},
                                  {"last_unsynced", yes_no(unsynced)}};
        observations.push_back(std::move(observation));
        return;
    }
}

std::string wrapper_of(const RankView& view) {
    const auto& models = view.rank->models;
    return models.empty() ? std::string("its wrapper") : models.back().wrapper;
}

void add_bypass(const DivergenceFinding& finding, const Steps& steps, Observations& observations) {
    std::map<int, StepOf> bypassing;
    size_t most_members = 0;
    for (const auto& [number, members] : steps) {
        most_members = std::max(most_members, members.size());
        for (const StepOf& member : members) {
            const bool bypass = member.step->wrapped == 0 && member.step->bare > 0;
            if (bypass) bypassing.emplace(*member.view->rank->rank, member);
        }
    }
    if (bypassing.empty()) return;
    std::vector<StepOf> members;
    members.reserve(bypassing.size());
    for (const auto& [rank, member] : bypassing)
        members.push_back(member);
    Observation observation = about("wrapper_bypassed", finding, members);
    observation.attributes = {{"steps", std::to_string(members.front().step->optimizer_step)},
                              {"everyone", yes_no(members.size() == most_members)},
                              {"wrapper", wrapper_of(*members.front().view)},
                              {"bare", std::to_string(members.front().step->bare)}};
    observations.push_back(std::move(observation));
}

void add_skips(const DivergenceFinding& finding, const std::vector<const RankView*>& skipping,
               Observations& observations) {
    Observation observation;
    observation.fact = "steps_skipped";
    observation.wall_ns = finding.first_bad->wall_ns();
    std::vector<int> others;
    for (const int rank : finding.history->ranks) {
        const auto same = [&](const RankView* view) { return *view->rank->rank == rank; };
        if (std::none_of(skipping.begin(), skipping.end(), same)) others.push_back(rank);
    }
    for (const RankView* view : skipping) {
        observation.subjects.push_back(subject_of(*view));
        const model::ScalerSkip& skip = view->rank->replica.skips.front();
        observation.evidence.push_back(
            {skip.source, view->rank->rank, skip.wall_ns,
             fmt::format("step {} skipped by the gradient scaler at scale {}", skip.step, skip.scale)});
    }
    observation.attributes = {{"count", std::to_string(skipping.front()->rank->replica.skips.size())},
                              {"others", knowledge::describe_ranks(others)}};
    observations.push_back(std::move(observation));
}

}  // namespace

Observations detect_step_reasons(const StepView& step, const DivergenceFinding& finding) {
    Observations observations;
    const Steps steps = steps_on_the_way(step, finding);
    const auto skipping = skipping_ranks(step, finding);
    const bool unevenly = !skipping.empty() && skipping.size() < finding.history->ranks.size();
    add_accumulation(finding, steps, unevenly, observations);
    add_bypass(finding, steps, observations);
    if (unevenly) add_skips(finding, skipping, observations);
    return observations;
}

}  // namespace inquest::detect
