/* The one mapping of this process's box, shared by the files of this library and by nobody else. */
#ifndef INQUEST_SPANK_RECORDER_MAPPING_H
#define INQUEST_SPANK_RECORDER_MAPPING_H

#include <stdint.h>

#include "spank/format/black_box.h"

/* Start of the mapping, NULL without a box. Never unmapped while the process lives: another thread may be
 * writing. Async-signal-safe: yes. */
uint8_t* inquest_mapping(void);

/* Publishes a finished mapping; NULL takes it away (fork). */
void inquest_mapping_set(uint8_t* base);

static inline struct inquest_box_live* inquest_live_of(uint8_t* base) {
    return (struct inquest_box_live*)(void*)(base + INQUEST_BOX_LIVE_OFFSET);
}

static inline uint32_t inquest_ring_capacity(uint32_t ring) {
    static const uint32_t capacity[INQUEST_RING_COUNT] = {
        INQUEST_BOX_EVENTS_CAPACITY, INQUEST_BOX_COLLECTIVES_CAPACITY, INQUEST_BOX_DIGESTS_CAPACITY};
    return capacity[ring];
}

static inline uint64_t inquest_ring_offset(uint32_t ring) {
    uint64_t offset = INQUEST_BOX_STRINGS_OFFSET + INQUEST_BOX_STRINGS_BYTES;
    for (uint32_t before = 0; before < ring; before++) {
        offset += (uint64_t)inquest_ring_capacity(before) * INQUEST_BOX_RECORD_BYTES;
    }
    return offset;
}

/* Forget everything that belongs to the parent's box; called in the child of a fork. */
void inquest_strings_reset(void);
void inquest_live_reset(void);
void inquest_record_reset(void);

#endif
