/* The settings for people: `inquest explain settings`. */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spank/launch/settings.h"

namespace inquest::launch {

/* What a step's evidence says about its environment. */
struct StepNames {
    std::vector<std::string> injected;
    std::vector<std::string> left_alone;
};

/* All settings; with `step`, what became of each of them in that step. */
std::string settings_text(const std::vector<Setting>& settings, const std::optional<StepNames>& step);

}  // namespace inquest::launch
