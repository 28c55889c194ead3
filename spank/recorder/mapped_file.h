/* A new file of fixed size, mapped by this process alone. */
#ifndef INQUEST_SPANK_RECORDER_MAPPED_FILE_H
#define INQUEST_SPANK_RECORDER_MAPPED_FILE_H

#include <stdint.h>

/* Creates `path` (never an existing file or a link), preallocates it, so that a full file system shows here
 * and not as SIGBUS in the middle of training, and maps it for reading and writing. Errors: what open,
 * posix_fallocate and mmap say; then no file is left. */
int inquest_create_mapped(const char* path, uint64_t bytes, uint8_t** ret_base);

#endif
