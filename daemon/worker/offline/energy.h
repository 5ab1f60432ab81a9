/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `shoal-worker energy`: one static evaluation on one device.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_ENERGY_H
#define SHOAL_DAEMON_WORKER_OFFLINE_ENERGY_H

#include "engine/run/sim.h"

struct evaluation {
    struct sample sample; /* delta_u: [nwindows] */
    double (*forces)[3];  /* [natoms], kJ/mol/nm */
    int natoms, nwindows, ncoordinations;
};

/* On stdout; forces too if asked for. */
void energy_print_json(const struct evaluation *r, bool forces);
void energy_print_text(const struct evaluation *r, bool forces);

/* Prints, quantity by quantity, how far a device is from the reference (the CPU device); true when all of it is within
 * what mixed precision may differ by. */
bool energy_check(const struct evaluation *device, const struct evaluation *reference);

#endif
