/* SPDX-License-Identifier: Apache-2.0
 *
 * Pilots: short runs of the windows of a spec that say where windows belong.
 */
#ifndef SHOAL_DAEMON_SPEC_PILOT_H
#define SHOAL_DAEMON_SPEC_PILOT_H

#include "daemon/spec/spec.h"

/* What a pilot with `time` ps of production has in place of a stage's steps and of the steps between its samples (0: it
 * has none). Production has about 200 samples; no stage of equilibration is longer. */
struct pilot_times {
    uint64_t steps, sample_every;
};
struct pilot_times pilot_times(const struct spec *s, const struct stage *stage, double time);

/* A spec whose ladder is to be placed becomes that of its pilot: the stages up to the first that produces, each with
 * its pilot_times, and neither exchange, switch, observables, stop-when nor allocate. Any other spec stays as it is. */
void spec_take_pilot(struct spec *s);

#endif
