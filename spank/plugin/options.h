/* The options that the plugin adds to srun, sbatch and salloc.
 *
 * Slurm calls the option callbacks with what the command line and the environment of an enclosing job say,
 * the environment first (slurm-spank(7), spank_process_env_options of src/common/spank.c), so the last value
 * wins and a repeated one is accepted. State is one per process, written only while Slurm processes options;
 * not thread-safe.
 */
#ifndef INQUEST_SPANK_PLUGIN_OPTIONS_H
#define INQUEST_SPANK_PLUGIN_OPTIONS_H

#include <slurm/spank.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    INQUEST_STALL_MIN_SECONDS = 1,
    INQUEST_STALL_MAX_SECONDS = 86400,
    INQUEST_TIMEOUT_MIN_SECONDS = 1,
    INQUEST_TIMEOUT_MAX_SECONDS = 604800,
    INQUEST_DIRECTORY_MAX_BYTES = 3072, /* with NUL; leaves room for inquest-<job>/... below PATH_MAX */
    INQUEST_SEED_MAX_BYTES = 11         /* with NUL; the largest seed is 4294967295 */
};

enum inquest_choice { INQUEST_CHOICE_NONE = 0, INQUEST_CHOICE_ON, INQUEST_CHOICE_OFF };

struct inquest_options {
    enum inquest_choice choice; /* the last of --inquest and --no-inquest */
    uint32_t stall_seconds;     /* --inquest-stall, 0 when not given */
    uint32_t timeout_seconds;   /* --inquest-timeout, 0 when not given */
    const char* profile;        /* one of its words; NULL when not given, as the next three */
    const char* deterministic;
    const char* nccl_debug;
    const char* on_divergence;
    char seed[INQUEST_SEED_MAX_BYTES];           /* --inquest-seed in decimal, "" when not given */
    char directory[INQUEST_DIRECTORY_MAX_BYTES]; /* --inquest-dir, "" when not given */
    int asked;                                   /* a value option was given: asks for Inquest as well */
    int invalid;                                 /* a value was refused: no Inquest in this process */
};

/* Registers all options; only from slurm_spank_init, in every context that uses them. */
void inquest_options_register(spank_t spank);

/* What was given so far. */
const struct inquest_options* inquest_options_given(void);

/* Whether the step is to be armed: --inquest and --no-inquest decide; without them a value option asks for
 * Inquest as well; without any option the site's default decides. */
int inquest_options_enabled(const struct inquest_options* options, int site_default_on);

/* Takes one option; the callback of every registered option. `index` counts the table's rows.
 * Returns 0, or -1 for an impossible value in a command of the user (remote 0), which makes the command stop
 * before anything runs. On a node (remote 1) a job never fails: returns 0 and marks the options invalid. */
int inquest_options_take(int index, const char* text, int remote);

/* Forgets what was given. For tests. */
void inquest_options_reset(void);

#ifdef __cplusplus
}
#endif

#endif
