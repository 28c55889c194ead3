/* The environment without what Inquest itself put there.
 *
 * An armed step hands its environment to the srun commands within it and to jobs that are submitted from it.
 * What Inquest had set there must neither pass for the user's own word nor stay where the inner step has
 * other options. What was set follows from the outer step's own variables (INQUEST_INJECTED, INQUEST_PROFILE,
 * INQUEST_SEED, ...) and the settings. */
#pragma once

#include <string>
#include <vector>

#include "spank/launch/environment.h"
#include "spank/launch/settings.h"

namespace inquest::launch {

/* Names that belong to Inquest alone, but for INQUEST_ARMED and INQUEST_DISARMED. */
const std::vector<std::string>& own_names();

/* The user's part of `environment`. A value that somebody changed within the outer step is the user's. */
Environment users_environment(const Environment& environment, const std::vector<Setting>& settings,
                              const std::string& hook_directory);

}  // namespace inquest::launch
