/* The evidence and the diagnosis of a step as the epilog's child sees them (docs/formats/evidence.md). All of
 * it runs as the user: the paths come from the user's environment. */
#pragma once

#include <string>
#include <vector>

#include "epilog/deadline.h"
#include "spank/harvest/step_description.h"

namespace inquest::epilog {

/* Whether the step's evidence directory exists: somebody wants this step's evidence, or has written it. */
bool has_evidence(const harvest::StepDescription& step);

/* Waits until each of `nodes` has written its final evidence, at most until the deadline. True when all have.
 */
bool wait_for_nodes(const harvest::StepDescription& step, const std::vector<std::string>& nodes,
                    Deadline deadline);

/* Whether a process of the step left a black box: it ran under the Python hook or used libinquest. */
bool has_box(const harvest::StepDescription& step);

/* diagnosis.json of the report directory, bounded; empty when it cannot be read. */
std::string read_diagnosis(const std::string& report_directory);

}  // namespace inquest::epilog
