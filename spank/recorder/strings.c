/* Interning: the string area of the box is append-only; a table in private memory finds a text again. */
#include <pthread.h>
#include <string.h>

#include "inquest.h"
#include "mapping.h"

enum {
    LENGTH_BYTES = 4,
    TABLE_SLOTS =
        32768, /* more than the area can hold: its shortest string takes 5 bytes and 26,214 of them fill it */
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t table[TABLE_SLOTS]; /* string identifiers, 0 free */

void inquest_strings_reset(void) {
    /* The lock may have been held by a thread that the child does not have. */
    (void)pthread_mutex_init(&table_lock, NULL);
    memset(table, 0, sizeof table);
}

static uint32_t hash_of(const char* text, uint32_t text_bytes) {
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (uint32_t i = 0; i < text_bytes; i++) {
        hash = (hash ^ (uint8_t)text[i]) * 16777619U;
    }
    return hash;
}

/* The area is shared memory: the stored length is believed only within what this process has written. */
static int is_same(const uint8_t* area, uint64_t used_bytes, uint32_t ident, const char* text,
                   uint32_t text_bytes) {
    uint64_t offset = ident - 1U;
    if (offset + LENGTH_BYTES + text_bytes > used_bytes) {
        return 0;
    }
    uint32_t stored_bytes = 0;
    memcpy(&stored_bytes, area + offset, LENGTH_BYTES);
    return stored_bytes == text_bytes && memcmp(area + offset + LENGTH_BYTES, text, text_bytes) == 0;
}

static uint32_t append(uint8_t* base, const char* text, uint32_t text_bytes) {
    struct inquest_box_live* live = inquest_live_of(base);
    uint64_t used_bytes = live->strings_used_bytes;
    uint64_t needed_bytes = LENGTH_BYTES + (uint64_t)text_bytes + 1;
    if (used_bytes > INQUEST_BOX_STRINGS_BYTES || needed_bytes > INQUEST_BOX_STRINGS_BYTES - used_bytes) {
        __atomic_fetch_add(&live->dropped_strings, 1, __ATOMIC_RELAXED);
        return INQUEST_BOX_NO_STRING;
    }
    uint8_t* target = base + INQUEST_BOX_STRINGS_OFFSET + used_bytes;
    memcpy(target, &text_bytes, LENGTH_BYTES);
    memcpy(target + LENGTH_BYTES, text, text_bytes);
    target[LENGTH_BYTES + text_bytes] = 0;
    __atomic_store_n(&live->strings_used_bytes, used_bytes + needed_bytes, __ATOMIC_RELEASE);
    return (uint32_t)used_bytes + 1U;
}

static uint32_t find_or_append(uint8_t* base, const char* text, uint32_t text_bytes) {
    const uint8_t* area = base + INQUEST_BOX_STRINGS_OFFSET;
    uint64_t used_bytes = inquest_live_of(base)->strings_used_bytes;
    uint32_t slot = hash_of(text, text_bytes) % TABLE_SLOTS;
    while (table[slot] != 0) {
        if (is_same(area, used_bytes, table[slot], text, text_bytes)) {
            return table[slot];
        }
        slot = (slot + 1) % TABLE_SLOTS;
    }
    table[slot] = append(base, text, text_bytes);
    return table[slot];
}

uint32_t inquest_box_intern(const char* text, size_t text_bytes) {
    uint8_t* base = inquest_mapping();
    if (base == NULL || text == NULL) {
        return INQUEST_BOX_NO_STRING;
    }
    uint32_t cut_bytes =
        text_bytes > INQUEST_BOX_STRING_MAX_BYTES ? INQUEST_BOX_STRING_MAX_BYTES : (uint32_t)text_bytes;
    if (pthread_mutex_lock(&table_lock) != 0) {
        return INQUEST_BOX_NO_STRING;
    }
    uint32_t ident = find_or_append(base, text, cut_bytes);
    (void)pthread_mutex_unlock(&table_lock);
    return ident;
}
