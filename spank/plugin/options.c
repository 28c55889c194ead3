#include "spank/plugin/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct inquest_options given;

/* Parsers store below `field` and return 0, or -1 and leave it untouched. */
static int parse_on(const char* text, void* field) {
    (void)text;
    *(enum inquest_choice*)field = INQUEST_CHOICE_ON;
    return 0;
}

static int parse_off(const char* text, void* field) {
    (void)text;
    *(enum inquest_choice*)field = INQUEST_CHOICE_OFF;
    return 0;
}

static int only_digits(const char* text) {
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* A whole number from `least` to `most`, in decimal digits. */
static int parse_number(const char* text, unsigned long least, unsigned long most, uint32_t* ret_number) {
    if (!only_digits(text)) {
        return -1;
    }
    errno = 0;
    unsigned long number = strtoul(text, NULL, 10);
    if (errno != 0 || number < least || number > most) {
        return -1;
    }
    *ret_number = (uint32_t)number;
    return 0;
}

static int parse_stall(const char* text, void* field) {
    return parse_number(text, INQUEST_STALL_MIN_SECONDS, INQUEST_STALL_MAX_SECONDS, field);
}

static int parse_timeout(const char* text, void* field) {
    return parse_number(text, INQUEST_TIMEOUT_MIN_SECONDS, INQUEST_TIMEOUT_MAX_SECONDS, field);
}

static int parse_seed(const char* text, void* field) {
    uint32_t seed = 0;
    if (parse_number(text, 0, UINT32_MAX, &seed) != 0) {
        return -1;
    }
    (void)snprintf(field, INQUEST_SEED_MAX_BYTES, "%u", seed);
    return 0;
}

/* Stores the word of the list that `text` is, in whatever case it was written. */
static int parse_word(const char* text, const char* const* words, void* field) {
    for (; *words != NULL; ++words) {
        if (strcasecmp(text, *words) == 0) {
            memcpy(field, words, sizeof *words);
            return 0;
        }
    }
    return -1;
}

static int parse_profile(const char* text, void* field) {
    static const char* const words[] = {"light", "standard", "deep", NULL};
    return parse_word(text, words, field);
}

static int parse_deterministic(const char* text, void* field) {
    static const char* const words[] = {"off", "warn", "strict", NULL};
    return parse_word(text, words, field);
}

/* NCCL 2.30, docs/userguide/source/env.rst, NCCL_DEBUG. */
static int parse_nccl_debug(const char* text, void* field) {
    static const char* const words[] = {"VERSION", "WARN", "INFO", "TRACE", NULL};
    return parse_word(text, words, field);
}

static int parse_on_divergence(const char* text, void* field) {
    static const char* const words[] = {"report", "cancel", NULL};
    return parse_word(text, words, field);
}

static int has_control_character(const char* text) {
    for (const char* byte = text; *byte != '\0'; ++byte) {
        if ((unsigned char)*byte < 0x20 || *byte == 0x7f) {
            return 1;
        }
    }
    return 0;
}

static int parse_directory(const char* text, void* field) {
    size_t bytes = strlen(text) + 1;
    if (bytes == 1 || bytes > INQUEST_DIRECTORY_MAX_BYTES || has_control_character(text)) {
        return -1;
    }
    memcpy(field, text, bytes);
    return 0;
}

struct option_rule {
    const char* name;
    const char* argument; /* NULL: the option takes none */
    const char* usage;
    int (*parse)(const char* text, void* field);
    size_t offset;        /* of the field in struct inquest_options */
    const char* expected; /* what to write instead of a refused value */
};

static const struct option_rule rules[] = {
    {"inquest", NULL, "diagnose this job if it fails, hangs or drifts apart", parse_on,
     offsetof(struct inquest_options, choice), ""},
    {"no-inquest", NULL, "run without Inquest where the site turns it on for all", parse_off,
     offsetof(struct inquest_options, choice), ""},
    {"inquest-stall", "SECONDS", "time without any progress after which the job counts as hung", parse_stall,
     offsetof(struct inquest_options, stall_seconds),
     "write a whole number of seconds from 1 to 86400, for example --inquest-stall=120"},
    {"inquest-dir", "PATH", "where the report directory inquest-<job> is made, default the working directory",
     parse_directory, offsetof(struct inquest_options, directory),
     "write a directory's path of at most 3071 bytes without control characters, for example "
     "--inquest-dir=/scratch/reports"},
    {"inquest-profile", "NAME", "how much is recorded: light, standard or deep", parse_profile,
     offsetof(struct inquest_options, profile), "write light, standard or deep"},
    {"inquest-deterministic", "MODE", "make results repeatable: off, warn or strict", parse_deterministic,
     offsetof(struct inquest_options, deterministic),
     "write off, warn (tell of what cannot be repeated) or strict (fail on it)"},
    {"inquest-seed", "N", "one seed for all random generators of the job", parse_seed,
     offsetof(struct inquest_options, seed),
     "write a whole number from 0 to 4294967295, for example --inquest-seed=42"},
    {"inquest-nccl-debug", "LEVEL", "NCCL's messages into files of the evidence", parse_nccl_debug,
     offsetof(struct inquest_options, nccl_debug), "write VERSION, WARN, INFO or TRACE"},
    {"inquest-timeout", "SECONDS", "how long a collective may wait before PyTorch ends the job",
     parse_timeout, offsetof(struct inquest_options, timeout_seconds),
     "write a whole number of seconds from 1 to 604800, for example --inquest-timeout=1800"},
    {"inquest-on-divergence", "ACTION", "when replicas surely drift apart: report or cancel",
     parse_on_divergence, offsetof(struct inquest_options, on_divergence), "write report or cancel"},
};

enum { RULE_COUNT = sizeof rules / sizeof rules[0] };

/* Slurm keeps the pointers, and its struct has non-const strings that it only reads. */
static struct spank_option registered[RULE_COUNT];

static char* unconst(const char* text) {
    char* writable = NULL;
    memcpy(&writable, &text, sizeof writable);
    return writable;
}

void inquest_options_register(spank_t spank) {
    for (int index = 0; index < RULE_COUNT; ++index) {
        struct spank_option* option = &registered[index];
        option->name = unconst(rules[index].name);
        option->arginfo = unconst(rules[index].argument);
        option->usage = unconst(rules[index].usage);
        option->has_arg =
            rules[index].argument != NULL; /* never 2: an absent text would travel as "(null)" */
        option->val = index;
        option->cb = inquest_options_take;
        if (spank_option_register(spank, option) != ESPANK_SUCCESS) {
            slurm_verbose("inquest: option --%s could not be registered", rules[index].name);
        }
    }
}

const struct inquest_options* inquest_options_given(void) {
    return &given;
}

int inquest_options_enabled(const struct inquest_options* options, int site_default_on) {
    if (options->invalid || options->choice == INQUEST_CHOICE_OFF) {
        return 0;
    }
    return options->choice == INQUEST_CHOICE_ON || options->asked || site_default_on;
}

static int refuse(const struct option_rule* rule, const char* text, int remote) {
    if (!remote) {
        slurm_error("inquest: --%s=%s is not possible: %s", rule->name, text, rule->expected);
        return -1;
    }
    /* Root's log: without the text, which srun's user may have made up. */
    slurm_error("inquest: the value of --%s is not possible: %s", rule->name, rule->expected);
    given.invalid = 1;
    return 0;
}

int inquest_options_take(int index, const char* text, int remote) {
    if (index < 0 || index >= RULE_COUNT) {
        return 0;
    }
    const struct option_rule* rule = &rules[index];
    const char* value = text == NULL ? "" : text;
    if (rule->parse(value, (char*)&given + rule->offset) != 0) {
        return refuse(rule, value, remote);
    }
    given.asked |= rule->argument != NULL;
    return 0;
}

void inquest_options_reset(void) {
    memset(&given, 0, sizeof given);
}
