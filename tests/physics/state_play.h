/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas of rigid water that go through some timesteps, and what they come to, bit for bit.
 */
#ifndef SHOAL_TESTS_PHYSICS_STATE_PLAY_H
#define SHOAL_TESTS_PHYSICS_STATE_PLAY_H

#include "tests/lib/toy.h"

/* Between set-up and tear-down of a group of tests. */
extern struct system *state_water;
int state_set_up(void **state);
int state_tear_down(void **state);

struct state_final {
    struct buf state;
    double box[BOX_SIZE];
};

struct settings state_settings(enum integrator kind);
/* A blob of the state, then the next energies: they must agree too. */
void state_finish(struct sim *s, struct state_final *out);
/* Timesteps from `from` to `to` in submits of `piece`, a volume move after every 10 of them if asked for. */
void state_march(struct sim *s, int from, int to, int piece, bool npt);
/* A little minimized, with velocities. */
struct toy state_start(const struct settings *set);
void state_same(const struct state_final *a, const struct state_final *b);

#endif
