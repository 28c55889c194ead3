#include "analyzer/detect/divergence_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace inquest::detect {
namespace {

constexpr size_t kNamesTold = 4;

std::string moment_text(const std::pair<int64_t, double>& size) {
    return fmt::format("{} at step {}", relative_text(size.second), size.first);
}

}  // namespace

const char* part_name(inquest_part part) {
    switch (part) {
        case INQUEST_PART_PARAMETERS:
            return "parameters";
        case INQUEST_PART_BUFFERS:
            return "buffers";
        case INQUEST_PART_GRADIENTS:
            return "gradients";
        case INQUEST_PART_OPTIMIZER:
            return "optimizer state";
        case INQUEST_PART_HYPERPARAMETERS:
            return "hyperparameters";
    }
    return "state";
}

const char* gradient_state_name(GradientState state) {
    switch (state) {
        case GradientState::kEqual:
            return "equal";
        case GradientState::kIsolated:
            return "isolated";
        case GradientState::kTiny:
            return "tiny";
        case GradientState::kDiffer:
            return "differ";
        case GradientState::kUnknown:
            break;
    }
    return "unknown";
}

std::string describe_tensors(const std::optional<TensorDifferences>& tensors) {
    if (!tensors || tensors->names.empty()) return "tensors that were not recorded";
    const size_t told = std::min(tensors->names.size(), kNamesTold);
    const std::vector<std::string> names(tensors->names.begin(),
                                         tensors->names.begin() + static_cast<std::ptrdiff_t>(told));
    const int64_t more = tensors->differing - static_cast<int64_t>(told);
    const std::string list = fmt::format("{}", fmt::join(names, ", "));
    return more > 0 ? fmt::format("{} and {} more", list, more) : list;
}

std::string describe_moment(const DivergenceFinding& finding) {
    if (finding.first_bad->at.site == INQUEST_SITE_START) return "before the first step";
    const int64_t bad = finding.first_bad->at.step;
    if (finding.last_good == nullptr) return fmt::format("at or before step {}", bad);
    const int64_t good = finding.last_good->at.step;
    return good + 1 == bad ? fmt::format("at step {}", bad)
                           : fmt::format("between step {} and step {}", good, bad);
}

std::string describe_growth(const DivergenceFinding& finding) {
    const auto& sizes = finding.sizes;
    if (sizes.size() < 2) return {};
    std::vector<std::string> moments;
    for (const size_t index : {size_t{0}, sizes.size() / 3, sizes.size() * 2 / 3, sizes.size() - 1}) {
        std::string text = moment_text(sizes[index]);
        if (moments.empty() || moments.back() != text) moments.push_back(std::move(text));
    }
    return fmt::format("{}", fmt::join(moments, ", "));
}

std::string relative_text(double relative) {
    return relative > 0 ? fmt::format("{:.0e}", relative) : std::string("below what norms show");
}

const char* first_difference(const DivergenceFinding& finding) {
    if (finding.first_bad->at.site == INQUEST_SITE_START) return "initial";
    if (finding.hyperparameters_equal && !*finding.hyperparameters_equal) return "hyperparameters";
    if (finding.gradients == GradientState::kUnknown) return "unknown";
    if (finding.gradients != GradientState::kEqual) return "gradients";
    if (finding.optimizer_state_equal && !*finding.optimizer_state_equal) return "optimizer_state";
    return "update";
}

std::string equal_text(const std::optional<bool>& equal) {
    if (!equal) return "unknown";
    return *equal ? "equal" : "differ";
}

}  // namespace inquest::detect
