/* The plugin in srun (S_CTX_LOCAL), as the user. Every callback returns 0: whatever fails here, the step
 * runs. */
#ifndef INQUEST_SPANK_PLUGIN_SRUN_H
#define INQUEST_SPANK_PLUGIN_SRUN_H

#include <slurm/spank.h>

#ifdef __cplusplus
extern "C" {
#endif

int inquest_srun_init(spank_t spank, int argument_count, char* arguments[]);
int inquest_srun_init_post_opt(void);

/* Decides for the whole step: runs inquest-launch, sets its answer and starts inquest-notice. */
int inquest_srun_local_user_init(spank_t spank);

/* After the step, through atexit: lets inquest-notice finish. */
int inquest_srun_exit(void);

#ifdef __cplusplus
}
#endif

#endif
