#include "analyzer/detect/divergence_finding.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace inquest::detect {
namespace {

constexpr size_t kMostSizes = 256;

const Comparison* first_bad_of(const History& history) {
    const auto found = std::find_if(history.comparisons.begin(), history.comparisons.end(),
                                    [](const Comparison& comparison) { return !comparison.agrees(); });
    return found == history.comparisons.end() ? nullptr : &*found;
}

const Comparison* decisive_of(const History& history, const Comparison* first_bad) {
    const Comparison* best = first_bad;
    for (const Comparison& comparison : history.comparisons) {
        const bool later = comparison.at.step >= first_bad->at.step && !comparison.agrees();
        if (later && comparison.members.size() > best->members.size()) best = &comparison;
    }
    return best;
}

bool covers(const Comparison& comparison, const Comparison& members_of) {
    const std::vector<int> mine = ranks_of(comparison.members);
    const std::vector<int> theirs = ranks_of(members_of.members);
    return std::includes(mine.begin(), mine.end(), theirs.begin(), theirs.end());
}

const Comparison* last_good_of(const History& history, const Comparison* first_bad,
                               const Comparison& decisive) {
    const Comparison* last = nullptr;
    for (const Comparison& comparison : history.comparisons) {
        if (&comparison == first_bad) break;
        if (covers(comparison, decisive)) last = &comparison;
    }
    return last;
}

// The step whose gradients lead to a comparison: those before the first step are of step 1.
int64_t gradient_step(const Comparison& comparison) {
    return comparison.at.site == INQUEST_SITE_START ? comparison.at.step + 1 : comparison.at.step;
}

const Comparison* gradients_of(const std::vector<History>& all, const DivergenceFinding& finding) {
    const History* gradients = sibling(all, *finding.history, INQUEST_PART_GRADIENTS);
    if (gradients == nullptr) return nullptr;
    return gradients->find(gradient_step(*finding.first_bad), INQUEST_SITE_STEP);
}

void judge_gradients(const std::vector<History>& all, DivergenceFinding& finding) {
    const Comparison* gradients = gradients_of(all, finding);
    if (gradients == nullptr) return;
    if (gradients->agrees()) {
        finding.gradients = GradientState::kEqual;
        return;
    }
    finding.gradients = GradientState::kDiffer;
    finding.gradient_tensors = compare_tensors(sides_of(*gradients));
    if (!finding.gradient_tensors) return;
    if (finding.gradient_tensors->tiny) finding.gradients = GradientState::kTiny;
    if (finding.gradient_tensors->isolated) finding.gradients = GradientState::kIsolated;
}

std::optional<bool> agreed_at(const History* history, int64_t step, inquest_site site) {
    const Comparison* comparison = history == nullptr ? nullptr : history->find(step, site);
    if (comparison == nullptr) return std::nullopt;
    return comparison->agrees();
}

void judge_inputs(const std::vector<History>& all, DivergenceFinding& finding) {
    const model::Checkpoint& bad = finding.first_bad->at;
    finding.hyperparameters_equal =
        agreed_at(sibling(all, *finding.history, INQUEST_PART_HYPERPARAMETERS), bad.step, bad.site);
    if (finding.last_good == nullptr) return;
    const model::Checkpoint& good = finding.last_good->at;
    finding.optimizer_state_equal =
        agreed_at(sibling(all, *finding.history, INQUEST_PART_OPTIMIZER), good.step, good.site);
}

void measure(DivergenceFinding& finding) {
    for (const Comparison& comparison : finding.history->comparisons) {
        if (comparison.at.step < finding.first_bad->at.step || finding.sizes.size() >= kMostSizes) continue;
        if (comparison.agrees()) continue;
        const auto found = compare_tensors(sides_of(comparison));
        if (found) finding.sizes.emplace_back(comparison.at.step, found->relative);
    }
}

bool exchanges_data(const StepView& step) {
    static constexpr std::array<std::string_view, 6> kExchanges = {"reduce",  "gather", "broadcast",
                                                                   "scatter", "send",   "all_to_all"};
    return std::any_of(step.ranks.begin(), step.ranks.end(), [](const RankView& view) {
        const auto& calls = view.rank->collectives;
        return std::any_of(calls.begin(), calls.end(), [](const model::CollectiveCall& call) {
            return std::any_of(kExchanges.begin(), kExchanges.end(), [&](std::string_view name) {
                return call.operation.find(name) != std::string::npos;
            });
        });
    });
}

bool replaces_reduction(const StepView& step) {
    return std::any_of(step.ranks.begin(), step.ranks.end(), [](const RankView& view) {
        const auto& flags = view.rank->replica.flags;
        return std::any_of(flags.begin(), flags.end(), [](const auto& model) { return model.comm_hook; });
    });
}

// Replicas that come together again were meant to part: local steps with a periodic average.
bool heals(const History& history, const Comparison* first_bad) {
    return std::any_of(history.comparisons.begin(), history.comparisons.end(), [&](const Comparison& later) {
        return later.at.step > first_bad->at.step && covers(later, *first_bad) && later.agrees();
    });
}

bool agreed_earlier(const std::vector<History>& all, const History& parameters, const Comparison* first_bad) {
    const History* gradients = sibling(all, parameters, INQUEST_PART_GRADIENTS);
    return std::any_of(parameters.comparisons.begin(), parameters.comparisons.end(),
                       [&](const Comparison& comparison) {
                           const bool before = comparison.at.step < first_bad->at.step;
                           return before && comparison.at.site == INQUEST_SITE_STEP && comparison.agrees() &&
                                  agreed_at(gradients, comparison.at.step, INQUEST_SITE_STEP).value_or(false);
                       });
}

// Without a promise: do the ranks keep each other equal by themselves? Runs that only share a launcher may
// well have equal gradients for a while, so data must have passed between them, and their settings are equal.
std::optional<Agreement> established(const StepView& step, const std::vector<History>& all,
                                     const DivergenceFinding& finding) {
    const History* parameters = sibling(all, *finding.history, INQUEST_PART_PARAMETERS);
    if (parameters == nullptr || !exchanges_data(step)) return std::nullopt;
    const model::Checkpoint& at = finding.first_bad->at;
    const History* settings = sibling(all, *finding.history, INQUEST_PART_HYPERPARAMETERS);
    if (!agreed_at(settings, at.step, at.site).value_or(true)) return std::nullopt;
    if (heals(*finding.history, finding.first_bad)) return std::nullopt;
    const Comparison* gradients = gradients_of(all, finding);
    if (gradients != nullptr && has_majority(*gradients)) return Agreement::kGradients;
    const Comparison* same = parameters->find(at.step, INQUEST_SITE_STEP);
    if (same != nullptr && has_majority(*same)) return Agreement::kParameters;
    if (agreed_earlier(all, *parameters, finding.first_bad) && !replaces_reduction(step)) {
        return Agreement::kEarlier;
    }
    return std::nullopt;
}

// DDP broadcasts rank 0's buffers before each forward pass unless that is switched off; what differs between
// two broadcasts is no difference (torch 2.13, nn/parallel/distributed.py, forward_sync_buffers).
bool broadcasts_buffers(const StepView& step) {
    return std::any_of(step.ranks.begin(), step.ranks.end(), [](const RankView& view) {
        const auto& flags = view.rank->replica.flags;
        return !flags.empty() && std::all_of(flags.begin(), flags.end(),
                                             [](const auto& model) { return model.broadcast_buffers; });
    });
}

}  // namespace

std::optional<DivergenceFinding> find_divergence(const StepView& step, const std::vector<History>& all,
                                                 const History& history) {
    DivergenceFinding finding;
    finding.history = &history;
    finding.first_bad = first_bad_of(history);
    if (finding.first_bad == nullptr) return std::nullopt;
    finding.decisive = decisive_of(history, finding.first_bad);
    finding.last_good = last_good_of(history, finding.first_bad, *finding.decisive);
    finding.sides = sides_of(*finding.decisive);
    if (history.promise.empty()) {
        const auto agreement = established(step, all, finding);
        if (!agreement) return std::nullopt;
        finding.agreement = *agreement;
    }
    finding.tensors = compare_tensors(sides_of(*finding.first_bad));
    judge_gradients(all, finding);
    judge_inputs(all, finding);
    measure(finding);
    return finding;
}

std::vector<DivergenceFinding> find_divergences(const StepView& step, const std::vector<History>& all) {
    std::vector<DivergenceFinding> findings;
    for (const History& history : all) {
        const bool compared = history.part == INQUEST_PART_PARAMETERS ||
                              (history.part == INQUEST_PART_BUFFERS && !broadcasts_buffers(step));
        if (!compared) continue;
        if (auto finding = find_divergence(step, all, history)) findings.push_back(std::move(*finding));
    }
    std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
        return a.first_bad->wall_ns() < b.first_bad->wall_ns();
    });
    return findings;
}

}  // namespace inquest::detect
