/* Clocks, through the vDSO: no system call. Async-signal-safe: yes. */
#ifndef INQUEST_SPANK_RECORDER_CLOCK_H
#define INQUEST_SPANK_RECORDER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t inquest_clock_ns(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline uint64_t inquest_mono_ns(void) {
    return inquest_clock_ns(CLOCK_MONOTONIC);
}

#endif
