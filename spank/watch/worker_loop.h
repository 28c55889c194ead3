/* The loop of a step worker: requests from the core and ticks of time go to a StepWatch. */
#ifndef INQUEST_SPANK_WATCH_WORKER_LOOP_H
#define INQUEST_SPANK_WATCH_WORKER_LOOP_H

#include "spank/watch/step_watch.h"

namespace inquest::watch {

/* Runs until the watch is finished or the core has closed the channel. */
void run_worker_loop(int channel_fd, StepWatch& watch);

}  // namespace inquest::watch

#endif
