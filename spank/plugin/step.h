/* One step as Slurm describes it to the plugin. */
#ifndef INQUEST_SPANK_PLUGIN_STEP_H
#define INQUEST_SPANK_PLUGIN_STEP_H

#include <slurm/spank.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { INQUEST_STEP_NAME_BYTES = 16 };

struct inquest_step {
    uint32_t job_id;
    uint32_t step_id;
    uid_t uid;
    gid_t gid;
    uint32_t node_index;                /* within the step */
    uint32_t node_count;                /* of the step */
    uint32_t task_count;                /* of the step */
    uint32_t local_task_count;          /* on this node */
    char name[INQUEST_STEP_NAME_BYTES]; /* "0", "1", ..., "batch", "interactive" or "extern" */
};

/* Job and step in srun, from slurm_spank_local_user_init on (earlier Slurm knows no job). 0 or -1. */
int inquest_step_of_srun(spank_t spank, struct inquest_step* ret_step);

/* All of it in slurmstepd. 0 or -1. */
int inquest_step_of_node(spank_t spank, struct inquest_step* ret_step);

int inquest_step_is_batch(const struct inquest_step* step);

/* The step that only keeps the job's cgroup and never runs a task of the user. */
int inquest_step_is_extern(const struct inquest_step* step);

#ifdef __cplusplus
}
#endif

#endif
