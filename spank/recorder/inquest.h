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

#ifdef __cplusplus
}
#endif

#endif
