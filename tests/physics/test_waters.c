/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters between bulk and a sphere: an ideal gas, whose numbers are binomial, and waters that interact,
 * against sums over all of their configurations.
 *
 * usage: test_waters [LONGER]: as many times longer, with errors that are smaller by the root of it; 0: without what is
 * counted, for a device that is slow
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "engine/kernels/waters.h"
#include "engine/math/vec.h"
#include "engine/run/sim_parts.h"
#include "tests/physics/waters_play.h"

enum { MOST = 64 };

static int longer = 1; /* than usual, so many times */

/* Counts of a number of waters, in blocks for its error. */
struct counts {
    double share[MOST], of_blocks[MOST], block[MOST], mean, mean2, block_mean;
    int blocks, length, in_block;
};

static void count(struct counts *c, int inside)
{
    assert_true(inside >= 0 && inside < MOST);
    c->block[inside] += 1.0 / c->length;
    if (++c->in_block < c->length)
        return;
    double mean = 0;
    for (int n = 0; n < MOST; n++) {
        c->share[n] += c->block[n];
        c->of_blocks[n] += c->block[n] * c->block[n];
        mean += n * c->block[n];
        c->block[n] = 0;
    }
    c->mean += mean;
    c->mean2 += mean * mean;
    c->in_block = 0;
    c->blocks++;
}

static double error_of(double sum, double squares, int blocks)
{
    const double mean = sum / blocks;
    return sqrt(fmax(squares / blocks - mean * mean, 0) / (blocks - 1));
}

/* Every share that matters is the expected one within four errors, and so is the mean, whose error is at most `most` of
 * it. */
static void expect_shares(const struct counts *c, const double *expected, const double *doubt, double most)
{
    double mean = 0, error = error_of(c->mean, c->mean2, c->blocks), off = 0;
    for (int n = 0; n < MOST; n++) {
        const double found = c->share[n] / c->blocks, e = error_of(c->share[n], c->of_blocks[n], c->blocks);
        mean += n * expected[n];
        off += n * n * (doubt ? doubt[n] * doubt[n] : 0);
        if (expected[n] > 0.01)
            printf("%2d waters: %.4f +- %.4f, expected %.4f\n", n, found, e, expected[n]);
        if (expected[n] > 0.01)
            assert_true(fabs(found - expected[n]) < 4 * hypot(e, doubt ? doubt[n] : 0));
    }
    printf("mean %.4f +- %.4f, expected %.4f +- %.4f\n", c->mean / c->blocks, error, mean, sqrt(off));
    most /= sqrt(longer);
    assert_true(error < most * mean && sqrt(off) < most * mean);
    assert_true(fabs(c->mean / c->blocks - mean) < 4 * hypot(error, sqrt(off)));
}

static double sphere(double radius)
{
    return 4.0 / 3 * M_PI * pow(radius, 3);
}

static int inside_of(const struct system *sys, double radius, const double (*x)[3], const double box[BOX_SIZE])
{
    int n = 0;
    for (int i = 0; i < sys->nsettles; i++) {
        double d[3];
        box_image(x[sys->settles[i].oxygen], x[0], box, d);
        n += vec_dot(d, d) < radius * radius;
    }
    return n;
}

/* As many as positions say. */
static int really_inside(struct sim *s, const struct system *sys, double radius)
{
    double(*x)[3] = malloc((size_t)sys->natoms * sizeof *x), box[BOX_SIZE];
    struct err e = {0};
    assert_int_equal(sim_get(s, x, NULL, box, &e), 0);
    const int n = inside_of(sys, radius, (const double(*)[3])x, box);
    free(x);
    return n;
}

/* 64 waters that do not meet: each is in the sphere with the same probability, in a box whose edges are not at right
 * angles. */
static void test_ideal_gas(void **state)
{
    enum { WATERS = 64, TRIES = 80 };
    const double radius = 0.6;
    struct settings set = waters_settings(0.7, radius, TRIES);
    struct system *sys = waters_system(1, 2, 4, WATERS, 0, 0, 0);
    struct counts c = {.length = 60 * longer};
    double expected[MOST] = {0};
    set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    sys->box[BOX_ZX] = 0.7;
    sys->box[BOX_ZY] = -0.3;
    struct toy t = toy_open(sys, &set, 0);
    const double p = sphere(radius) / box_volume(sys->box);
    for (int n = 0; n < MOST; n++)
        expected[n] =
            exp(lgamma(WATERS + 1) - lgamma(n + 1) - lgamma(WATERS - n + 1) + n * log(p) + (WATERS - n) * log(1 - p));
    for (int i = 0; i < 40 * c.length; i++) {
        count(&c, waters_batch(t.sim));
        if (i % 200 == 0)
            assert_int_equal(sim_heard(t.sim)->ctl.waters_inside[1], really_inside(t.sim, sys, radius));
    }
    expect_shares(&c, expected, NULL, 0.01);
    const struct water_moves m = sim_water_moves(t.sim);
    assert_int_equal(m.batches, 40 * c.length);
    assert_int_equal(m.tried, m.batches * TRIES);
    assert_true(m.undone == 0 && m.kept == m.moved && m.moved > m.tried / 2);
    toy_close(&t);
    toy_system_free(sys);
}

/* ---- waters that meet ---- */

#define GAS_RADIUS 0.55

/* Four waters with less than half their charges, and one atom that draws oxygens and hydrogens: of these the
 * approximate energy knows nothing. */
static struct system *thin_gas(void)
{
    struct system *sys = waters_system(1, 1.5, 2, 4, 0, 0.4, 0.3);
    const struct lj hidden = {4 * 1.2 * pow(0.25, 6), 4 * 1.2 * pow(0.25, 12)};
    waters_attract(sys, 3, 0.3);
    sys->lj[5] = sys->lj[7] = hidden;
    sys->atoms[0].charge[0] = sys->atoms[0].charge[1] = 0.1;
    toy_add(sys, position_restraints, nposition_restraints,
            (struct position_restraint){0, {0.75, 0.75, 0.75}, {{1e6, 1e6, 1e6}, {1e6, 1e6, 1e6}}});
    return sys;
}

/* Potential energy by definition, of a reaction field without a dielectric constant beyond a plain cut-off. */
static double define_potential(const struct system *sys, const struct settings *set, const double (*x)[3])
{
    const double rc = set->nonbonded.coulomb_cutoff, k = 0.5 / (rc * rc * rc);
    double u = 0;
    for (int i = 0; i < sys->natoms; i++)
        for (int j = 0; j < i; j++) {
            const struct atom *a = &sys->atoms[i], *b = &sys->atoms[j];
            const struct lj *lj = &sys->lj[a->type[0] * sys->ntypes + b->type[0]];
            double d[3];
            box_image(x[i], x[j], sys->box, d);
            const double r2 = vec_dot(d, d), ri6 = 1 / (r2 * r2 * r2);
            if (a->molecule != b->molecule && r2 < rc * rc)
                u += ri6 * (lj->c12 * ri6 - lj->c6) +
                     UNIT_COULOMB * a->charge[0] * b->charge[0] * (1 / sqrt(r2) + k * r2 - 1.5 / rc);
        }
    return u;
}

/* Puts a water anywhere, evenly. */
static void scatter(const struct system *sys, int oxygen, uint32_t replica, uint64_t step, double (*x)[3])
{
    const struct philox r = philox_at(5, replica, step, 100, 0), p = philox_at(5, replica, step, 100, 1);
    const double at[3] = {philox_uniform(r.word[0], r.word[1]) * sys->box[0],
                          philox_uniform(r.word[2], r.word[3]) * sys->box[1],
                          philox_uniform(p.word[0], p.word[1]) * sys->box[2]};
    double m[3][3];
    waters_turn(philox_at(5, replica, step, 100, 2), m);
    for (int k = 0; k < 3; k++) {
        double d[3];
        vec_sub(sys->x[oxygen + k], sys->x[oxygen], d);
        for (int i = 0; i < 3; i++)
            x[oxygen + k][i] = at[i] + vec_dot(m[i], d);
    }
}

/* Opposite charges are closer than proposals bring them. */
static bool too_close(const struct system *sys, const double (*x)[3])
{
    for (int i = 0; i < sys->natoms; i++)
        for (int k = 0; k < i; k++) {
            const struct atom *a = &sys->atoms[i], *b = &sys->atoms[k];
            double d[3];
            box_image(x[i], x[k], sys->box, d);
            if (a->molecule != b->molecule && a->charge[0] * b->charge[0] < 0 &&
                vec_dot(d, d) < WATERS_CLOSEST * WATERS_CLOSEST)
                return true;
        }
    return false;
}

enum { SUM_BLOCKS = 20 };

/* Shares of each number of waters by configurations drawn evenly, each with its Boltzmann factor. */
static void sum_configurations(const struct system *sys, const struct settings *set, double *share, double *doubt)
{
    double(*x)[3] = malloc((size_t)sys->natoms * sizeof *x), all = 0, weight[SUM_BLOCKS][MOST] = {{0}};
    const double kt = UNIT_R * set->integrator.temperature;
    memcpy(x, sys->x, (size_t)sys->natoms * sizeof *x);
    const int each = 30000 * longer;
    for (int i = 0; i < SUM_BLOCKS * each; i++) {
        for (int w = 0; w < sys->nsettles; w++)
            scatter(sys, sys->settles[w].oxygen, (uint32_t)w, (uint64_t)i, x);
        if (too_close(sys, (const double(*)[3])x))
            continue;
        const double w = exp(-define_potential(sys, set, (const double(*)[3])x) / kt);
        weight[i / each][inside_of(sys, set->waters.radius, (const double(*)[3])x, sys->box)] += w;
        all += w;
    }
    for (int n = 0; n < MOST; n++) {
        double sum = 0, squares = 0;
        for (int b = 0; b < SUM_BLOCKS; b++) {
            const double of = weight[b][n] * SUM_BLOCKS / all;
            sum += of;
            squares += of * of;
        }
        share[n] = sum / SUM_BLOCKS;
        doubt[n] = error_of(sum, squares, SUM_BLOCKS);
    }
    free(x);
}

/* The definition is the engine's potential, but for what no configuration changes. */
static void check_definition(const struct system *sys, const struct settings *set)
{
    double(*x)[3] = malloc((size_t)sys->natoms * sizeof *x), du, first = 0;
    struct toy t = toy_open_reference(sys, set, 0);
    struct err e = {0};
    memcpy(x, sys->x, (size_t)sys->natoms * sizeof *x);
    for (int i = 0; i < 10; i++) {
        for (int w = 0; w < sys->nsettles; w++)
            scatter(sys, sys->settles[w].oxygen, (uint32_t)w, (uint64_t)i, x);
        const double defined = define_potential(sys, set, (const double(*)[3])x);
        if (fabs(defined) > 1e4)
            continue;
        assert_int_equal(sim_put(t.sim, (const double(*)[3])x, NULL, sys->box, &e), 0);
        const double off = toy_sample(t.sim, &du).potential - defined;
        first = first != 0 ? first : off;
        assert_true(fabs(off - first) < 1e-6 * (1 + fabs(defined)));
    }
    assert_true(first != 0);
    free(x);
    toy_close(&t);
}

/* steps: timesteps between batches; length: batches of a block. */
static void run_gas(const struct system *sys, const struct settings *set, uint32_t steps, int length,
                    const double *expected, const double *doubt)
{
    struct counts c = {.length = length};
    struct toy t = toy_open(sys, set, 0);
    struct err e = {0};
    double du, kinetic = 0;
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    for (int i = 0; i < 40 * c.length; i++) {
        if (steps)
            toy_run(t.sim, SIM_STEP, steps);
        count(&c, waters_batch(t.sim));
        if (steps && i % 20 == 0)
            kinetic += toy_sample(t.sim, &du).kinetic / (40 * c.length / 20);
    }
    const struct water_moves m = sim_water_moves(t.sim);
    printf("%g of %g batches undone\n", (double)m.undone, (double)m.changed);
    assert_true(m.undone > m.changed / 20 && m.kept < m.moved && m.changed <= m.batches);
    expect_shares(&c, expected, doubt, steps ? 0.025 : 0.01);
    if (steps) /* of 27 degrees of freedom; an average over some 250 that are independent */
        assert_true(fabs(kinetic / (13.5 * UNIT_R * 300) - 1) < 0.08);
    toy_close(&t);
}

/* Runs that were longer, seeds of 60,000 batches or more: mean 1.2570 +- 0.0006 by the sum, 1.2593 +- 0.0008 without
 * dynamics, 1.2572 +- 0.0018 with four timesteps of 2 fs between batches, and 1.2572 +- 0.0018 with one of 4 fs.
 * Kinetic energies were 0.999 +- 0.003 and 1.000 +- 0.003 of what 300 K have. */
static void test_interacting(void **state)
{
    struct settings set = waters_settings(0.7, GAS_RADIUS, 15);
    struct system *sys = thin_gas();
    double expected[MOST], doubt[MOST];
    set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    check_definition(sys, &set);
    sum_configurations(sys, &set, expected, doubt);
    run_gas(sys, &set, 0, 450 * longer, expected, doubt);
    run_gas(sys, &set, 4, 100 * longer, expected, doubt);
    toy_system_free(sys);
}

/* ---- velocities ---- */

/* Sizes of momentum and of angular momentum of a water at the time of x: half a kick by `timestep` behind its
 * velocities. Constraint forces have no share in either. */
static void motion_of(const struct system *sys, int oxygen, double timestep, const double (*x)[3], const double (*v)[3],
                      const double (*f)[3], double out[2])
{
    double center[3] = {0}, p[3] = {0}, spin[3] = {0}, mass = 0;
    for (int i = oxygen; i < oxygen + 3; i++) {
        mass += sys->atoms[i].mass[0];
        vec_add(center, sys->atoms[i].mass[0], x[i]);
    }
    for (int i = oxygen; i < oxygen + 3; i++) {
        double own[3] = {0}, arm[3], of[3];
        vec_add(own, sys->atoms[i].mass[0], v[i]);
        vec_add(own, 0.5 * timestep, f[i]);
        vec_add(p, 1, own);
        for (int d = 0; d < 3; d++)
            arm[d] = x[i][d] - center[d] / mass;
        vec_cross(arm, own, of);
        vec_add(spin, 1, of);
    }
    out[0] = sqrt(vec_dot(p, p));
    out[1] = sqrt(vec_dot(spin, spin));
}

static void motions(struct sim *s, const struct system *sys, double timestep, double (*out)[2])
{
    double(*a)[3] = malloc(3 * (size_t)sys->natoms * sizeof *a), (*v)[3] = a + sys->natoms, (*f)[3] = v + sys->natoms;
    struct err e = {0};
    assert_int_equal(sim_get(s, a, v, NULL, &e), 0);
    assert_int_equal(sim_forces(s, f, &e), 0);
    for (int i = 0; i < sys->nsettles; i++)
        motion_of(sys, sys->settles[i].oxygen, timestep, (const double(*)[3])a, (const double(*)[3])v,
                  (const double(*)[3])f, out[i]);
    free(a);
}

/* A batch leaves the size of every water's momentum and angular momentum at the time of x, while forces change. */
static void test_velocities(void **state)
{
    struct settings set = waters_settings(0.7, GAS_RADIUS, 15);
    struct system *sys = thin_gas();
    const double dt = set.integrator.timestep, room = toy_allowed(1e-6, 1e-4);
    double before[4][2], after[4][2];
    set.nonbonded.coulomb_method = COULOMB_REACTION_FIELD;
    struct toy t = toy_open(sys, &set, 0);
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    for (int i = 0; i < 30; i++) {
        toy_run(t.sim, SIM_STEP, 4);
        motions(t.sim, sys, dt, before); /* langevin-middle's velocities lack half a kick */
        waters_batch(t.sim);
        motions(t.sim, sys, 0, after); /* a batch begins with it */
        for (int w = 0; w < sys->nsettles; w++)
            for (int k = 0; k < 2; k++)
                assert_true(fabs(after[w][k] - before[w][k]) < room * (1 + before[w][k]));
    }
    assert_true(sim_water_moves(t.sim).kept > 50);
    toy_close(&t);
    toy_system_free(sys);
}

/* ---- bits ---- */

static void march(struct sim *s, int from, int to)
{
    for (int i = from; i < to; i++) {
        toy_run(s, SIM_STEP, 2);
        toy_run(s, SIM_WATERS, 1);
    }
}

static struct buf saved(struct sim *s)
{
    struct buf b = {0};
    struct err e = {0};
    assert_int_equal(sim_save(s, &b, &e), 0);
    sim_seal(&b);
    return b;
}

/* A replica that was saved and loaded into another goes on with the same bits and counts. Counting begins anew where it
 * is asked to. */
static void test_bits(void **state)
{
    struct settings set = waters_settings(0.7, GAS_RADIUS, 20);
    struct system *sys = thin_gas();
    struct toy t = toy_open(sys, &set, 0);
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    march(t.sim, 0, 15);
    struct buf half = saved(t.sim);
    march(t.sim, 15, 30);
    struct buf whole = saved(t.sim);
    struct sim *other = toy_replica(&t, 0, 0);
    assert_int_equal(sim_load(other, half.data, half.len, &e), 0);
    march(other, 15, 30);
    struct buf resumed = saved(other);
    assert_int_equal(whole.len, resumed.len);
    assert_memory_equal(whole.data, resumed.data, whole.len);
    const struct water_moves m = sim_saved_water_moves(whole.data, whole.len);
    assert_true(m.batches == 30 && m.tried == 600 && m.kept > 20);
    sim_count_moves(other);
    march(other, 30, 31);
    assert_int_equal(sim_water_moves(other).batches, 1);
    sim_free(other);
    buf_free(&half);
    buf_free(&whole);
    buf_free(&resumed);
    toy_close(&t);
    toy_system_free(sys);
}

int main(int argc, char **argv)
{
    longer = argc > 1 ? atoi(argv[1]) : 1;
    const struct CMUnitTest counted[] = {
        cmocka_unit_test(test_ideal_gas),
        cmocka_unit_test(test_interacting),
    };
    const struct CMUnitTest exact[] = {
        cmocka_unit_test(test_velocities),
        cmocka_unit_test(test_bits),
    };
    const int failed = longer ? cmocka_run_group_tests(counted, NULL, NULL) : 0;
    return failed + cmocka_run_group_tests(exact, NULL, NULL);
}
