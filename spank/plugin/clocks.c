#include "spank/plugin/clocks.h"

#include <time.h>

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now = {0, 0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t inquest_mono_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t inquest_wall_ns(void) {
    return clock_ns(CLOCK_REALTIME);
}

uint64_t inquest_deadline_after_ms(uint32_t milliseconds) {
    return inquest_mono_ns() + (uint64_t)milliseconds * 1000000u;
}

int inquest_milliseconds_left(uint64_t deadline_mono_ns) {
    uint64_t now_mono_ns = inquest_mono_ns();
    if (now_mono_ns >= deadline_mono_ns) {
        return 0;
    }
    return (int)((deadline_mono_ns - now_mono_ns + 999999u) / 1000000u);
}
