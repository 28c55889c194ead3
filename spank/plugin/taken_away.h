/* Takes away what an enclosing armed step had set and this one is not to have.
 *
 * Only a node can: srun adds what a plugin sets in its own environment to the step's, but keeps what a plugin
 * unsets there (seen with 22.05.8). So inquest-launch names the variables in INQUEST_TAKEN_AWAY. */
#ifndef INQUEST_SPANK_PLUGIN_TAKEN_AWAY_H
#define INQUEST_SPANK_PLUGIN_TAKEN_AWAY_H

#include <slurm/spank.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Unsets in the step's environment the names that INQUEST_TAKEN_AWAY lists, and the list itself. The list
 * comes from the user's environment and can do no more than the user could. A list of 8 KiB or more is
 * ignored. Not thread-safe. */
void inquest_take_away(spank_t spank);

#ifdef __cplusplus
}
#endif

#endif
