/* Times and deadlines of the plugin. Thread-safe and async-signal-safe. */
#ifndef INQUEST_SPANK_PLUGIN_CLOCKS_H
#define INQUEST_SPANK_PLUGIN_CLOCKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. */
uint64_t inquest_mono_ns(void);
uint64_t inquest_wall_ns(void);

/* A deadline is a CLOCK_MONOTONIC time in nanoseconds. */
uint64_t inquest_deadline_after_ms(uint32_t milliseconds);

/* Milliseconds until the deadline, rounded up, for poll(2); 0 when it has passed. */
int inquest_milliseconds_left(uint64_t deadline_mono_ns);

#ifdef __cplusplus
}
#endif

#endif
