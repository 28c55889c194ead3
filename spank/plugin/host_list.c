#include "spank/plugin/host_list.h"

#include <slurm/slurm.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 1 << 20 };

static int is_name_character(char byte) {
    return strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", byte) != NULL;
}

int inquest_host_list_is_plain(const char* list) {
    int brackets = 0; /* of the current item */
    int inside = 0;
    for (const char* byte = list; *byte != '\0'; ++byte) {
        if (*byte == '[' && !inside && brackets == 0) {
            inside = 1;
            ++brackets;
        } else if (*byte == ']' && inside) {
            inside = 0;
        } else if (*byte == ',' && !inside) {
            brackets = 0;
        } else if (*byte != ',' && !is_name_character(*byte)) {
            return 0;
        }
    }
    return !inside;
}

void inquest_host_list_name(const char* list, uint32_t index, char* ret_name, size_t bytes) {
    ret_name[0] = '\0';
    if (!inquest_host_list_is_plain(list) || index >= MOST_NAMES) {
        return;
    }
    /* hostlist_t is the pointer in 22.05 and the struct behind it in later versions. */
    __typeof__(slurm_hostlist_create(list)) names = slurm_hostlist_create(list);
    char* name = names == NULL ? NULL : slurm_hostlist_shift(names);
    for (uint32_t skipped = 0; skipped < index && name != NULL; ++skipped) {
        free(name);
        name = slurm_hostlist_shift(names);
    }
    if (name != NULL && strlen(name) < bytes) {
        memcpy(ret_name, name, strlen(name) + 1);
    }
    free(name);
    if (names != NULL) {
        slurm_hostlist_destroy(names);
    }
}
