/* The evidence and the diagnosis of a step as the epilog's child sees them (docs/formats/evidence.md). All of
 * it runs as the user: the paths come from the user's environment. */
#pragma once

#include <string>

#include "epilog/deadline.h"
#include "spank/harvest/step_description.h"

namespace inquest::epilog {

/* Whether the step's evidence directory exists: somebody wants this step's evidence, or has written it. */
bool has_evidence(const harvest::StepDescription& step);

/* How the step ended, by the final evidence of all its nodes. */
enum class StepEnd {
    kWell,       /* each of its tasks with status 0, and no node noticed replicas that differ */
    kDiffering,  /* each of its tasks with status 0, but a node noticed replicas that differ */
    kNotWell,    /* a task failed, or all nodes have answered and not all say that their tasks ended well */
    kCancelled,  /* Inquest cancelled the job: the diagnosis that led to it stands */
    kPartlyWell, /* not all nodes answered before the deadline; those that did, if any, say well */
    kNotKnown    /* not all nodes answered before the deadline */
};

/* Waits for the final evidence of the step's nodes, at most until the deadline. */
StepEnd wait_for_nodes(const harvest::StepDescription& step, Deadline deadline);

/* diagnosis.json of the report directory, bounded; empty when it cannot be read. */
std::string read_diagnosis(const std::string& report_directory);

}  // namespace inquest::epilog
