/* What inquestd has not written of this node's evidence, the epilog's child writes. Runs as the user. */
#pragma once

#include <vector>

#include "epilog/deadline.h"
#include "epilog/journals.h"

namespace inquest::epilog {

/* Harvests each step whose evidence is wanted and not final on this node: a task of this node failed, or
 * another node has asked for it.
 * When the job failed somewhere else, that request may still be on its way and is waited for a short time. */
void harvest_wanted_steps(const std::vector<JobStep>& steps, bool failed_elsewhere, Deadline deadline);

/* Waits until one of the steps has evidence; true when one has. Looks once when nothing failed. */
bool wait_for_evidence(const std::vector<JobStep>& steps, bool failed_elsewhere, Deadline deadline);

}  // namespace inquest::epilog
