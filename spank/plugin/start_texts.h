/* The texts of STEP_START, from the step's environment and host. */
#ifndef INQUEST_SPANK_PLUGIN_START_TEXTS_H
#define INQUEST_SPANK_PLUGIN_START_TEXTS_H

#include <slurm/spank.h>

#include "spank/plugin/step_message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds texts and the stall time to a begun STEP_START. 0, or a negative errno when they do not fit. Not
 * thread-safe. */
int inquest_add_start_texts(spank_t spank, const char* box_path, struct inquest_step_packet* packet);

#ifdef __cplusplus
}
#endif

#endif
