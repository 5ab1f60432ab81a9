/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a timestep goes. One replica runs without graphs and each of its launches is timed (graphs/dev.h, dev_clock);
 * then one by graphs, and as many as are asked for. What launches take alone says what the third cannot; what the three
 * differ by says what the first cannot: waiting between launches, and launches that run beside each other.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_BENCH_PROFILE_H
#define SHOAL_DAEMON_WORKER_OFFLINE_BENCH_PROFILE_H

#include <jansson.h>

#include "daemon/worker/offline/bench_families.h"
#include "daemon/worker/offline/bench_run.h"

enum { PROFILE_KERNELS = 32 }; /* of one family */

/* All launches of a kernel in the timed steps. */
struct profile_kernel {
    const char *kernel;
    uint64_t launches;
    double seconds;        /* of launches alone */
    double device_seconds; /* times the part of the device that each fills */
};

struct profile_family {
    struct profile_kernel kernels[PROFILE_KERNELS];
    int n;
};

struct bench_profile {
    struct profile_family families[FAMILY_COUNT];
    uint64_t steps;               /* timed */
    struct bench_result timed;    /* of the run with a clock: what launches take, and what the host does between them */
    struct bench_result alone;    /* of one replica by graphs */
    struct bench_result together; /* of all of the task's */
};

/* The task has one spec; its launches are those of the task's number of replicas in all three measurements. Errors are
 * those of bench_run. */
int bench_profile(const struct bench_task *task, struct bench_profile *out, struct err *e);
/* Microseconds a step, families that were launched alone. The caller's to free. */
json_t *bench_profile_json(const struct bench_profile *p);
void bench_profile_print(const struct bench_task *task, const struct bench_profile *p);

#endif
