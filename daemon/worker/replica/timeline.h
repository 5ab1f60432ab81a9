/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens at which step of a protocol: pure functions of the spec, so that nothing else can change an output.
 *
 * 1. Times in the outputs count from the start of the first produce stage; equilibration has negative times.
 * 2. Where two stages meet, a row that both would write is written by the one that ends.
 */
#ifndef SHOAL_DAEMON_WORKER_REPLICA_TIMELINE_H
#define SHOAL_DAEMON_WORKER_REPLICA_TIMELINE_H

#include "daemon/spec/spec.h"

/* Timesteps from the start of the first stage until `step` steps of `stage` (spec.nstages, with step 0: the end). */
uint64_t timeline_timesteps(const struct spec *spec, uint64_t stage, uint64_t step);
/* The same as a time, ps. */
double timeline_elapsed(const struct spec *spec, uint64_t stage, uint64_t step);
/* The time in the outputs, ps. */
double timeline_time(const struct spec *spec, uint64_t stage, uint64_t step);
/* Timesteps before the time 0 of the outputs. */
uint64_t timeline_clock_zero(const struct spec *spec);
/* Stage and step after so many timesteps from time 0 of the outputs on; where two stages meet, the one that ends. */
void timeline_place(const struct spec *spec, uint64_t timesteps, uint64_t *stage, uint64_t *step);
/* Whether dhdl.xvg has the pV column, which belongs to the whole file. */
bool timeline_has_pv(const struct spec *spec);

/* What is written at a step. */
struct rows_due {
    bool dhdl, energy, frame;
};
/* After `step` steps of a stage, 0: before its first. */
struct rows_due timeline_rows(const struct spec *spec, uint64_t stage, uint64_t step);
/* True when an event that comes every so many steps comes after `step` of them; never when `every` is 0. */
bool timeline_due(uint64_t every, uint64_t step);
/* Whether a volume move comes after `step` steps of a stage. */
bool timeline_volume_move(const struct spec *spec, uint64_t stage, uint64_t step);
/* Whether a batch of exchange of waters comes there; after a volume move. */
bool timeline_water_moves(const struct spec *spec, uint64_t stage, uint64_t step);
/* Whether an observable has a frame there: while it produces, at multiples of its interval since the first stage began.
 */
bool timeline_observes(const struct spec *spec, uint64_t stage, uint64_t step);
/* Whether the state is sampled there: for rows, or for an observable that needs it. */
bool timeline_samples(const struct spec *spec, uint64_t stage, uint64_t step);
/* Steps over all stages until there. */
uint64_t timeline_steps(const struct spec *spec, uint64_t stage, uint64_t step);
/* Whether replicas are beyond the step before which they exchange no windows (spec->exchange_after). */
bool timeline_together(const struct spec *spec, uint64_t stage, uint64_t step);
/* Whether replicas exchange windows after `step` steps of a stage. */
bool timeline_exchange(const struct spec *spec, uint64_t stage, uint64_t step);
/* How many times it has been time to: whether they were together then does not count. `now`: that after `step` steps
 * counts, too. */
uint64_t timeline_exchanges(const struct spec *spec, uint64_t stage, uint64_t step, bool now);
/* How many switches a walker has made once it has done `step` steps of a stage and all that comes then. */
uint64_t timeline_switches(const struct spec *spec, uint64_t stage, uint64_t step);
/* How many times they have met, to exchange and at the ends of stages in which they do; 0 until they are together. */
uint64_t timeline_meetings(const struct spec *spec, uint64_t stage, uint64_t step);
/* The next step of a stage, after `step`, at which something other than a step happens. */
uint64_t timeline_next_event(const struct spec *spec, uint64_t stage, uint64_t step);

#endif
