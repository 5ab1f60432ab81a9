/* SPDX-License-Identifier: Apache-2.0
 *
 * How to wait for words in mapped memory: by looking at them without pause for a moment, then with pauses that grow with the time
 * waited, so that of any wait a small part is overslept. Times in microseconds, of any clock.
 */
#ifndef SHOAL_GRAPHS_PACE_H
#define SHOAL_GRAPHS_PACE_H

enum {
    PACE_SPIN = 20,    /* looked at without pause after the last news */
    PACE_PART = 32,    /* of the time waited, that a sleep lasts */
    PACE_SLEEP = 1000, /* the longest sleep: a health check is never far */
};

/* Zeroed is valid. */
struct pace {
    double news; /* when something was submitted or done last */
};

void pace_news(struct pace *p, double now);
/* How long to sleep now; 0: not at all. */
double pace_sleep(const struct pace *p, double now);

#endif
