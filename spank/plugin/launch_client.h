/* Asks inquest-launch once what a step's environment shall be. Costs at most INQUEST_LAUNCH_LIMIT_MS. */
#ifndef INQUEST_SPANK_PLUGIN_LAUNCH_CLIENT_H
#define INQUEST_SPANK_PLUGIN_LAUNCH_CLIENT_H

#include <stdint.h>

#include "spank/plugin/child.h"
#include "spank/plugin/environment_records.h"
#include "spank/plugin/options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { INQUEST_LAUNCH_LIMIT_MS = 1000 };

struct inquest_launch_request {
    const char* launch_path;
    uint32_t job_id;
    const char* step_name;
    int off; /* 1: the step is not to have Inquest; the answer names what an enclosing armed step set */
    const struct inquest_options* options;
    char* const* environment;                /* the user's */
    const struct inquest_identity* identity; /* NULL in srun, the user on a node */
};

/* Fills `records` with the checked answer. A helper that is missing, fails, hangs or talks nonsense: BROKEN.
 */
enum inquest_answer inquest_launch_ask(const struct inquest_launch_request* request,
                                       struct inquest_records* records);

#ifdef __cplusplus
}
#endif

#endif
