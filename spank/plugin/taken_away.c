#define _GNU_SOURCE
#include "spank/plugin/taken_away.h"

#include <string.h>

enum { LIST_BYTES = 8 * 1024 };

void inquest_take_away(spank_t spank) {
    static char list[LIST_BYTES]; /* too large for a thread's stack */
    if (spank_getenv(spank, "INQUEST_TAKEN_AWAY", list, sizeof list) == ESPANK_SUCCESS) {
        char* rest = NULL;
        for (char* name = strtok_r(list, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
            (void)spank_unsetenv(spank, name);
        }
    }
    (void)spank_unsetenv(spank, "INQUEST_TAKEN_AWAY");
}
