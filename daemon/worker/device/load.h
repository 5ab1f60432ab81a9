/* SPDX-License-Identifier: Apache-2.0
 *
 * What the replicas of a device have done and how busy it was, period by period: for users, and for packing.c,
 * which decides how many replicas are in flight.
 */
#ifndef SHOAL_DAEMON_WORKER_DEVICE_LOAD_H
#define SHOAL_DAEMON_WORKER_DEVICE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#define LOAD_SECONDS 2.0 /* of a period */

/* Replicas add to it, on the thread that feeds the device. */
struct load {
    uint64_t steps;
    double ps;                /* of dynamics */
    double work;              /* steps x atoms */
    uint64_t descents;        /* of the steps, those of a minimization */
    unsigned stages;          /* that have begun */
    unsigned period, stepped; /* number of this period; replicas that have done steps in it */
};

struct load_meter {
    struct load sum, then; /* then: when the period began */
    double began, busy;    /* s; busy: when the period began */
    unsigned changes;      /* when the period began */
    bool moved;            /* in the period before something came or went: graphs and lists were built in this one */
};

struct load_period {
    double busy;                /* share of the time in which the device had work, 0 to 1 */
    double us_per_replica_step; /* wall clock over steps of all replicas; 0: none was done */
    double ns_per_day;          /* of all replicas */
    double rate;                /* work per second */
    unsigned stepped;           /* replicas that have done steps */
    double size;                /* work of a step, on average; 0: none was done */
    bool steady;                /* the same replicas in this period and the one before, in the same stages */
    bool moves;                 /* all steps were of dynamics */
};

/* What a replica of so many atoms has done. `*period` is its own, zeroed at first. */
void load_add(struct load *l, unsigned *period, uint32_t steps, double ps, int atoms);
/* Whether the period, in which `busy` seconds of `now` ended, is over. */
bool load_due(const struct load_meter *m, double now);
/* Ends it and begins the next. `busy`: seconds of work of the device since it was opened; `changes`: a number that
 * grows with each replica that comes or goes; stages count besides. */
void load_take(struct load_meter *m, double now, double busy, unsigned changes, struct load_period *out);

#endif
