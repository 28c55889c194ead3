/* What inquestd has not written of this node's evidence, the epilog's child writes. Runs as the user. */
#pragma once

#include <vector>

#include "epilog/deadline.h"
#include "epilog/journals.h"

namespace inquest::epilog {

struct HarvestWish {
    bool failed_elsewhere; /* a request for evidence may still be on its way and is waited for a short time */
    bool compare_replicas; /* nobody has done it while the steps ran */
};

/* Harvests each step whose evidence is wanted and not final on this node: a task of this node failed, another
 * node has asked for it, or the replicas on this node are asked about and differ. Removes what this node
 * left for the comparison with others. */
void harvest_wanted_steps(const std::vector<JobStep>& steps, const HarvestWish& wish, Deadline deadline);

/* Waits until one of the steps has evidence; true when one has. Looks once when nothing failed. */
bool wait_for_evidence(const std::vector<JobStep>& steps, bool failed_elsewhere, Deadline deadline);

}  // namespace inquest::epilog
