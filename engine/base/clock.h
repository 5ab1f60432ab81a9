/* SPDX-License-Identifier: Apache-2.0
 *
 * Seconds of a clock, to measure how long something takes.
 */
#ifndef SHOAL_ENGINE_BASE_CLOCK_H
#define SHOAL_ENGINE_BASE_CLOCK_H

#include <time.h>

static inline double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of the one that nobody sets. */
static inline double clock_now(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

#endif
