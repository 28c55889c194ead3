/* Claiming a box: create, fill, publish; and what becomes of it at fork and exit. */
#define _GNU_SOURCE /* on_exit */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "identity.h"
#include "inquest.h"
#include "live.h"
#include "mapped_file.h"
#include "mapping.h"
#include "table.h"

static pthread_mutex_t claim_lock = PTHREAD_MUTEX_INITIALIZER;
static char box_directory[PATH_MAX];
static int handlers_installed;

static int format_path(char* ret_path, size_t path_bytes, const char* prefix, uint64_t start,
                       const char* suffix) {
    int length = snprintf(ret_path, path_bytes, "%s/%s-%d-%llu%s", box_directory, prefix, (int)getpid(),
                          (unsigned long long)start, suffix);
    return length < 0 || (size_t)length >= path_bytes ? -ENAMETOOLONG : 0;
}

int inquest_box_path(const char* prefix, const char* suffix, char* ret_path, size_t path_bytes) {
    const uint8_t* base = inquest_mapping();
    if (base == NULL) {
        return -ENODEV;
    }
    uint64_t start = ((const struct inquest_box_header*)(const void*)base)->start_time_ticks;
    return format_path(ret_path, path_bytes, prefix, start, suffix);
}

static void forget_in_child(void) {
    uint8_t* base = inquest_mapping();
    (void)pthread_mutex_init(&claim_lock, NULL);
    inquest_mapping_set(NULL);
    inquest_table_reset();
    if (base == NULL) {
        return;
    }
    inquest_strings_reset();
    inquest_live_reset();
    inquest_record_reset();
    (void)munmap(base, INQUEST_BOX_TOTAL_BYTES);
}

static void record_exit(int status, void* unused) {
    int64_t numbers[INQUEST_BOX_RECORD_NUMBERS] = {0};
    (void)unused;
    numbers[INQUEST_NUMBER_EXIT_STATUS] = status & 0xff; /* what the parent will see */
    (void)inquest_box_write(INQUEST_RING_EVENTS, INQUEST_KIND_EXIT, 0, NULL, numbers);
}

static int install_handlers(void) {
    if (handlers_installed) {
        return 0;
    }
    int error = pthread_atfork(NULL, NULL, forget_in_child);
    if (error != 0) {
        return -error;
    }
    (void)on_exit(record_exit, NULL);
    handlers_installed = 1;
    return 0;
}

static void publish(uint8_t* base, uint64_t start, const char* program) {
    struct inquest_box_header* header = (struct inquest_box_header*)(void*)base;
    int64_t numbers[INQUEST_BOX_RECORD_NUMBERS] = {0};
    numbers[INQUEST_NUMBER_STATE] = INQUEST_STATE_CLAIMED;
    inquest_live_init(inquest_live_of(base));
    inquest_identity_fill(header, start, program);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(header->magic, INQUEST_BOX_MAGIC, sizeof header->magic);
    inquest_mapping_set(base);
    (void)inquest_box_write(INQUEST_RING_EVENTS, INQUEST_KIND_STATE, 0, NULL, numbers);
}

static int remember_directory(const char* directory) {
    const char* chosen = directory != NULL ? directory : getenv("INQUEST_BOX_DIR");
    if (chosen == NULL || *chosen == '\0') {
        return -ENOENT;
    }
    int length = snprintf(box_directory, sizeof box_directory, "%s", chosen);
    return length < 0 || (size_t)length >= sizeof box_directory ? -ENAMETOOLONG : 0;
}

static int claim(const char* directory, const char* program) {
    char path[PATH_MAX];
    uint64_t start = 0;
    uint8_t* base = NULL;
    int error = remember_directory(directory);
    error = error != 0 ? error : inquest_identity_start_time(&start);
    error = error != 0 ? error : format_path(path, sizeof path, "box", start, ".ibb");
    error = error != 0 ? error : install_handlers();
    error = error != 0 ? error : inquest_create_mapped(path, INQUEST_BOX_TOTAL_BYTES, &base);
    if (error == 0 && base != NULL) {
        publish(base, start, program);
    }
    return error;
}

int inquest_box_claim(const char* directory, const char* program) {
    int saved_errno = errno;
    int error = -pthread_mutex_lock(&claim_lock);
    if (error != 0) {
        return error;
    }
    if (inquest_mapping() == NULL) {
        error = claim(directory, program);
    }
    (void)pthread_mutex_unlock(&claim_lock);
    errno = saved_errno;
    return error;
}

int inquest_box_is_claimed(void) {
    return inquest_mapping() != NULL;
}
