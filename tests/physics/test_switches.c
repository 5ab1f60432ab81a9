/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of non-equilibrium switches: on atoms that stay it is the difference of both ends' energies, of every kind
 * of term; of atoms in wells that move it has the mean and the variance of the dynamics' own recursion, and both ways
 * together have the free energy that is known.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "tests/lib/mixture.h"
#include "tests/lib/near.h"
#include "tests/physics/switch_play.h"

/* ---- atoms that stay ---- */

enum { WINDOWS = 4, CHANGES = 12 };
#define STILL 1e-200 /* ps: a timestep in which nothing moves */

/* In the order coulomb, vdw, bonded, mass, restraint: each part goes a way of its own. */
static double ladder[WINDOWS][LAMBDA_COUNT] = {
    {0, 0, 0, 0, 0}, {0.5, 0.1, 0.3, 0, 0.2}, {0.9, 0.6, 0.4, 0, 0.9}, {1, 1, 1, 0, 1}};

static struct settings still(enum alchemy kind)
{
    struct settings set = toy_settings();
    set.integrator.timestep = STILL;
    set.nonbonded.dispersion = DISPERSION_ENERGY_PRESSURE;
    set.alchemy = mixture_alchemy(kind, WINDOWS, ladder);
    set.alchemy.given[LAMBDA_RESTRAINT] = true;
    set.switching = (struct switch_settings){.changes = CHANGES, .every = 2};
    return set;
}

/* One of each list that has an end of its own. */
static void add_terms(struct system *s)
{
    const int one[2] = {0, 1}, other[2] = {3, 5};
    const double centers[2][6] = {{0.1, 0.2, 0.3, 900}, {0.1, 0.25, 0.31, 700}};
    toy_add(s, bonds, nbonds, (struct bond){{0, 1}, {0.10, 0.14}, {2e4, 1e4}});
    toy_add(s, angles, nangles, (struct angle){{0, 1, 2}, {1.9, 2.2}, {400, 600}, {0.2, 0.25}, {1e4, 3e4}, true});
    toy_add(s, dihedrals, ndihedrals, (struct dihedral){{0, 1, 2, 3}, {0.3, M_PI}, {5, 9}, 3, false, {0, 0}});
    toy_add(s, rb_dihedrals, nrb_dihedrals,
            (struct rb_dihedral){{1, 2, 3, 4}, {{1, 2, 3, 4, 5, 6}, {3, 1, 4, 1, 5, 9}}});
    toy_add(s, impropers, nimpropers, (struct improper){{1, 2, 3, 4}, {0.3, 0.6}, {50, 80}});
    toy_add(s, position_restraints, nposition_restraints,
            (struct position_restraint){3, {0.3, 0.2, 0.1}, {{500, 600, 700}, {900, 0, 100}}});
    toy_add(s, rare, nrare, (struct rare_term){RARE_MORSE, {2, 3}, 0, {{0.10, 400, 20}, {0.13, 300, 17}}});
    toy_add(s, rare, nrare,
            (struct rare_term){RARE_DIHEDRAL_RESTRAINT, {0, 1, 2, 3}, 0, {{0.3, 0.2, 50}, {-0.4, 0.1, 90}}});
    toy_add(s, pairs14, npairs14, (struct pair14){{0, 5}, {{1e-3, 1e-6}, {2e-3, 3e-6}}, {0.1, -0.2}, false});
    toy_add_centers(s, one, 2, other, 2, centers);
    const int *const group[2] = {one, other};
    const int n[2] = {2, 2};
    const struct coordination near_by = {
        .pairs = COORDINATION_BETWEEN, .periodic = 1, .f = rational_make(0.4, 0, 6, 12, INFINITY, 0)};
    system_add_coordination(s, near_by, group, n);
    toy_add(s, biases, nbiases, (struct bias){.coordination = 0, .kind = BIAS_HARMONIC, .c = {{0.2, 30}, {0.7, 50}}});
}

/* Forwards the sum of all changes is what a sample says of both ends; backwards it is undone to the last bit. */
static void expect_ends(const struct system *sys, const struct settings *set)
{
    struct toy t = toy_open(sys, set, 0);
    struct sim *back = toy_replica(&t, WINDOWS - 1, 0);
    double du[WINDOWS];
    toy_sample(t.sim, du);
    const double forward = switch_work(t.sim, SWITCH_FORWARD, 0);
    near(forward, du[WINDOWS - 1], toy_allowed(2e-8, 2e-3));
    assert_true(fabs(forward) > 1);
    assert_true(switch_work(back, SWITCH_BACKWARD, 7) == -forward);
    sim_free(back);
    toy_close(&t);
}

static void test_still(void **state)
{
    for (enum alchemy kind = ALCHEMY_DECOUPLE; kind <= ALCHEMY_B_STATES; kind++) {
        struct system *sys = mixture(2);
        struct settings set = still(kind);
        expect_ends(sys, &set);
        add_terms(sys);
        expect_ends(sys, &set);
        set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
        expect_ends(sys, &set);
        toy_system_free(sys);
    }
}

/* ---- atoms in wells that move ---- */

enum { ATOMS = 8, PULLS = 25, EVERY = 4, SWITCHES = 1500 };
#define FAR 0.04        /* nm */
#define CONSTANT 20000. /* kJ/mol/nm^2 */

/* A fifth of the changes go half the way. */
static double half_way[3][LAMBDA_COUNT] = {{0}, {0, 0, 0.5}, {0, 0, 1}}, slower[2] = {1, 4};

static struct settings pulling(double temperature)
{
    struct settings set = switch_settings_of_ends(PULLS, EVERY);
    set.integrator.timestep = 0.002;
    set.integrator.friction = 5;
    set.integrator.temperature = temperature;
    return set;
}

/* Where the well is after so many of all changes, nm. */
static double well_at(const struct settings *set, int changes, int all)
{
    const int half = all / 5;
    if (!set->switching.shares)
        return FAR * changes / all;
    return changes < half ? 0.5 * FAR * changes / half : 0.5 * FAR * (1 + (changes - half) / (double)(all - half));
}

/* Of one atom without noise, from rest in the middle of its well: the work that is lost, by the recursion of its place
 * and velocity. */
static double dissipation(const struct settings *set, int doublings)
{
    const int all = PULLS << doublings;
    const double h = set->integrator.timestep, keep = exp(-set->integrator.friction * h);
    double x = 0, v = 0, work = 0;
    for (int step = 0; step < all * EVERY; step++) {
        const double before = well_at(set, step / EVERY, all), change = well_at(set, step / EVERY + 1, all) - before;
        const bool now = step % EVERY == EVERY - 1;
        if (now)
            work += 0.5 * CONSTANT * (pow(x - before - change, 2) - pow(x - before, 2));
        v -= h * CONSTANT / 12 * (x - before - (now ? 0.5 * change : 0));
        x += 0.5 * h * (1 + keep) * v;
        v *= keep;
    }
    return work;
}

static double cold_work(const struct settings *set, int doublings)
{
    struct system *sys = switch_wells(ATOMS, FAR, CONSTANT);
    struct toy t = toy_open(sys, set, 0);
    const double expected = ATOMS * dissipation(set, doublings);
    assert_true(expected > 0.5);
    near(switch_work_longer(t.sim, SWITCH_FORWARD, doublings, 0), expected, 1e-6 * expected);
    toy_close(&t);
    toy_system_free(sys);
    return expected;
}

/* Evenly, and with shares by which the first half of the way is fast: more is lost. */
static void test_cold_pull(void **state)
{
    struct settings set = pulling(1e-200);
    const double even = cold_work(&set, 0);
    set.alchemy.nwindows = 3;
    set.alchemy.lambda = half_way;
    set.switching.shares = slower;
    assert_true(cold_work(&set, 0) > 1.2 * even);
}

/* Of a model for longer switches too: those that are not longer, and longer ones, which lose less. */
static void test_longer_pull(void **state)
{
    struct settings set = pulling(1e-200);
    set.alchemy.nwindows = 3;
    set.alchemy.lambda = half_way;
    set.switching.shares = slower;
    const double plain = cold_work(&set, 0);
    set.switching.doublings = 2;
    assert_true(cold_work(&set, 0) == plain);
    assert_true(cold_work(&set, 1) < 0.8 * plain);
    assert_true(cold_work(&set, 2) < 0.5 * plain);
}

struct works {
    double mean, variance, each[SWITCHES]; /* kT */
};

/* Of a walker of one end. */
static void walk(const struct toy *t, const struct settings *set, enum switch_way way, struct works *out)
{
    const double kt = UNIT_R * set->integrator.temperature;
    struct sim *s = toy_replica(t, way == SWITCH_FORWARD ? 0 : 1, way);
    struct err e = {0};
    *out = (struct works){0};
    assert_int_equal(sim_thermalize(s, &e), 0);
    toy_run(s, SIM_STEP, 400);
    for (uint32_t n = 0; n < SWITCHES; n++) {
        toy_run(s, SIM_STEP, 200);
        out->each[n] = switch_work(s, way, n) / kt;
        out->mean += out->each[n] / SWITCHES;
    }
    for (uint32_t n = 0; n < SWITCHES; n++)
        out->variance += pow(out->each[n] - out->mean, 2) / (SWITCHES - 1);
    sim_free(s);
}

/* BAR of as many works both ways, kT. */
static double free_energy(const struct works *w)
{
    double low = -1000, high = 1000;
    while (high - low > 1e-9) {
        const double g = 0.5 * (low + high);
        double sum = 0;
        for (int n = 0; n < SWITCHES; n++)
            sum += 1 / (1 + exp(w[SWITCH_FORWARD].each[n] - g)) - 1 / (1 + exp(w[SWITCH_BACKWARD].each[n] + g));
        if (sum > 0)
            high = g;
        else
            low = g;
    }
    return low;
}

/* Works of a harmonic well that moves are Gaussian, and obey Crooks' relation: their variance is twice what is lost. */
static void test_warm_pull(void **state)
{
    if (toy_every() > 1) /* thousands take long, and the one that is cold has the same kernels */
        skip();
    struct system *sys = switch_wells(ATOMS, FAR, CONSTANT);
    const struct settings set = pulling(300);
    struct toy t = toy_open(sys, &set, 0);
    const double kt = UNIT_R * 300, lost = ATOMS * dissipation(&set, 0) / kt;
    struct works w[SWITCH_WAYS];
    for (enum switch_way way = 0; way < SWITCH_WAYS; way++)
        walk(&t, &set, way, &w[way]);
    const double off = sqrt(lost / SWITCHES), g = free_energy(w); /* of half a sum of means */
    print_message("lost %.4f: %.4f, %.4f +- %.4f; variances %.4f, %.4f; G %.4f\n", lost, w[0].mean, w[1].mean,
                  off * sqrt(2), w[0].variance, w[1].variance, g);
    near((w[0].mean + w[1].mean) / 2, lost, 3 * off);
    near((w[0].mean - w[1].mean) / 2, 0, 3 * off);
    near(g, 0, 4 * off);
    near((w[0].variance + w[1].variance) / (4 * lost), 1, 0.12);
    toy_close(&t);
    toy_system_free(sys);
}

/* Positions after 200 timesteps more; the replica ends. */
static void go_on(struct sim *s, double (*x)[3])
{
    struct err e = {0};
    toy_run(s, SIM_STEP, 200);
    assert_int_equal(sim_get(s, x, NULL, NULL, &e), 0);
    sim_free(s);
}

/* In wells too stiff for the timestep at end B: from what is rescued a new replica goes on bit by bit. */
static void test_blown_up(void **state)
{
    struct system *sys = switch_wells(ATOMS, FAR, CONSTANT);
    for (int i = 0; i < ATOMS; i++)
        toy_add(sys, position_restraints, nposition_restraints,
                (struct position_restraint){i, {0.5, 0.5, 0.5}, {{0, 0, 0}, {1e9, 1e9, 1e9}}});
    const struct settings set = pulling(300);
    struct toy t = toy_open(sys, &set, 0);
    struct sim *calm = toy_replica(&t, 0, 3), *torn = toy_replica(&t, 0, 3), *again = toy_replica(&t, 0, 3);
    double x[2][ATOMS][3];
    struct err e = {0};
    toy_run(calm, SIM_STEP, 100);
    toy_run(torn, SIM_STEP, 100);
    assert_int_equal(sim_switch_begin(torn, SWITCH_FORWARD, 0, 0, &e), 0);
    assert_true(toy_try(torn, SIM_SWITCH, sim_switch(torn).steps_left, &e) < 0);
    assert_true(e.code == ERR_NONFINITE || e.code == ERR_OVERFLOW);
    struct buf held = sim_switch_rescue(torn);
    sim_free(torn);
    sim_seal(&held);
    assert_int_equal(sim_load(again, held.data, held.len, &e), 0);
    assert_false(sim_switch(again).under_way);
    buf_free(&held);
    go_on(calm, x[0]);
    go_on(again, x[1]);
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    toy_close(&t);
    toy_system_free(sys);
}

/* Over the card or in one block, where a device has two ways: the same work. */
static void test_forms(void **state)
{
    const enum pme_form forms[2] = {PME_BLOCK, PME_CARD};
    struct system *sys = mixture(2);
    struct settings set = still(ALCHEMY_B_STATES);
    double work[2] = {0, 0};
    set.nonbonded.pme_form = PME_BLOCK;
    const bool one_way = toy_refuses(sys, &set);
    for (int k = 0; k < 2 && !one_way; k++) {
        set.nonbonded.pme_form = forms[k];
        struct toy t = toy_open(sys, &set, 0);
        work[k] = switch_work(t.sim, SWITCH_FORWARD, 0);
        assert_true(work[k] != 0);
        toy_close(&t);
    }
    assert_true(work[0] == work[1]);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_still),     cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_cold_pull), cmocka_unit_test(test_longer_pull),
                                       cmocka_unit_test(test_warm_pull), cmocka_unit_test(test_blown_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
