/* SPDX-License-Identifier: Apache-2.0
 *
 * How to wait for words in mapped memory: by looking at them without pause while one is expected soon, else by sleeping
 * until just before, and longer the later it is. Times in microseconds, of any clock.
 */
#ifndef SHOAL_GRAPHS_PACE_H
#define SHOAL_GRAPHS_PACE_H

enum {
    PACE_SPIN = 50,    /* looked at without pause this long before and after the expected time: a sleep is no shorter */
    PACE_SLEEP = 1000, /* the longest sleep */
};

/* Zeroed: nothing is known yet. */
struct pace {
    double last; /* when something was done */
    double gap;  /* between one and the next, on average; 0: unknown */
};

void pace_done(struct pace *p, double now); /* something was done */
/* How long to sleep now; 0: not at all. `since`: when waiting began. */
double pace_sleep(const struct pace *p, double since, double now);

#endif
