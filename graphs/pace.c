/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/pace.h"

/* Of the newest gap in the average. */
#define WEIGHT 0.25

void pace_done(struct pace *p, double now)
{
    double gap = now - p->last;
    if (p->last > 0)
        p->gap = p->gap > 0 ? p->gap + WEIGHT * (gap - p->gap) : gap;
    p->last = now;
}

static double at_most(double sleep)
{
    return sleep < PACE_SLEEP ? sleep : PACE_SLEEP;
}

double pace_sleep(const struct pace *p, double since, double now)
{
    double expected = p->gap > 0 ? p->last + p->gap : since;
    if (expected < since)
        expected = since; /* nothing was waited for in the meantime */
    if (now < expected - PACE_SPIN)
        return at_most(expected - PACE_SPIN - now);
    double late = now - expected;
    return late < PACE_SPIN ? 0 : at_most(late / 2);
}
