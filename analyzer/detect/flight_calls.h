// What torch's flight recorder says about the same question: does it put the same ranks on one side?
#pragma once
#include <vector>

#include "analyzer/detect/step_view.h"

namespace inquest::detect {

// True when the flight recorders of the ranks part, at the first sequence number where they differ within a
// group, into exactly `side` and the rest. False as well when there are no flight recorders.
bool flight_splits_alike(const StepView& step, const std::vector<int>& side);

}  // namespace inquest::detect
