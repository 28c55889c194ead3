/* The tensor table: digests of single tensors, beside the black box of the same process.
 *
 * `tensors-<pid>-<start>.ibt` in the box directory, made when the process first takes digests. A DIGEST
 * record of the black box (one number for all tensors of a part) names the first of its entries here; tensor
 * k of the part has entry table + k. Read with pread at any moment, also after SIGKILL; hostile to a reader,
 * like the box. All integers are little endian.
 *
 *   offset       bytes               what
 *   0            4096                header (inquest_table_header), written once before the magic
 *   4096         4096                live counters (inquest_table_live)
 *   8192         names.capacity      append-only text: one line per tensor of a part
 *   ...          entries ring        entries (inquest_table_entry)
 *
 * A line of the names: `<optimizer> <part> <index> <dtype> <shape> <norm> <name>\n`, for example
 * `1 1 0 float32 64x32 - layers.0.weight`; optimizer and part as in the DIGEST record, index the k above,
 * shape `-` for a scalar, norm `n` for a running statistic of a normalisation layer and `-` otherwise, name
 * the rest of the line (no control characters). The lines of a part are written before the first DIGEST
 * record that refers to it and hold for all later ones with the same number of tensors.
 */
#ifndef INQUEST_SPANK_FORMAT_TENSOR_TABLE_H
#define INQUEST_SPANK_FORMAT_TENSOR_TABLE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "spank/format/black_box.h"

#define INQUEST_TABLE_MAGIC                                                        \
    "INQTENS1" /* eight bytes, no NUL; the last thing that is written at the start \
                */

enum {
    INQUEST_TABLE_VERSION = 1,
    INQUEST_TABLE_HEADER_BYTES = 4096,
    INQUEST_TABLE_LIVE_OFFSET = 4096,
    INQUEST_TABLE_NAMES_OFFSET = 8192,
    INQUEST_TABLE_NAMES_MIN_BYTES = 64 * 1024,
    INQUEST_TABLE_NAMES_MAX_BYTES = 1024 * 1024,
    INQUEST_TABLE_ENTRY_BYTES = 64,
    INQUEST_TABLE_ENTRIES_MIN = 4096,  /* 256 KiB */
    INQUEST_TABLE_ENTRIES_MAX = 32768, /* 2 MiB */
    INQUEST_TABLE_LANES = 16
};

struct inquest_table_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order; /* INQUEST_BOX_BYTE_ORDER */
    uint64_t total_bytes;
    int32_t pid;
    uint32_t reserved; /* 0 */
    uint64_t start_time_ticks;
    struct inquest_box_area names;   /* element_bytes 1 */
    struct inquest_box_area entries; /* element_bytes INQUEST_TABLE_ENTRY_BYTES */
};

struct inquest_table_live {
    uint64_t names_used_bytes;
    uint64_t entries_head;  /* entries ever claimed; entry n is in slot n % capacity */
    uint64_t dropped_names; /* lines for which there was no room */
};

/* One tensor at one checkpoint. Whole when mark is n + 1. */
struct inquest_table_entry {
    uint64_t mark;
    uint64_t digest_low;
    uint64_t digest_high;
    /* Of the 16 interleaved lanes of the digest (words i with i % 16 == lane), folded to 16 bits each: one
     * changed word changes exactly one of them, many change nearly all. */
    uint16_t lane[INQUEST_TABLE_LANES];
    uint64_t norm_bits; /* L2 norm as double; NaN for what is not a floating-point tensor */
};

static_assert(sizeof(struct inquest_table_header) == 72, "on disk");
static_assert(sizeof(struct inquest_table_live) == 24, "on disk");
static_assert(sizeof(struct inquest_table_entry) == INQUEST_TABLE_ENTRY_BYTES, "on disk");

#endif
