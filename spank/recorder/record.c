/* Writing one record: claim a slot, mark it busy, fill it, publish it. See spank/format/black_box.h for the
 * marks. */
#define _GNU_SOURCE /* gettid */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "inquest.h"
#include "live.h"
#include "mapping.h"

/* Initial-exec: a lazily allocated thread-local variable would call malloc in the middle of a record. */
static _Thread_local uint32_t own_thread_id __attribute__((tls_model("initial-exec")));

void inquest_record_reset(void) {
    own_thread_id = 0;
}

static uint32_t thread_id(void) {
    if (own_thread_id == 0) {
        own_thread_id = (uint32_t)gettid();
    }
    return own_thread_id;
}

/* A slot is free for record `mark` when what it holds is older. Busy and newer both compare greater: then
 * this writer was overtaken by a whole turn of the ring and its record is dropped, so that two bodies never
 * mix. */
static int take_slot(struct inquest_box_record* slot, uint64_t mark) {
    uint64_t seen = __atomic_load_n(&slot->begin_mark, __ATOMIC_RELAXED);
    return seen < mark && __atomic_compare_exchange_n(&slot->begin_mark, &seen, INQUEST_BOX_MARK_BUSY, 0,
                                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void fill(struct inquest_box_record* slot, const struct inquest_box_record* record, uint64_t mark) {
    const size_t body = offsetof(struct inquest_box_record, mono_ns);
    __atomic_store_n(&slot->end_mark, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy((uint8_t*)slot + body, (const uint8_t*)record + body,
           offsetof(struct inquest_box_record, end_mark) - body);
    __atomic_store_n(&slot->end_mark, mark, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->begin_mark, mark, __ATOMIC_RELEASE);
}

static int append(uint8_t* base, uint32_t ring, const struct inquest_box_record* record) {
    uint64_t index = __atomic_fetch_add(&inquest_live_of(base)->ring_head[ring], 1, __ATOMIC_RELAXED);
    uint64_t offset =
        inquest_ring_offset(ring) + index % inquest_ring_capacity(ring) * INQUEST_BOX_RECORD_BYTES;
    struct inquest_box_record* slot = (struct inquest_box_record*)(void*)(base + offset);
    if (!take_slot(slot, index + 1)) {
        return -EBUSY;
    }
    fill(slot, record, index + 1);
    return 0;
}

int inquest_box_write(uint32_t ring, uint32_t kind, uint64_t ident, const uint32_t* texts,
                      const int64_t* numbers) {
    uint8_t* base = inquest_mapping();
    if (base == NULL) {
        return -ENODEV;
    }
    if (ring >= INQUEST_RING_COUNT) {
        return -EINVAL;
    }
    struct inquest_box_record record;
    memset(&record, 0, sizeof record);
    record.mono_ns = inquest_mono_ns();
    record.kind = (uint16_t)kind;
    record.thread_id = thread_id();
    record.ident = ident;
    if (texts != NULL) {
        memcpy(record.text, texts, sizeof record.text);
    }
    if (numbers != NULL) {
        memcpy(record.number, numbers, sizeof record.number);
    }
    int result = append(base, ring, &record);
    inquest_live_apply(inquest_live_of(base), &record);
    return result;
}
