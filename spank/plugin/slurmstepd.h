/* The plugin in slurmstepd (S_CTX_REMOTE). Every callback returns 0: whatever fails here, the step runs
 * without Inquest on this node. Order and users of the callbacks: slurm-spank(7); all run as root but
 * user_init, in which only the effective user is the job's.
 *
 * A step is armed when its environment has INQUEST_ARMED=1, as srun set it. The batch step has no srun: there
 * the plugin asks inquest-launch itself, in user_init, where the working directory is the job's.
 */
#ifndef INQUEST_SPANK_PLUGIN_SLURMSTEPD_H
#define INQUEST_SPANK_PLUGIN_SLURMSTEPD_H

#include <slurm/spank.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where things are on this node; another place only in tests. */
struct inquest_node_places {
    const char* run_directory;
    const char* daemon_socket;
};

int inquest_slurmstepd_init(spank_t spank, int argument_count, char* arguments[]);
int inquest_slurmstepd_init_post_opt(spank_t spank);  /* makes the box directory and the journal */
int inquest_slurmstepd_user_init(spank_t spank);      /* asks inquest-launch where srun could not */
int inquest_slurmstepd_task_post_fork(spank_t spank); /* STEP_START, then TASK_START */
int inquest_slurmstepd_task_exit(spank_t spank);      /* TASK_EXIT */
int inquest_slurmstepd_exit(void);                    /* STEP_END */

void inquest_slurmstepd_use_places(const struct inquest_node_places* places);

#ifdef __cplusplus
}
#endif

#endif
