/* Monotonic time in nanoseconds. */
#ifndef NK_BASE_CLOCK_H
#define NK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t nk__clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t nk_now_ns(void) { return nk__clock_ns(CLOCK_MONOTONIC); }
/* As of the last tick of the system, some milliseconds ago: a few nanoseconds to ask for. */
static inline int64_t nk_now_coarse_ns(void) { return nk__clock_ns(CLOCK_MONOTONIC_COARSE); }

#endif
