#define _GNU_SOURCE
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "mapping.h"

enum { STAT_BYTES = 1024, START_TIME_FIELD = 22, BATCH_STEP = -5 };

static int read_stat(char* ret_text) {
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    ssize_t count = read(fd, ret_text, STAT_BYTES - 1);
    int error = errno;
    (void)close(fd);
    if (count < 0) {
        return -error;
    }
    ret_text[count] = '\0';
    return 0;
}

/* Field 2 is the command in parentheses and may itself hold spaces and parentheses: count from the last one.
 */
static const char* field_of(const char* stat_text, int wanted) {
    const char* cursor = strrchr(stat_text, ')');
    for (int field = 2; cursor != NULL && field < wanted; field++) {
        cursor = strchr(cursor + 1, ' ');
    }
    return cursor;
}

int inquest_identity_start_time(uint64_t* ret_ticks) {
    char text[STAT_BYTES];
    int error = read_stat(text);
    if (error != 0) {
        return error;
    }
    const char* field = field_of(text, START_TIME_FIELD);
    if (field == NULL) {
        return -EPROTO;
    }
    *ret_ticks = strtoull(field, NULL, 10);
    return 0;
}

static int64_t environment_number(const char* name, int64_t absent) {
    const char* text = getenv(name);
    if (text == NULL || *text == '\0') {
        return absent;
    }
    char* end = NULL;
    long long value = strtoll(text, &end, 10);
    return *end == '\0' ? value : absent;
}

static void copy_text(char* target, size_t target_bytes, const char* text) {
    size_t length = text == NULL ? 0 : strnlen(text, target_bytes - 1);
    if (length > 0) {
        memcpy(target, text, length);
    }
    target[length] = '\0';
}

static void fill_slurm(struct inquest_box_header* header) {
    int64_t job_id = environment_number("SLURM_JOB_ID", 0);
    header->job_id = (uint32_t)job_id;
    header->step_id = (uint32_t)environment_number("SLURM_STEP_ID", job_id == 0 ? 0 : BATCH_STEP);
    header->task = (int32_t)environment_number("SLURM_PROCID", -1);
    header->node_index = (int32_t)environment_number("SLURM_NODEID", -1);
}

static void fill_layout(struct inquest_box_header* header) {
    header->version = INQUEST_BOX_VERSION;
    header->byte_order = INQUEST_BOX_BYTE_ORDER;
    header->total_bytes = INQUEST_BOX_TOTAL_BYTES;
    header->header_bytes = INQUEST_BOX_HEADER_BYTES;
    header->live_offset_bytes = INQUEST_BOX_LIVE_OFFSET;
    header->strings = (struct inquest_box_area){INQUEST_BOX_STRINGS_OFFSET, INQUEST_BOX_STRINGS_BYTES, 1};
    for (uint32_t ring = 0; ring < INQUEST_RING_COUNT; ring++) {
        header->ring[ring] = (struct inquest_box_area){inquest_ring_offset(ring), inquest_ring_capacity(ring),
                                                       INQUEST_BOX_RECORD_BYTES};
    }
}

void inquest_identity_fill(struct inquest_box_header* header, uint64_t start_time_ticks,
                           const char* program) {
    char node[INQUEST_BOX_NODE_BYTES + 1] = {0};
    (void)gethostname(node, INQUEST_BOX_NODE_BYTES);
    fill_layout(header);
    fill_slurm(header);
    header->pid = getpid();
    header->parent_pid = getppid();
    header->start_time_ticks = start_time_ticks;
    header->created_mono_ns = inquest_mono_ns();
    header->created_wall_ns = inquest_clock_ns(CLOCK_REALTIME);
    copy_text(header->node, sizeof header->node, node);
    copy_text(header->program, sizeof header->program, program);
}
