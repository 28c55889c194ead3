/* libinquest: writes the black box of this process (spank/format/black_box.h). For C, C++ and, through
 * ctypes, Python.
 *
 * Conventions
 *   1. A process has at most one box. All functions work on it; without one they do nothing and say so.
 *   2. Functions that can fail return 0 or a negative errno value. None prints, exits, throws or changes
 * errno.
 *   3. No function can harm the host program: when a box cannot be had, the program runs on without it.
 *   4. A child made by fork() has no box; it may claim one of its own. (The fork handler of glibc does this.
 * A child made by a bare clone() system call shares its parent's box and must not write.)
 *   5. Memory passed in stays the caller's and is copied before the call returns. Times are CLOCK_MONOTONIC
 * in nanoseconds.
 *
 * The exit status in the box comes from on_exit(3): glibc hands it the value that exit() was given, also for
 * the exit of a Python interpreter. _exit() and signals leave no exit record; that absence is evidence too.
 */
#ifndef INQUEST_SPANK_RECORDER_INQUEST_H
#define INQUEST_SPANK_RECORDER_INQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "spank/format/black_box.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INQUEST_API __attribute__((visibility("default")))

/* Claims the box `box-<pid>-<start>.ibb` in `directory` (NULL: the environment variable INQUEST_BOX_DIR) and
 * writes the state CLAIMED. `program` (may be NULL) is the path of the program or script. The file is
 * preallocated; when that or anything else fails no file is left. Returns 0 also when this process has its
 * box already. Errors: -ENOENT no directory named, -ENAMETOOLONG, -EEXIST an earlier program of this process
 * (exec) made it, or what open, posix_fallocate and mmap say. Thread-safe. Async-signal-safe: no. */
INQUEST_API int inquest_box_claim(const char* directory, const char* program);

/* 1 when this process has a box. Thread-safe. Async-signal-safe: yes. */
INQUEST_API int inquest_box_is_claimed(void);

/* Writes the names of the files that belong to this process, `<prefix>-<pid>-<start><suffix>`, below the box
 * directory into `ret_path`. Errors: -ENODEV no box, -ENAMETOOLONG. Thread-safe. Async-signal-safe: no. */
INQUEST_API int inquest_box_path(const char* prefix, const char* suffix, char* ret_path, size_t path_bytes);

/* Identifier of a text in the box's string area, for the text slots of a record; the same text has the same
 * identifier. Longer texts are cut to INQUEST_BOX_STRING_MAX_BYTES. INQUEST_BOX_NO_STRING when there is no
 * box, the text is NULL or the area is full (counted in dropped_strings). Holds a lock for the length of one
 * look-up. Thread-safe. Async-signal-safe: no. */
INQUEST_API uint32_t inquest_box_intern(const char* text, size_t text_bytes);

/* Appends one record and moves the live counters that belong to its kind (live.h in this folder). `texts` has
 * INQUEST_BOX_RECORD_TEXTS identifiers, `numbers` INQUEST_BOX_RECORD_NUMBERS values; NULL means all 0.
 * Errors: -ENODEV no box, -EINVAL no such ring, -EBUSY the record was dropped because a writer that was held
 * up for a whole turn of the ring still owns the slot. Lock-free, no allocation; no system call except one
 * gettid() per thread. Thread-safe. Async-signal-safe: yes. */
INQUEST_API int inquest_box_write(uint32_t ring, uint32_t kind, uint64_t ident, const uint32_t* texts,
                                  const int64_t* numbers);

/* Makes this process a rank. Thread-safe. Async-signal-safe: yes. */
INQUEST_API int inquest_box_set_rank(int32_t rank, int32_t world_size);

/* Announces the signal that makes this process write its stacks, 0 for none. Thread-safe. Async-signal-safe:
 * yes. */
INQUEST_API int inquest_box_set_stack_signal(int32_t signal_number);

/* --- digests of tensors (digest*.cpp, table.c) ---
 *
 * A digest is 128 bits over the words of a tensor in logical (row-major) order: elements are packed one after
 * the other into little-endian 64-bit words, the last one filled with zeros, and the number of bytes is part
 * of the digest. A word is mixed with its index by a bijection of 64 bits and added to one of 16 lanes, so
 * that one changed word always changes the digest, and the order of the summation does not matter. Equal
 * bits, equal digest: -0.0 and 0.0 differ, two NaNs with the same bits do not. Layout (strides) is not part
 * of it. docs/formats/tensor_table.md has the algorithm; spank/hooks/python/inquest_hook/device_digest.py is
 * the same on other devices. */

struct inquest_tensor {
    const void* data;       /* of the first element in logical order; may be NULL when there is no element */
    const int64_t* sizes;   /* dimensions elements each; NULL for a scalar */
    const int64_t* strides; /* in elements, may be 0 (expanded) or negative */
    uint32_t dimensions;    /* at most INQUEST_TENSOR_MAX_DIMENSIONS */
    uint32_t element_bytes; /* 1, 2, 4, 8 or 16 */
    uint32_t kind;          /* enum inquest_element_kind: only the norm depends on it */
};

enum { INQUEST_TENSOR_MAX_DIMENSIONS = 64 };

enum inquest_element_kind {
    INQUEST_ELEMENT_OTHER = 0, /* integers, booleans, complex, quantised, 8-bit floats: no norm */
    INQUEST_ELEMENT_FLOAT64 = 1,
    INQUEST_ELEMENT_FLOAT32 = 2,
    INQUEST_ELEMENT_FLOAT16 = 3,
    INQUEST_ELEMENT_BFLOAT16 = 4
};

struct inquest_digest {
    uint64_t low;
    uint64_t high;
    uint64_t lane[16]; /* sums of the lanes, before folding */
    double norm;       /* L2, in double precision; NaN when the kind has none */
};

/* Digests of `count` tensors on their own memory, without a copy. `with_norm` 0 leaves norm NaN and is
 * faster. Meant to be called without Python's lock (ctypes.CDLL): long for large tensors, touches no state of
 * this library. Errors: -EINVAL (a shape, an element size) for any of them, then nothing is written.
 * Thread-safe. Async-signal-safe: no. */
INQUEST_API int inquest_digest_tensors(const struct inquest_tensor* tensors, uint32_t count, int with_norm,
                                       struct inquest_digest* ret_digests);

/* One digest for several tensors in order: depends on every digest and on its position. `ret_pair` gets low
 * and high. */
INQUEST_API void inquest_digest_combine(const struct inquest_digest* digests, uint32_t count,
                                        uint64_t* ret_pair);

/* 64-bit hashes of the rows (first dimension) of a tensor, for sketches of the samples that were read; 0 is
 * never one. `rows` may be less than there are. Errors: -EINVAL a shape, more rows than there are, a scalar.
 * Thread-safe. */
INQUEST_API int inquest_digest_rows(const struct inquest_tensor* tensor, uint64_t* ret_hashes, uint32_t rows);

/* Makes the tensor table beside this process's box; `tensors` is the number of tensors that the process
 * expects to write per checkpoint and chooses the size within the format's bounds. 0 also when it is there
 * already. Errors: -ENODEV no box, or what open, posix_fallocate and mmap say. Thread-safe.
 * Async-signal-safe: no. */
INQUEST_API int inquest_table_open(uint32_t tensors);

/* Appends lines (spank/format/tensor_table.h) to the names. Errors: -ENODEV no table, -EINVAL not whole
 * lines, -ENOSPC no room: none is written and dropped_names grows by their number. Thread-safe. */
INQUEST_API int inquest_table_name(const char* lines, size_t bytes);

/* Appends entries. Returns the number of the first, or -ENODEV, or -ENOSPC for more than half of the ring at
 * once. One thread at a time. */
INQUEST_API int64_t inquest_table_write(const struct inquest_digest* digests, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
