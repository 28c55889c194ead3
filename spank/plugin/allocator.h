/* The plugin in sbatch and salloc (S_CTX_ALLOCATOR): options only. Slurm carries them to the batch step and
 * to every srun within the job. */
#ifndef INQUEST_SPANK_PLUGIN_ALLOCATOR_H
#define INQUEST_SPANK_PLUGIN_ALLOCATOR_H

#include <slurm/spank.h>

#ifdef __cplusplus
extern "C" {
#endif

int inquest_allocator_init(spank_t spank);

#ifdef __cplusplus
}
#endif

#endif
