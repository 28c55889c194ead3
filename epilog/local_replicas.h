/* Whether the replicas of a step's ranks on this node differ, by the boxes that the ended step left: for
 * nodes on which no inquestd has watched them. Runs as the user. */
#pragma once

#include "spank/harvest/step_description.h"

namespace inquest::epilog {

bool local_replicas_differ(const harvest::StepDescription& step);

}  // namespace inquest::epilog
