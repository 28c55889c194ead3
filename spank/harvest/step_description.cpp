#include "spank/harvest/step_description.h"

#include <algorithm>

namespace inquest::harvest {

/* Step numbers above 0xfffffff0 are Slurm's sentinels (slurm/slurm.h: SLURM_BATCH_SCRIPT, ...). */
std::string step_name(uint32_t step_id) {
    switch (step_id) {
        case 0xfffffffbU:
            return "batch";
        case 0xfffffffaU:
            return "interactive";
        case 0xfffffffcU:
            return "extern";
        default:
            return std::to_string(step_id);
    }
}

std::string report_name(const StepDescription& step) {
    return step.report_directory.substr(step.report_directory.rfind('/') + 1);
}

bool is_of_restarted_job(const StepDescription& step) {
    return report_name(step).find("-restart") != std::string::npos;
}

bool any_task_failed(const StepDescription& step) {
    return std::any_of(step.tasks.begin(), step.tasks.end(),
                       [](const TaskRecord& task) { return task.wait_status.value_or(0) != 0; });
}

bool all_tasks_succeeded(const StepDescription& step) {
    return step.tasks.size() == step.local_task_count &&
           std::all_of(step.tasks.begin(), step.tasks.end(),
                       [](const TaskRecord& task) { return task.wait_status == 0; });
}

}  // namespace inquest::harvest
