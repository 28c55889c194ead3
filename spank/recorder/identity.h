/* Who this process is, as the header of a box tells it. */
#ifndef INQUEST_SPANK_RECORDER_IDENTITY_H
#define INQUEST_SPANK_RECORDER_IDENTITY_H

#include <stdint.h>

#include "spank/format/black_box.h"

/* Start time of this process in clock ticks: field 22 of /proc/self/stat (proc(5)). Errors: -errno, -EPROTO
 * when the file is not as expected. */
int inquest_identity_start_time(uint64_t* ret_ticks);

/* Fills every field of the header except the magic. `start_time_ticks` is the one above, `program` may be
 * NULL. Slurm's names are those that srun(1) documents as output environment variables. A batch step has
 * SLURM_JOB_ID and no SLURM_STEP_ID: it gets Slurm's number for it, 0xfffffffb (SLURM_BATCH_SCRIPT in
 * slurm.h). */
void inquest_identity_fill(struct inquest_box_header* header, uint64_t start_time_ticks, const char* program);

#endif
