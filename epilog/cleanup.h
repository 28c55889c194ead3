/* Removes what the steps of a job left under /run/inquest on this node. */
#pragma once

#include <cstdint>
#include <string>

namespace inquest::epilog {

/* Unmounts and removes <run_directory>/<job>.<step>, then removes the job's journals in
 * <run_directory>/steps. Looks into no directory of the user's and waits for nothing: a box directory that is
 * still in use disappears from its place at once and goes when the last user of it ends. Returns how many
 * things could not be removed. */
int remove_job_traces(const std::string& run_directory, std::uint32_t job_id);

}  // namespace inquest::epilog
