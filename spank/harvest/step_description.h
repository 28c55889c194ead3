/* What is known about one step on this node: the passive sum of its step messages
 * (spank/format/step_journal.h). */
#ifndef INQUEST_SPANK_HARVEST_STEP_DESCRIPTION_H
#define INQUEST_SPANK_HARVEST_STEP_DESCRIPTION_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace inquest::harvest {

struct TaskRecord {
    int32_t task = -1; /* global Slurm task number */
    int32_t pid = 0;
    std::optional<uint64_t> started_mono_ns;
    std::optional<uint64_t> exited_mono_ns;
    std::optional<uint64_t> exited_wall_ns;
    std::optional<int32_t> wait_status; /* as wait(2) returns it */
    uint32_t oom_kills = 0;
};

struct StepDescription {
    uint32_t job_id = 0;
    uint32_t step_id = 0;
    uint32_t uid = 0;
    uint32_t gid = 0;
    uint32_t node_index = 0;
    uint32_t node_count = 0;
    uint32_t task_count = 0;
    uint32_t local_task_count = 0;
    uint32_t stall_seconds = 0;
    std::string node;
    std::string nodes;            /* Slurm's hostlist form */
    std::string report_directory; /* absolute path of inquest-<job> */
    std::string box_directory;    /* absolute path */
    std::vector<std::string> injected;
    std::vector<std::string> left_alone;
    std::vector<TaskRecord> tasks; /* of this node, in order of appearance */
    bool cancel_on_divergence = false;
    bool ended = false; /* every process of the step on this node is gone */
};

/* The step's name in paths and JSON: its number, or "batch", "interactive", "extern". */
std::string step_name(uint32_t step_id);

/* The last component of the report directory: each run of a job has its own. */
std::string report_name(const StepDescription& step);
/* Whether the job had an earlier run, as far as that name says so (spank/launch/report_name.h). */
bool is_of_restarted_job(const StepDescription& step);

/* True when a task of this node ended with anything but exit status 0. */
bool any_task_failed(const StepDescription& step);
/* True when each task of this node is known to have ended with exit status 0. */
bool all_tasks_succeeded(const StepDescription& step);

}  // namespace inquest::harvest

#endif
