/* SPDX-License-Identifier: Apache-2.0
 *
 * What one evaluation of all forces costs here: tried for a moment, on one core, from the start coordinates.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_MEASURE_H
#define SHOAL_DAEMON_WORKER_OFFLINE_MEASURE_H

#include "daemon/spec/spec.h"
#include "engine/run/sim.h"

struct measured_cost {
    double seconds; /* of a core, for one evaluation */
    double bytes;   /* of memory, of one replica */
};

enum { MEASURE_FAILED = 1 };
/* Takes less than a second, or ten evaluations where one takes long. Errors are those of model_new and sim_new.
 * MEASURE_FAILED: the first steps of a minimization fail, with *e. */
int measure_cost(const struct spec *s, const struct system *sys, struct measured_cost *out, struct err *e);

/* Submits a piece of work and waits for it, again when a list had to grow: for who has nothing else to do meanwhile. */
int work_through(struct dev *dev, struct sim *sim, enum sim_work kind, uint32_t n, struct err *e);

#endif
