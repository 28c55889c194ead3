/* The public header is C: this file is compiled as C and uses every function. */
#include <string.h>

#include "spank/recorder/inquest.h"

int main(void) {
    char path[64];
    int failed = inquest_box_claim("/nonexistent/directory", NULL) == 0;
    failed |= inquest_box_is_claimed();
    failed |= inquest_box_path("box", ".ibb", path, sizeof path) == 0;
    failed |= inquest_box_intern("text", strlen("text")) != INQUEST_BOX_NO_STRING;
    failed |= inquest_box_write(INQUEST_RING_EVENTS, INQUEST_KIND_STATE, 0, NULL, NULL) == 0;
    failed |= inquest_box_set_rank(0, 1) == 0;
    failed |= inquest_box_set_stack_signal(0) == 0;
    return failed;
}
