// What else was different between the ranks when their replicas parted: the facts that tell reasons apart.
#pragma once
#include "analyzer/detect/divergence_finding.h"

namespace inquest::detect {

// Of the digests: initial_weights_differ, state_loaded, gradients_differ, statistics_differ,
// hyperparameters_differ, random_state_differs, seeds_differ, batches_compared. Of the steps between the last
// good and the first bad checkpoint: accumulation_differs, wrapper_bypassed, steps_skipped.
// All carry the time of the finding: they belong to it, whenever their records were written.
Observations detect_reasons(const StepView& step, const std::vector<History>& histories,
                            const DivergenceFinding& finding);

// The part of them that the STEP records tell.
Observations detect_step_reasons(const StepView& step, const DivergenceFinding& finding);

}  // namespace inquest::detect
