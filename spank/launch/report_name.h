/* The name of the report directory, which tells the runs of a requeued job apart: they share job and step
 * numbers, and none may find what another has left. */
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "spank/launch/environment.h"

namespace inquest::launch {

/* "inquest-4711", after the n-th restart "inquest-4711-restart<n>".
 *
 * srun finds n in SLURM_RESTART_COUNT (sbatch(1), OUTPUT ENVIRONMENT VARIABLES). In the batch step Slurm sets
 * that only after plugins were asked, and S_SLURM_RESTART_COUNT is always 0 (seen with 22.05.8). But this
 * step is the first of its run: a name that is taken is of an earlier one, so it gets the first that is not.
 */
std::string report_name(uint32_t job_id, const std::string& step, const Environment& environment,
                        const std::function<bool(const std::string& name)>& is_taken);

}  // namespace inquest::launch
