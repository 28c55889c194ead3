/* What ended steps of a running job leave on a node. */
#ifndef INQUEST_SPANK_PLUGIN_ENDED_STEPS_H
#define INQUEST_SPANK_PLUGIN_ENDED_STEPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Well-ended steps whose traces stay: another node of such a step may still fail and want this node's
 * evidence. */
enum { INQUEST_ENDED_STEPS_KEPT = 8 };

/* Removes box directory and journal of the job's steps that ended here without a failed task, but for the
 * newest. A box directory is charged to the job's memory as long as it is mounted (measured with cgroup v1: a
 * job of many short steps was killed for it). As root, when a new step of the job begins. Failures are no
 * error: the epilog removes everything. */
void inquest_ended_steps_trim(const char* run_directory, uint32_t job_id);

#ifdef __cplusplus
}
#endif

#endif
