/* SPDX-License-Identifier: Apache-2.0
 *
 * Polls words in mapped memory, with a sleep between two looks. Each sleep is a small fraction of the usual wait, so
 * that little time is lost and little of a processor is used. Times in microseconds, of any clock.
 */
#ifndef SHOAL_GRAPHS_POLL_PACE_H
#define SHOAL_GRAPHS_POLL_PACE_H

enum {
    PACE_PART = 16,    /* of a wait, that a sleep lasts */
    PACE_MEMORY = 32,  /* waits, about, that the mean is of */
    PACE_LEAST = 5,    /* what a sleep costs itself: none is shorter */
    PACE_SLEEP = 1000, /* the longest sleep: a health check is never far */
};

/* Zeroed is valid. */
struct pace {
    double news; /* when something was submitted or done last */
    double mean; /* of what waits lasted */
};

void pace_news(struct pace *p, double now);
/* A word that was waited for so long has changed. */
void pace_waited(struct pace *p, double wait);
/* How long to sleep now; 0: not at all. */
double pace_sleep(const struct pace *p, double now);

#endif
