// How findings about replicas are put into attributes and sentences.
#pragma once
#include <string>

#include "analyzer/detect/divergence_finding.h"

namespace inquest::detect {

const char* part_name(inquest_part part);
const char* gradient_state_name(GradientState state);

// "layers.0.weight, layers.0.bias and 3 more"; "tensors that were not recorded" without a table.
std::string describe_tensors(const std::optional<TensorDifferences>& tensors);

// "at step 8", "between step 4 and step 8", "before the first step".
std::string describe_moment(const DivergenceFinding& finding);

// "3e-07 at step 8, 1e-05 at step 64": at most four moments; empty where it was measured once or never.
std::string describe_growth(const DivergenceFinding& finding);

std::string relative_text(double relative);

// What differed first, as far as the digests tell: initial, gradients, hyperparameters, optimizer_state,
// update (all inputs of the update were equal) or unknown.
const char* first_difference(const DivergenceFinding& finding);

std::string equal_text(const std::optional<bool>& equal);

}  // namespace inquest::detect
