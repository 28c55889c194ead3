/* The report directory of a job and the evidence of a step in it, by descriptor (docs/formats/evidence.md).
 *
 * Every look-up opens the directories one after the other: on NFS opening a directory revalidates what the
 * client remembers of it (close-to-open consistency, nfs(5)), so that a directory which another node made is
 * seen at once. */
#ifndef INQUEST_SPANK_HARVEST_REPORT_DIRECTORY_H
#define INQUEST_SPANK_HARVEST_REPORT_DIRECTORY_H

#include <string>
#include <tl/expected.hpp>

#include "spank/harvest/step_description.h"
#include "spank/harvest/unique_fd.h"

namespace inquest::harvest {

/* Opens <report directory>/evidence/<step>; invalid when it does not exist. */
UniqueFd open_step_evidence(const StepDescription& step);

/* The same, making what is missing. The directory that holds the report directory has to exist. */
tl::expected<UniqueFd, std::string> make_step_evidence(const StepDescription& step);

/* <report directory>/digests/<step>, where the nodes of a running step tell each other what their replicas
 * hold: opened, or made like the evidence. */
UniqueFd open_step_digests(const StepDescription& step);
tl::expected<UniqueFd, std::string> make_step_digests(const StepDescription& step);

/* Removes this node's file there, and each directory above it that is empty then, up to the report directory.
 * Follows no link; what cannot be removed stays. */
void remove_own_digests(const StepDescription& step);

/* Removes what Inquest wrote about this step, and the report directory itself when nothing else is left in
 * it: evidence/<step>, notice-<step>.txt and, with the last step, evidence, diagnosis.json and report.txt.
 * Follows no link, descends no deeper than evidence goes, leaves foreign files alone. An error names the
 * first thing that could not be removed. Nothing to remove is success. */
tl::expected<void, std::string> remove_step_evidence(const std::string& report_directory,
                                                     const std::string& step);

}  // namespace inquest::harvest

#endif
