/* How many processes of the step the kernel's out-of-memory killer ended, as far as the step's memory cgroup
 * tells.
 *
 * slurmstepd sits in the step's memory cgroup (task/cgroup): with cgroup v1 in .../step_<S>, with v2 in
 * .../step_<S>/slurm. v2's memory.events counts the whole step; v1's memory.oom_control counts one level, so
 * the tasks' levels are added. */
#ifndef INQUEST_SPANK_PLUGIN_OOM_COUNT_H
#define INQUEST_SPANK_PLUGIN_OOM_COUNT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `self_cgroup` is /proc/self/cgroup, `cgroup_root` /sys/fs/cgroup. 0 when nothing was killed and when it is
 * unknown. */
uint32_t inquest_oom_kills(const char* self_cgroup, const char* cgroup_root);

#ifdef __cplusplus
}
#endif

#endif
