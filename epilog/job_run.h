/* Runs of a job in Slurm's accounting, and which of them a record line belongs to. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inquest::epilog {

/* A requeued job has a record for each run, under the same job id. */
struct JobRun {
    std::uint32_t job_id = 0;
    std::uint32_t array_job_id = 0; /* 0: no array task */
    std::uint32_t array_task_id = 0;
    std::uint32_t het_job_id = 0; /* 0: no component of a heterogeneous job */
    std::uint32_t het_job_offset = 0;
    std::uint32_t state = 0; /* as slurmdbd stores it */
    std::int64_t submitted_wall_s = 0;
    std::int64_t started_wall_s = 0; /* of a pending run: now */
    std::string value;               /* of the field that the line goes to */
};

/* slurmdbd changes the newest record of a job that fits the condition, and of the conditions that distinguish
 * runs it looks only at the state [both seen on 22.05.8]. */
struct RunChoice {
    JobRun run;
    bool by_state; /* the condition has to name run.state, because a newer run exists */
};

/* How far the clocks of the node and of slurmctld may differ. */
inline constexpr std::int64_t kMaxClockSkewS = 5;

/* The run that was on at `run_wall_s`: the latest that had started. Nothing when no run fits, or when a newer
 * run is in the same state, so that a change would reach that one. A job with one run needs no clock. */
std::optional<RunChoice> choose_run(const std::vector<JobRun>& runs, std::int64_t run_wall_s);

}  // namespace inquest::epilog
