/* SPDX-License-Identifier: Apache-2.0
 *
 * The energy counter of a device (millijoules, daemon/processes/frames.h), and who ran there since it was read.
 *
 * A reading ends a stretch of time. Each ensemble has the part of the stretch's energy that its device time is of the
 * stretch. So the energy of a time in which nothing ran is nobody's. Of a stretch at whose ends the counter is not
 * known, or at whose end it is less than at its beginning (the driver was loaded again), nobody has energy.
 *
 * The difference of two readings is shared once, and neither is kept over a restart of the service: no energy is
 * counted twice, whatever ends in between.
 */
#ifndef SHOAL_DAEMON_SCHEDULE_ENERGY_METER_H
#define SHOAL_DAEMON_SCHEDULE_ENERGY_METER_H

#include <stdint.h>

struct ensemble;

struct energy_claim {
    struct ensemble *ensemble;
    double ms;     /* of device time, since the last reading */
    double joules; /* not taken yet */
};

/* Zeroed: of a device that does not tell. */
struct energy_meter {
    int64_t millijoules; /* of the last reading; 0: the device does not tell */
    int64_t read_at;     /* ms */
    double joules, idle; /* of all stretches so far, and what of it is nobody's */
    int n, cap;
    struct energy_claim *claims; /* [n], one an ensemble */
};

/* The ensemble has had so much device time more since the last reading. */
void energy_claim(struct energy_meter *m, struct ensemble *e, double ms);
/* What the counter is at `now`, 0: the device does not tell. */
void energy_read(struct energy_meter *m, int64_t now, int64_t millijoules);
/* Energy of the ensemble that was not taken yet, J; 0: none is known. */
double energy_take(struct energy_meter *m, const struct ensemble *e);
/* Some ensemble that has energy which was not taken yet; NULL: none has. */
struct ensemble *energy_next(const struct energy_meter *m);
/* The ensemble is gone; what it had becomes nobody's. */
void energy_forget(struct energy_meter *m, const struct ensemble *e);
void energy_close(struct energy_meter *m);

#endif
