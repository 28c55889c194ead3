/* What Slurm calls, and where it goes: one file per context. */
#include <slurm/spank.h>

#include "spank/plugin/allocator.h"
#include "spank/plugin/slurmstepd.h"
#include "spank/plugin/srun.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED extern const char plugin_name[];
EXPORTED extern const char plugin_type[];
EXPORTED extern const unsigned int plugin_version;
EXPORTED extern const unsigned int spank_plugin_version;

SPANK_PLUGIN(inquest, 1)

EXPORTED int slurm_spank_init(spank_t spank, int argument_count, char* arguments[]) {
    switch (spank_context()) {
        case S_CTX_LOCAL:
            return inquest_srun_init(spank, argument_count, arguments);
        case S_CTX_ALLOCATOR:
            return inquest_allocator_init(spank);
        case S_CTX_REMOTE:
            return inquest_slurmstepd_init(spank, argument_count, arguments);
        default:
            return 0;
    }
}

EXPORTED int slurm_spank_init_post_opt(spank_t spank, int argument_count, char* arguments[]) {
    (void)argument_count;
    (void)arguments;
    switch (spank_context()) {
        case S_CTX_LOCAL:
            return inquest_srun_init_post_opt();
        case S_CTX_REMOTE:
            return inquest_slurmstepd_init_post_opt(spank);
        default:
            return 0;
    }
}

EXPORTED int slurm_spank_local_user_init(spank_t spank, int argument_count, char* arguments[]) {
    (void)argument_count;
    (void)arguments;
    switch (spank_context()) {
        case S_CTX_LOCAL:
            return inquest_srun_local_user_init(spank);
        default:
            return 0;
    }
}

EXPORTED int slurm_spank_user_init(spank_t spank, int argument_count, char* arguments[]) {
    (void)argument_count;
    (void)arguments;
    switch (spank_context()) {
        case S_CTX_REMOTE:
            return inquest_slurmstepd_user_init(spank);
        default:
            return 0;
    }
}

EXPORTED int slurm_spank_task_post_fork(spank_t spank, int argument_count, char* arguments[]) {
    (void)argument_count;
    (void)arguments;
    switch (spank_context()) {
        case S_CTX_REMOTE:
            return inquest_slurmstepd_task_post_fork(spank);
        default:
            return 0;
    }
}

EXPORTED int slurm_spank_task_exit(spank_t spank, int argument_count, char* arguments[]) {
    (void)argument_count;
    (void)arguments;
    switch (spank_context()) {
        case S_CTX_REMOTE:
            return inquest_slurmstepd_task_exit(spank);
        default:
            return 0;
    }
}

EXPORTED int slurm_spank_exit(spank_t spank, int argument_count, char* arguments[]) {
    (void)spank;
    (void)argument_count;
    (void)arguments;
    switch (spank_context()) {
        case S_CTX_LOCAL:
            return inquest_srun_exit();
        case S_CTX_REMOTE:
            return inquest_slurmstepd_exit();
        default:
            return 0;
    }
}
