/* SPDX-License-Identifier: Apache-2.0
 *
 * A site that no water reaches or leaves by dynamics: a cage of atoms held in space, with a dipole, in water. Exchange
 * fills and empties it, and it comes to the same occupancy whether it was empty or full at the start.
 *
 * usage: test_buried_water [STEPS BATCHES]: timesteps of dynamics alone, batches of exchange
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/physics/waters_play.h"

#define EDGE 1.95   /* nm, of the box */
#define CAGE 0.4    /* nm, its radius */
#define CHARGE 0.45 /* e, at two opposite ends of it */

enum { ATOMS = 80, POLE = 4, BLOCKS = 20 }; /* atoms of the cage; those that share a charge */

static uint32_t steps = 300, batches = 160;

static double charge_of(int i)
{
    return i < POLE ? CHARGE / POLE : i >= ATOMS - POLE ? -CHARGE / POLE : 0;
}

/* Evenly over a sphere, along a spiral. */
static void cage_place(int i, double x[3])
{
    const double z = 1 - (2 * i + 1.0) / ATOMS, r = sqrt(1 - z * z), phi = i * M_PI * (3 - sqrt(5));
    const double at[3] = {r * cos(phi), r * sin(phi), z};
    for (int d = 0; d < 3; d++)
        x[d] = 0.5 * EDGE + CAGE * at[d];
}

static struct system *cage(bool full)
{
    struct system *s = waters_system(ATOMS, EDGE, 6, 1000, CAGE + 0.28, 1, 1);
    waters_attract(s, 0.5, 0.3);
    for (int i = 0; i < ATOMS; i++) {
        struct position_restraint held = {.atom = i, .k = {{1e4, 1e4, 1e4}, {1e4, 1e4, 1e4}}};
        cage_place(i, s->x[i]);
        for (int d = 0; d < 3; d++)
            held.x0[d] = s->x[i][d];
        s->atoms[i].charge[0] = s->atoms[i].charge[1] = charge_of(i);
        toy_add(s, position_restraints, nposition_restraints, held);
    }
    for (int k = 2; full && k >= 0; k--) /* the last water */
        for (int d = 0; d < 3; d++)
            s->x[s->natoms - 3 + k][d] += 0.5 * EDGE - s->x[s->natoms - 3][d];
    return s;
}

static struct settings cage_settings(void)
{
    struct settings set = waters_settings(0.7, CAGE, 1500);
    set.nonbonded.pme_spacing = 0.16;
    return set;
}

static struct toy begin(struct system *s, struct settings *set)
{
    struct toy t = toy_open(s, set, 0);
    toy_relax(t.sim, 300, 40);
    return t;
}

/* Dynamics alone: the site stays as it is. The batch at the end, of which only the first count is read, finds how many
 * waters there are. */
static void stays(bool full)
{
    struct settings set = cage_settings();
    set.waters.tries = 0;
    struct system *s = cage(full);
    struct toy t = begin(s, &set);
    toy_run(t.sim, SIM_STEP, steps);
    assert_int_equal(waters_batch(t.sim), full);
    toy_close(&t);
    toy_system_free(s);
}

static void test_dynamics(void **state)
{
    stays(false);
    stays(true);
}

struct occupancy {
    double mean, error;
    uint64_t changes; /* batches that were kept and changed something */
};

static struct occupancy occupancy_from(bool full)
{
    struct settings set = cage_settings();
    struct system *s = cage(full);
    struct toy t = begin(s, &set);
    double sum = 0, squares = 0;
    toy_run(t.sim, SIM_WATERS, batches / 10);
    for (int b = 0; b < BLOCKS; b++) {
        double block = 0;
        for (uint32_t i = 0; i < batches / BLOCKS; i++) {
            toy_run(t.sim, SIM_STEP, 5);
            block += waters_batch(t.sim);
        }
        block /= batches / BLOCKS;
        sum += block;
        squares += block * block;
    }
    const struct water_moves m = sim_water_moves(t.sim);
    toy_close(&t);
    toy_system_free(s);
    const double mean = sum / BLOCKS;
    return (struct occupancy){mean, sqrt((squares / BLOCKS - mean * mean) / (BLOCKS - 1)), m.changed - m.undone};
}

static void test_exchange(void **state)
{
    const struct occupancy empty = occupancy_from(false), full = occupancy_from(true);
    printf("waters: %.3f +- %.3f (%d changes) from none, %.3f +- %.3f (%d changes) from one\n", empty.mean, empty.error,
           (int)empty.changes, full.mean, full.error, (int)full.changes);
    assert_true(empty.changes > 4 && full.changes > 4);
    assert_true(empty.mean > 0.1 && full.mean < 1.9);
    assert_true(fabs(empty.mean - full.mean) < 4 * hypot(empty.error, full.error));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dynamics), cmocka_unit_test(test_exchange)};
    if (argc == 3) {
        steps = (uint32_t)atoi(argv[1]);
        batches = (uint32_t)atoi(argv[2]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
