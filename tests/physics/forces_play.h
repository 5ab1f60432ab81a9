/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings and systems of the tests of non-bonded forces: a mixture (tests/lib/mixture.h) with every kind of change.
 */
#ifndef SHOAL_TESTS_PHYSICS_FORCES_PLAY_H
#define SHOAL_TESTS_PHYSICS_FORCES_PLAY_H

#include "tests/lib/mixture.h"
#include "tests/lib/near.h"
#include "tests/lib/toy.h"

/* Of the windows. forces_settings sets all of them to 0. */
extern double forces_lambda[64][LAMBDA_COUNT];

/* One window, at lambda 0. */
struct settings forces_settings(enum vdw_modifier modifier, enum alchemy kind);
/* As usual, or so far out that many pairs are closer, or so far that cut-offs and switches are in the way. */
struct soft_core forces_gapsys(int variant);
/* Shorter than the one of Lennard-Jones, with every kind of change and soft core; 12 variants. */
#define FORCES_SHORT_COULOMB 0.6 /* nm */
struct settings forces_short_coulomb(int variant);
/* Four of them, in which charges and Lennard-Jones do not go together. */
void forces_windows(struct settings *set);
/* In a reaction field; 12 variants. */
struct settings forces_field(int variant);
/* The second chain is of a kind of its own. */
struct system *forces_two_kinds(void);
/* What of each is there in A and in B; 12 variants. */
void forces_ways(struct alchemy_settings *al, int variant);
/* Between the states A and B. */
struct settings forces_inside(enum vdw_modifier modifier, bool soft_coulomb);
/* Closes the toy; without energies at windows. */
struct sample forces_sample(struct toy t);
/* In double precision, whatever device is tested: for differences of energies. */
double forces_exact(const struct system *sys, const struct settings *set);
/* What mixed precision may add: to an energy, and to dU/dlambda or a difference between windows. */
double forces_room(double u);
double forces_window_room(double du);

#endif
