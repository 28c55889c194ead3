/* The tensor table of this process (spank/format/tensor_table.h): names and digests of single tensors. */
#define _GNU_SOURCE
#include "table.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "inquest.h"
#include "mapped_file.h"
#include "mapping.h"
#include "spank/format/tensor_table.h"

enum {
    CHECKPOINTS_KEPT = 16, /* of all tensors, where the bounds of the format allow it */
    NAME_BYTES = 128       /* expected of a line */
};

/* Written under the lock. `base` is published last, for the functions that do not take it. */
static struct {
    uint8_t* base;
    uint64_t total_bytes;
    uint32_t names_bytes;
    uint32_t entries;
} table;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static uint8_t* mapped_base(void) {
    return __atomic_load_n(&table.base, __ATOMIC_ACQUIRE);
}

static struct inquest_table_live* live_of(uint8_t* base) {
    return (struct inquest_table_live*)(void*)(base + INQUEST_TABLE_LIVE_OFFSET);
}

void inquest_table_reset(void) {
    uint8_t* base = mapped_base();
    /* The lock may have been held by a thread that the child does not have. */
    (void)pthread_mutex_init(&table_lock, NULL);
    __atomic_store_n(&table.base, NULL, __ATOMIC_RELEASE);
    if (base != NULL) {
        (void)munmap(base, table.total_bytes);
    }
}

static uint32_t within(uint64_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : (uint32_t)value;
}

static void choose_size(uint64_t tensors) {
    table.names_bytes =
        within(tensors * NAME_BYTES, INQUEST_TABLE_NAMES_MIN_BYTES, INQUEST_TABLE_NAMES_MAX_BYTES);
    table.entries = within(tensors * CHECKPOINTS_KEPT, INQUEST_TABLE_ENTRIES_MIN, INQUEST_TABLE_ENTRIES_MAX);
    table.names_bytes &= ~(INQUEST_TABLE_ENTRY_BYTES - 1U); /* no entry lies across two cache lines */
    table.total_bytes = INQUEST_TABLE_NAMES_OFFSET + (uint64_t)table.names_bytes +
                        (uint64_t)table.entries * INQUEST_TABLE_ENTRY_BYTES;
}

static void fill_header(struct inquest_table_header* header, const struct inquest_box_header* box) {
    header->version = INQUEST_TABLE_VERSION;
    header->byte_order = INQUEST_BOX_BYTE_ORDER;
    header->total_bytes = table.total_bytes;
    header->pid = box->pid;
    header->start_time_ticks = box->start_time_ticks;
    header->names = (struct inquest_box_area){INQUEST_TABLE_NAMES_OFFSET, table.names_bytes, 1};
    header->entries = (struct inquest_box_area){INQUEST_TABLE_NAMES_OFFSET + (uint64_t)table.names_bytes,
                                                table.entries, INQUEST_TABLE_ENTRY_BYTES};
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(header->magic, INQUEST_TABLE_MAGIC, sizeof header->magic);
}

static int open_table(uint32_t tensors) {
    char path[PATH_MAX];
    uint8_t* base = NULL;
    int error = inquest_box_path("tensors", ".ibt", path, sizeof path);
    if (error != 0) {
        return error;
    }
    choose_size(tensors);
    error = inquest_create_mapped(path, table.total_bytes, &base);
    if (error == 0 && base != NULL) {
        fill_header((struct inquest_table_header*)(void*)base,
                    (const struct inquest_box_header*)(const void*)inquest_mapping());
        __atomic_store_n(&table.base, base, __ATOMIC_RELEASE);
    }
    return error;
}

int inquest_table_open(uint32_t tensors) {
    int saved_errno = errno;
    int error = -pthread_mutex_lock(&table_lock);
    if (error != 0) {
        return error;
    }
    if (mapped_base() == NULL) {
        error = open_table(tensors);
    }
    (void)pthread_mutex_unlock(&table_lock);
    errno = saved_errno;
    return error;
}

static uint64_t count_lines(const char* lines, size_t bytes) {
    uint64_t count = 0;
    for (size_t i = 0; i < bytes; i++) {
        count += lines[i] == '\n';
    }
    return count;
}

static int append_names(uint8_t* base, const char* lines, size_t bytes) {
    struct inquest_table_live* live = live_of(base);
    uint64_t used_bytes = live->names_used_bytes;
    /* The counter is shared memory: it is believed only within the area. */
    if (used_bytes > table.names_bytes || bytes > table.names_bytes - used_bytes) {
        __atomic_fetch_add(&live->dropped_names, count_lines(lines, bytes), __ATOMIC_RELAXED);
        return -ENOSPC;
    }
    memcpy(base + INQUEST_TABLE_NAMES_OFFSET + used_bytes, lines, bytes);
    __atomic_store_n(&live->names_used_bytes, used_bytes + bytes, __ATOMIC_RELEASE);
    return 0;
}

int inquest_table_name(const char* lines, size_t bytes) {
    uint8_t* base = mapped_base();
    if (base == NULL) {
        return -ENODEV;
    }
    if (bytes == 0 || lines[bytes - 1] != '\n') {
        return -EINVAL;
    }
    int error = -pthread_mutex_lock(&table_lock);
    if (error == 0) {
        error = append_names(base, lines, bytes);
        (void)pthread_mutex_unlock(&table_lock);
    }
    return error;
}

/* Of sums that are spread over all 64 bits: nothing is gained by a better mixture. */
static uint16_t fold_lane(uint64_t lane) {
    return (uint16_t)(lane ^ lane >> 16U ^ lane >> 32U ^ lane >> 48U);
}

static void fill_entry(struct inquest_table_entry* entry, const struct inquest_digest* digest) {
    entry->digest_low = digest->low;
    entry->digest_high = digest->high;
    for (uint32_t lane = 0; lane < INQUEST_TABLE_LANES; lane++) {
        entry->lane[lane] = fold_lane(digest->lane[lane]);
    }
    memcpy(&entry->norm_bits, &digest->norm, sizeof entry->norm_bits);
}

static void write_entry(uint8_t* base, uint64_t number, const struct inquest_digest* digest) {
    uint64_t offset = INQUEST_TABLE_NAMES_OFFSET + (uint64_t)table.names_bytes +
                      number % table.entries * INQUEST_TABLE_ENTRY_BYTES;
    struct inquest_table_entry* entry = (struct inquest_table_entry*)(void*)(base + offset);
    __atomic_store_n(&entry->mark, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    fill_entry(entry, digest);
    __atomic_store_n(&entry->mark, number + 1, __ATOMIC_RELEASE);
}

int64_t inquest_table_write(const struct inquest_digest* digests, uint32_t count) {
    uint8_t* base = mapped_base();
    if (base == NULL) {
        return -ENODEV;
    }
    if (count > table.entries / 2) {
        return -ENOSPC;
    }
    /* Claimed before the first entry is overwritten: a reader that finds its entry within the ring afterwards
     * knows that it was not. */
    uint64_t first = __atomic_fetch_add(&live_of(base)->entries_head, count, __ATOMIC_ACQ_REL);
    for (uint32_t i = 0; i < count; i++) {
        write_entry(base, first + i, &digests[i]);
    }
    return (int64_t)first;
}
