/* SPDX-License-Identifier: Apache-2.0
 *
 * What `shoal bench` measures, once: replicas of one or several specs at a time through the real runner, outputs and
 * checkpoints included, into a folder that is removed again.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_BENCH_RUN_H
#define SHOAL_DAEMON_WORKER_OFFLINE_BENCH_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/command_line/args.h"
#include "engine/base/err.h"
#include "engine/run/sim.h"

enum { BENCH_SPECS_MAX = 8 };

struct bench_task {
    const char *device;
    const char *specs[BENCH_SPECS_MAX];
    int nspecs;
    struct args_list includes;
    unsigned replicas; /* of each spec */
    uint64_t steps;    /* of each replica */
    uint64_t warm_up;  /* before them; 0: a tenth of them, 200 at least */
    enum step_form form;
    enum pme_form pme;
    bool single;             /* one replica of each spec runs, in the middle window, by the launches of all of them */
    struct dev_clock *clock; /* borrowed; NULL, or there are no graphs and it hears of launches of measured steps */
};

/* One spec's part. */
struct bench_share {
    int natoms;
    double timestep; /* ps */
    struct model_forms forms;
    uint64_t steps; /* that its replicas did, all together, in the measured time */
    uint32_t nodes; /* of the graph, per step */
    size_t bytes;   /* of device memory, a replica */
};

struct bench_result {
    double wall, cpu; /* seconds, of the clock and of processors */
    double feeding;   /* of them, of the thread that feeds the device: what all replicas of the device must share */
    char model[64];   /* of the device */
    struct bench_share share[BENCH_SPECS_MAX];
};

/* The spec's minimization and a warm-up come first; the clock runs from when every replica has come to the measured
 * steps until the first of them has done them: all are in flight meanwhile. */
int bench_run(const struct bench_task *task, struct bench_result *out, struct err *e);

#endif
