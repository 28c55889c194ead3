// Weak evidence about replicas, never a verdict: loss_gap, gradient_norms_bimodal, environment_differs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "analyzer/detect/detect.h"
#include "analyzer/knowledge/template_text.h"

namespace inquest::detect {
namespace {

using model::Observation;

constexpr double kLossGap = 0.10;
constexpr size_t kLossesPerRank = 50;  // the newest ones
constexpr size_t kFewestForTwoGroups = 4;
// Two groups of norms: the gap between them is this much wider than either group, and not mere noise.
constexpr double kGapToSpread = 4.0;
constexpr double kGapToNorm = 0.10;
constexpr size_t kMostDifferences = 12;
// Names that rightly differ between ranks or nodes.
constexpr std::array<std::string_view, 10> kOwnNames = {"RANK",
                                                        "LOCAL_RANK",
                                                        "GROUP_RANK",
                                                        "host",
                                                        "executable",
                                                        "MASTER_ADDR",
                                                        "MASTER_PORT",
                                                        "CUDA_VISIBLE_DEVICES",
                                                        "NCCL_SOCKET_IFNAME",
                                                        "GLOO_SOCKET_IFNAME"};

struct MeanLoss {
    const RankView* view = nullptr;
    double mean = 0;
    size_t count = 0;
};

MeanLoss mean_loss(const RankView& view) {
    MeanLoss result{&view};
    const auto& backwards = view.rank->backwards;
    for (auto backward = backwards.rbegin(); backward != backwards.rend(); ++backward) {
        if (result.count == kLossesPerRank) break;
        if (!backward->loss || !std::isfinite(*backward->loss)) continue;
        result.mean += *backward->loss;
        ++result.count;
    }
    if (result.count > 0) result.mean /= static_cast<double>(result.count);
    return result;
}

void add_loss_gap(const StepView& step, Observations& observations) {
    std::vector<MeanLoss> losses;
    for (const RankView& view : step.ranks) {
        const MeanLoss loss = mean_loss(view);
        if (loss.count > 0) losses.push_back(loss);
    }
    if (losses.size() < 2) return;
    const auto [low, high] = std::minmax_element(
        losses.begin(), losses.end(), [](const MeanLoss& a, const MeanLoss& b) { return a.mean < b.mean; });
    const double scale = std::abs(low->mean);
    const double gap = high->mean - low->mean;
    if (scale == 0 || gap <= kLossGap * scale) return;
    Observation observation;
    observation.fact = "loss_gap";
    observation.subjects = {subject_of(*high->view)};
    observation.attributes = {
        {"percent", fmt::format("{:.0f}", 100 * gap / scale)},
        {"lowest", fmt::format("{:.4g} on rank {}", low->mean, *low->view->rank->rank)},
        {"highest", fmt::format("{:.4g} on rank {}", high->mean, *high->view->rank->rank)},
        {"steps", std::to_string(std::min(low->count, high->count))}};
    observations.push_back(std::move(observation));
}

struct RankNorm {
    double norm = 0;
    const RankView* view = nullptr;
    const model::GradientNorm* record = nullptr;
};

using NormsByStep = std::map<std::pair<int64_t, int64_t>, std::vector<RankNorm>>;  // optimizer, step

NormsByStep norms_by_step(const StepView& step) {
    NormsByStep norms;
    for (const RankView& view : step.ranks) {
        for (const model::GradientNorm& norm : view.rank->replica.gradient_norms) {
            if (!std::isfinite(norm.norm) || norm.at.site != INQUEST_SITE_STEP) continue;
            norms[{norm.at.optimizer, norm.at.step}].push_back({norm.norm, &view, &norm});
        }
    }
    return norms;
}

// Where the sorted norms fall into two groups: index of the first of the upper one; 0: they do not.
size_t split_in_two(const std::vector<RankNorm>& sorted) {
    if (sorted.size() < kFewestForTwoGroups) return 0;
    size_t widest = 1;
    for (size_t index = 2; index < sorted.size(); ++index) {
        const double gap = sorted[index].norm - sorted[index - 1].norm;
        if (gap > sorted[widest].norm - sorted[widest - 1].norm) widest = index;
    }
    const double gap = sorted[widest].norm - sorted[widest - 1].norm;
    const double spread =
        std::max(sorted[widest - 1].norm - sorted.front().norm, sorted.back().norm - sorted[widest].norm);
    const bool apart = gap > kGapToSpread * spread && gap > kGapToNorm * sorted.back().norm;
    return apart ? widest : 0;
}

void add_two_groups(const StepView& step, Observations& observations) {
    for (auto& [key, norms] : norms_by_step(step)) {
        std::vector<RankNorm> sorted = norms;
        std::sort(sorted.begin(), sorted.end(),
                  [](const RankNorm& a, const RankNorm& b) { return a.norm < b.norm; });
        const size_t split = split_in_two(sorted);
        if (split == 0) continue;
        const bool upper_is_smaller = (sorted.size() - split) * 2 <= sorted.size();
        Observation observation;
        observation.fact = "gradient_norms_bimodal";
        std::vector<int> others;
        for (size_t index = 0; index < sorted.size(); ++index) {
            if ((index >= split) == upper_is_smaller) {
                observation.subjects.push_back(subject_of(*sorted[index].view));
            } else {
                others.push_back(*sorted[index].view->rank->rank);
            }
        }
        std::sort(observation.subjects.begin(), observation.subjects.end(),
                  [](const auto& a, const auto& b) { return *a.rank < *b.rank; });
        observation.attributes = {{"step", std::to_string(key.second)},
                                  {"low", fmt::format("{:.4g}", sorted[split - 1].norm)},
                                  {"high", fmt::format("{:.4g}", sorted[split].norm)},
                                  {"others", knowledge::describe_ranks(others)}};
        observation.evidence = {
            {sorted[split].record->source, sorted[split].view->rank->rank, 0,
             fmt::format("gradient norm {:.4g} at step {}", sorted[split].norm, key.second)}};
        observations.push_back(std::move(observation));
        return;
    }
}

bool is_own_name(std::string_view name) {
    return std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end() ||
           name.substr(0, 8) == "inquest.";
}

// Values of one name, by rank.
using Values = std::map<std::string, std::vector<const RankView*>>;

std::map<std::string, Values> environment_values(const StepView& step) {
    std::map<std::string, Values> names;
    for (const RankView& view : step.ranks) {
        for (const auto& [name, value] : view.rank->environment) {
            if (!is_own_name(name)) names[name][value].push_back(&view);
        }
    }
    return names;
}

Observation environment_difference(const std::string& name, const Values& values) {
    const auto most = std::max_element(values.begin(), values.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
    });
    const auto other = most == values.begin() ? std::next(values.begin()) : values.begin();
    Observation observation;
    observation.fact = "environment_differs";
    for (const RankView* view : other->second)
        observation.subjects.push_back(subject_of(*view));
    std::vector<int> others;
    for (const RankView* view : most->second)
        others.push_back(*view->rank->rank);
    observation.attributes = {{"name", name},
                              {"value", other->first},
                              {"others_value", most->first},
                              {"others", knowledge::describe_ranks(others)}};
    observation.evidence = {{other->second.front()->rank->source, other->second.front()->rank->rank, 0,
                             fmt::format("{} is {}", name, other->first)}};
    return observation;
}

void add_environments(const StepView& step, Observations& observations) {
    size_t told = 0;
    for (const auto& [name, values] : environment_values(step)) {
        if (values.size() < 2 || told == kMostDifferences) continue;
        observations.push_back(environment_difference(name, values));
        ++told;
    }
}

}  // namespace

Observations detect_divergence_hints(const StepView& step) {
    Observations observations;
    add_loss_gap(step, observations);
    add_two_groups(step, observations);
    add_environments(step, observations);
    return observations;
}

}  // namespace inquest::detect
