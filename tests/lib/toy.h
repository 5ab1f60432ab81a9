/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems built by hand, and the way to run them, for physics tests.
 */
#ifndef SHOAL_TESTS_LIB_TOY_H
#define SHOAL_TESTS_LIB_TOY_H

#include "engine/base/buf.h"
#include "engine/run/sim.h"

/* natoms neutral atoms named "C" of mass 12 without LJ, each a molecule, at the origin of a cubic box. */
struct system *toy_system(int natoms, double edge);
void toy_system_free(struct system *s);
/* toy_add(sys, bonds, nbonds, (struct bond){...}); */
#define toy_add(s, list, count, ...)                                                                                   \
    ((s)->list = xrealloc((s)->list, (size_t)(s)->count + 1, sizeof *(s)->list), (s)->list[(s)->count++] = __VA_ARGS__)

/* A map of 5 x 5 energies on atoms first .. first + 4. */
void toy_add_cmap(struct system *s, int first);

/* A restraint between the centers of two groups of atoms, by their masses. */
void toy_add_centers(struct system *s, const int *one, int none, const int *other, int nother, const double c[2][6]);

/* Velocity Verlet, 1 fs, 300 K, seed 1, cut-offs 0.9 nm, no barostat, one window at lambda 0. */
struct settings toy_settings(void);

/* Rigid SPC/E water (Berendsen et al. 1987) on a cubic lattice, side^3 molecules, about liquid density, turned at
 * random; side 0: none. */
struct system *toy_water(int side);

struct toy {
    struct dev *dev;
    struct model *model;
    struct sim *sim;
};

/* Device "cpu:2" unless the environment variable SHOAL_TEST_DEVICE names another; replica 0 of `window`. Fails the test
 * on any error. */
struct toy toy_open(const struct system *sys, const struct settings *set, int window);
/* The same on the CPU device, the reference of the others. */
struct toy toy_open_reference(const struct system *sys, const struct settings *set, int window);
/* Whether the device of toy_open refuses the system, as GPUs do small boxes; then says why. */
bool toy_refuses(const struct system *sys, const struct settings *set);
/* How far the device of toy_open may be off: `full` where it computes in double precision, as the CPU device does, and
 * `mixed` more where it does not. */
double toy_allowed(double full, double mixed);
/* 1, or SHOAL_TEST_EVERY: a test of many variants runs one in so many, where they take long. */
int toy_every(void);
struct sim *toy_replica(const struct toy *t, int window, uint32_t replica);
void toy_close(struct toy *t);

/* n of the work, through growing; 0 or the negative outcome with *e. */
int toy_try(struct sim *s, enum sim_work work, uint32_t n, struct err *e);
/* The same; fails the test on an error. */
void toy_run(struct sim *s, enum sim_work work, uint32_t n);
/* So many steps of minimization at most, to forces below the tolerance (kJ/mol/nm); then velocities. */
void toy_relax(struct sim *s, double tolerance, uint32_t steps);
/* Takes a system off its lattice: minimized a little, then `steps` timesteps as `set` says, on the CPU device; its
 * positions become those. */
void toy_settle(struct system *sys, const struct settings *set, uint32_t steps);
/* A sample of the current state; delta_u must have room for the windows. */
struct sample toy_sample(struct sim *s, double *delta_u);

#endif
