/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-equilibrium switches of small systems.
 */
#ifndef SHOAL_TESTS_PHYSICS_SWITCH_PLAY_H
#define SHOAL_TESTS_PHYSICS_SWITCH_PLAY_H

#include "engine/run/sim.h"
#include "tests/lib/toy.h"

/* All timesteps that are left of the switch under way. Returns its work, kJ/mol. */
double switch_to_end(struct sim *s);
/* A switch from the state as it is, and back to that state. Returns its work. */
double switch_work(struct sim *s, enum switch_way way, uint32_t number);
/* The same of a switch that is longer by some doublings. */
double switch_work_longer(struct sim *s, enum switch_way way, int doublings, uint32_t number);
/* Atoms of mass 12 far from one another, each in a harmonic well of this force constant that goes `far` along x with
 * the restraint lambda; at rest in the middle of A's. Energies of both ends are alike. */
struct system *switch_wells(int n, double far, double k);
/* Both ends of bonded terms and restraints alone, and so many changes of lambda in between; Langevin dynamics. */
struct settings switch_settings_of_ends(int changes, int every);

#endif
