#include "spank/plugin/site_arguments.h"

#include <slurm/spank.h>
#include <stddef.h>
#include <string.h>

#include "inquest_paths.h"

static int parse_path(const char* text, void* field) {
    if (text[0] != '/') {
        return -1;
    }
    memcpy(field, &text, sizeof text);
    return 0;
}

static int parse_on_off(const char* text, void* field) {
    int on = strcmp(text, "on") == 0;
    if (!on && strcmp(text, "off") != 0) {
        return -1;
    }
    *(int*)field = on;
    return 0;
}

struct argument_rule {
    const char* name;
    int (*parse)(const char* text, void* field);
    size_t offset;
    const char* expected;
};

static const struct argument_rule rules[] = {
    {"launch", parse_path, offsetof(struct inquest_site_arguments, launch_path), "launch=/absolute/path"},
    {"notice", parse_path, offsetof(struct inquest_site_arguments, notice_path), "notice=/absolute/path"},
    {"default", parse_on_off, offsetof(struct inquest_site_arguments, default_on),
     "default=on or default=off"},
};

static const struct argument_rule* find_rule(const char* argument, size_t name_bytes) {
    for (size_t index = 0; index < sizeof rules / sizeof rules[0]; ++index) {
        if (strlen(rules[index].name) == name_bytes &&
            strncmp(rules[index].name, argument, name_bytes) == 0) {
            return &rules[index];
        }
    }
    return NULL;
}

static void parse_argument(const char* argument, struct inquest_site_arguments* site) {
    size_t name_bytes = strcspn(argument, "=");
    const struct argument_rule* rule = find_rule(argument, name_bytes);
    if (rule == NULL || argument[name_bytes] != '=') {
        slurm_error("inquest: plugstack.conf: unknown argument \"%s\": write launch=, notice= or default=",
                    argument);
        return;
    }
    if (rule->parse(argument + name_bytes + 1, (char*)site + rule->offset) != 0) {
        slurm_error("inquest: plugstack.conf: \"%s\" is not possible: write %s", argument, rule->expected);
    }
}

void inquest_site_arguments_parse(int count, char* arguments[], struct inquest_site_arguments* ret_site) {
    ret_site->launch_path = INQUEST_PATH_LAUNCH;
    ret_site->notice_path = INQUEST_PATH_NOTICE;
    ret_site->default_on = 0;
    for (int index = 0; index < count; ++index) {
        parse_argument(arguments[index], ret_site);
    }
}
