#include "spank/plugin/step.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <string.h>

static void set_name(struct inquest_step* step) {
    switch (step->step_id) {
        case SLURM_BATCH_SCRIPT:
            (void)snprintf(step->name, sizeof step->name, "batch");
            break;
        case SLURM_INTERACTIVE_STEP:
            (void)snprintf(step->name, sizeof step->name, "interactive");
            break;
        case SLURM_EXTERN_CONT:
            (void)snprintf(step->name, sizeof step->name, "extern");
            break;
        default:
            (void)snprintf(step->name, sizeof step->name, "%u", step->step_id);
    }
}

int inquest_step_of_srun(spank_t spank, struct inquest_step* ret_step) {
    struct inquest_step step;
    memset(&step, 0, sizeof step);
    if (spank_get_item(spank, S_JOB_ID, &step.job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step.step_id) != ESPANK_SUCCESS) {
        return -1;
    }
    set_name(&step);
    *ret_step = step;
    return 0;
}

static uint32_t count_item(spank_t spank, spank_item_t item, uint32_t absent) {
    uint32_t count = 0;
    return spank_get_item(spank, item, &count) == ESPANK_SUCCESS && count != 0 ? count : absent;
}

int inquest_step_of_node(spank_t spank, struct inquest_step* ret_step) {
    struct inquest_step step;
    if (inquest_step_of_srun(spank, &step) != 0 ||
        spank_get_item(spank, S_JOB_UID, &step.uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_GID, &step.gid) != ESPANK_SUCCESS) {
        return -1;
    }
    int batch = inquest_step_is_batch(&step);
    step.local_task_count = count_item(spank, S_JOB_LOCAL_TASK_COUNT, 1);
    /* In the batch step Slurm gives the job's nodes, and 0 tasks in all; the step itself is one task on one
     * node. */
    step.node_index = batch ? 0 : count_item(spank, S_JOB_NODEID, 0);
    step.node_count = batch ? 1 : count_item(spank, S_JOB_NNODES, 1);
    step.task_count = batch ? 1 : count_item(spank, S_JOB_TOTAL_TASK_COUNT, step.local_task_count);
    *ret_step = step;
    return 0;
}

int inquest_step_is_batch(const struct inquest_step* step) {
    return step->step_id == SLURM_BATCH_SCRIPT;
}

int inquest_step_is_extern(const struct inquest_step* step) {
    return step->step_id == SLURM_EXTERN_CONT;
}
