// Where replicas that have to be equal first were not: the ground of every fact about divergence.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/detect/checkpoints.h"
#include "analyzer/detect/tensor_differences.h"

namespace inquest::detect {

// Why the ranks have to agree.
enum class Agreement {
    kPromise,     // a wrapper says so
    kGradients,   // most ranks used equal gradients for the step: the program reduces them itself
    kParameters,  // most ranks still hold equal parameters after a step
    kEarlier      // all had equal gradients and parameters at an earlier step
};

enum class GradientState { kUnknown, kEqual, kIsolated, kTiny, kDiffer };

struct DivergenceFinding {
    const History* history = nullptr;
    const Comparison* first_bad = nullptr;  // the first that differs
    const Comparison* decisive =
        nullptr;  // the first of those with the most members: who is off is read here
    const Comparison* last_good = nullptr;  // with all of decisive's members; nullptr: none
    Sides sides;                            // of decisive
    Agreement agreement = Agreement::kPromise;
    std::optional<TensorDifferences> tensors;
    GradientState gradients = GradientState::kUnknown;  // of the step that first_bad follows
    std::optional<TensorDifferences> gradient_tensors;
    std::optional<bool> hyperparameters_equal;      // at that step
    std::optional<bool> optimizer_state_equal;      // before it
    std::vector<std::pair<int64_t, double>> sizes;  // step, relative difference; ascending
};

// Of one history: nullopt where nothing differs, or where nobody says that it has to be equal.
std::optional<DivergenceFinding> find_divergence(const StepView& step, const std::vector<History>& all,
                                                 const History& history);

// At most one per optimizer and part, in order of training.
std::vector<DivergenceFinding> find_divergences(const StepView& step, const std::vector<History>& all);

}  // namespace inquest::detect
