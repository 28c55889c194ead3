/* The public header is C: this file is compiled as C and uses every function. */
#include <string.h>

#include "spank/recorder/inquest.h"

static int digest_functions_fail(void) {
    const float values[2] = {3, 4};
    const int64_t size = 2;
    const int64_t stride = 1;
    const struct inquest_tensor tensor = {values, &size, &stride, 1, sizeof *values, INQUEST_ELEMENT_FLOAT32};
    struct inquest_digest digest;
    uint64_t hashes[2];
    int failed = inquest_digest_tensors(&tensor, 1, 1, &digest) != 0 || digest.norm < 5 || digest.norm > 5;
    failed |= inquest_digest_rows(&tensor, hashes, 2) != 0 || hashes[0] == hashes[1];
    inquest_digest_combine(&digest, 1, hashes);
    failed |= inquest_table_open(1) == 0;
    failed |= inquest_table_name("1 1 0 float32 2 - weight\n", 25) == 0;
    failed |= inquest_table_write(&digest, 1) >= 0;
    return failed;
}

int main(void) {
    char path[64];
    int failed = inquest_box_claim("/nonexistent/directory", NULL) == 0;
    failed |= inquest_box_is_claimed();
    failed |= inquest_box_path("box", ".ibb", path, sizeof path) == 0;
    failed |= inquest_box_intern("text", strlen("text")) != INQUEST_BOX_NO_STRING;
    failed |= inquest_box_write(INQUEST_RING_EVENTS, INQUEST_KIND_STATE, 0, NULL, NULL) == 0;
    failed |= inquest_box_set_rank(0, 1) == 0;
    failed |= inquest_box_set_stack_signal(0) == 0;
    return failed | digest_functions_fail();
}
