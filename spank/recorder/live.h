/* Live counters: what a record of each kind means for the counters at offset 4096 of the box.
 *
 *   STATE            state, never backwards          STEP             step + 1, micro_batches = 0
 *   BACKWARD_BEGIN   backward_begun + 1, micro_batches + 1, loss_bits, phase BACKWARD
 *   BACKWARD_END     backward_ended + 1, phase before
 *   PHASE_BEGIN/END  phase, phase_since_mono_ns      COLLECTIVE_BEGIN/END  collectives_begun/ended + 1
 *   EXIT             exit_status, state EXITED
 *
 * Phases are those of the main thread (thread identifier = process identifier): a checkpoint written by a
 * helper thread does not excuse the main thread. They nest; the innermost open one counts.
 */
#ifndef INQUEST_SPANK_RECORDER_LIVE_H
#define INQUEST_SPANK_RECORDER_LIVE_H

#include <stdint.h>

#include "spank/format/black_box.h"

enum { INQUEST_LIVE_PHASE_DEPTH = 16 }; /* deeper nesting is counted but shows the 16th phase */

/* Fills the counters of a new box. */
void inquest_live_init(struct inquest_box_live* live);

/* Moves the counters for one record. Thread-safe. Async-signal-safe: yes. */
void inquest_live_apply(struct inquest_box_live* live, const struct inquest_box_record* record);

#endif
