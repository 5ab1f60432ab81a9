/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps of the CUDA program, run on the CPU (tests/lib/emulate), go where those of the CPU device go: rigid waters,
 * atoms with none to four others at fixed distances, and a cluster that is none of these.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/math/vec.h"
#include "engine/run/program.h"
#include "tests/lib/emulate/emulate.h"
#include "tests/lib/toy.h"

#define WINDOWS 3

/* Copies of the clusters: so few that a system is tiny, and more. */
enum { FEW = 4, MORE = 9 };

#define TOLERANCE 1e-7 /* nm, after 15 steps. Single precision rounds velocities to 1e-7 nm/ps in each step. */

/* Clusters of 1 to 5 atoms in 4 arms and less, one ring of three; each atom held by a spring. perturbed: lengths and
 * masses have a B state. */
static struct system *clusters(int copies, bool perturbed)
{
    static const double arm[4][3] = {
        {0.06, 0.06, 0.06}, {0.06, -0.06, -0.06}, {-0.06, 0.06, -0.06}, {-0.06, -0.06, 0.06}};
    const int size = 1 + 2 + 3 + 4 + 5 + 3;
    struct system *s = toy_system(size * copies, 6);
    for (int m = 0, at = 0; at < size * copies; m++) {
        const int kind = m % 6, count = kind == 5 ? 3 : kind + 1, center = at + (kind % 2 ? count - 1 : 0);
        for (int k = 0, next = 0; k < count; k++) {
            const int i = at + k;
            const bool heavy = i == center;
            s->atoms[i].mass[0] = s->atoms[i].mass[1] = heavy ? 12.011 : 1.008;
            s->atoms[i].mass[1] *= perturbed ? 1.5 : 1;
            strcpy(s->atoms[i].name, heavy ? "C" : "H");
            for (int d = 0; d < 3; d++)
                s->x[i][d] = 0.5 + 0.4 * (d == 0 ? m % 12 : d == 1 ? m / 12 : 3) + (heavy ? 0 : arm[next][d]);
            next += !heavy;
            struct position_restraint r = {
                i, {s->x[i][0] + 0.02, s->x[i][1], s->x[i][2] - 0.01}, {{900, 700, 800}, {0}}};
            toy_add(s, position_restraints, nposition_restraints, r);
            if (!heavy)
                toy_add(s, bonds, nbonds, (struct bond){{center, i}, {0.105, perturbed ? 0.109 : 0.105}, {2e5, 2e5}});
            if (kind == 5 && !heavy && next == 2)
                toy_add(s, bonds, nbonds, (struct bond){{i - 1, i}, {0.17, 0.17}, {2e5, 2e5}});
        }
        at += count;
    }
    return s;
}

struct outcome {
    double (*x)[3], (*v)[3];
    struct sample sample;
    double delta_u[WINDOWS];
};

static struct outcome after_steps(struct dev *dev, const struct system *sys, const struct settings *set)
{
    struct toy t = {.dev = dev};
    struct err e = {0};
    struct outcome o = {.x = xcalloc((size_t)sys->natoms, sizeof *o.x), .v = xcalloc((size_t)sys->natoms, sizeof *o.v)};
    if (model_new(&t.model, t.dev, sys, set, &e) || sim_new(&t.sim, t.model, set->alchemy.nwindows / 2, 0, &e) ||
        sim_thermalize(t.sim, &e))
        fail_msg("%s", e.msg);
    toy_run(t.sim, SIM_STEP, 15);
    o.sample = toy_sample(t.sim, o.delta_u);
    if (sim_get(t.sim, o.x, o.v, NULL, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
    return o;
}

static struct dev *opened(const struct program *program)
{
    struct dev *dev;
    struct err e = {0};
    if (emulate_open(&dev, "cpu:1", NULL, *program->kernels, &e))
        fail_msg("%s", e.msg);
    return dev;
}

static void near(const char *what, double cpu, double cuda, double tolerance)
{
    if (!(fabs(cpu - cuda) <= tolerance))
        fail_msg("%s: %.12g on the CPU device, %.12g by the CUDA program", what, cpu, cuda);
}

/* What a sample says of velocities and constraints; all else is held against the CPU device by test_cuda.c. */
static void compare_samples(const struct outcome *cpu, const struct outcome *cuda, int nwindows, double tolerance)
{
    near("kinetic energy", cpu->sample.kinetic, cuda->sample.kinetic, tolerance * cpu->sample.kinetic);
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(cpu->sample.constraint_virial[k]));
    assert_true(largest > 1);
    for (int k = 0; k < 9; k++)
        near("constraint virial", cpu->sample.constraint_virial[k], cuda->sample.constraint_virial[k],
             tolerance * largest);
    for (int k = LAMBDA_BONDED; k <= LAMBDA_MASS; k += LAMBDA_MASS - LAMBDA_BONDED)
        near("dU/dlambda", cpu->sample.dvdl[k], cuda->sample.dvdl[k], tolerance * (1 + fabs(cpu->sample.dvdl[k])));
    for (int w = 0; w < nwindows; w++)
        near("U at a window", cpu->delta_u[w], cuda->delta_u[w], tolerance * (1 + fabs(cpu->delta_u[w])));
}

/* tolerance: nm, and nm/ps after division by a picosecond's hundredth; of_sample: relative */
static void compare(const struct system *sys, const struct settings *set, double tolerance, double of_sample)
{
    double moved = 0;
    struct outcome cpu = after_steps(opened(&cpu_program), sys, set),
                   cuda = after_steps(opened(&cuda_program), sys, set);
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++) {
            moved = fmax(moved, fabs(cpu.x[i][d] - sys->x[i][d]));
            near("x", cpu.x[i][d], cuda.x[i][d], tolerance);
            near("v", cpu.v[i][d], cuda.v[i][d], 100 * tolerance);
        }
    assert_true(moved > 0.01);
    compare_samples(&cpu, &cuda, set->alchemy.nwindows, of_sample);
    free(cpu.x);
    free(cpu.v);
    free(cuda.x);
    free(cuda.v);
}

static struct settings settings_of(enum integrator kind)
{
    struct settings set = toy_settings();
    set.constrain = CONSTRAIN_ALL_BONDS;
    set.integrator.kind = kind;
    set.integrator.timestep = 0.002;
    set.integrator.com_every = 4;
    return set;
}

static void test_clusters(void **state)
{
    for (int copies = FEW; copies <= MORE; copies += MORE - FEW) {
        struct system *s = clusters(copies, false);
        for (int kind = INTEGRATOR_VELOCITY_VERLET; kind <= INTEGRATOR_LANGEVIN_MIDDLE; kind++) {
            struct settings set = settings_of(kind);
            compare(s, &set, TOLERANCE, 1e-6);
        }
        toy_system_free(s);
    }
}

static void test_perturbed_clusters(void **state)
{
    double lambda[WINDOWS][LAMBDA_COUNT] = {0};
    for (int w = 0; w < WINDOWS; w++)
        lambda[w][LAMBDA_BONDED] = lambda[w][LAMBDA_MASS] = (const double[]){0, 0.4, 1}[w];
    for (int copies = FEW; copies <= MORE; copies += MORE - FEW) {
        struct system *s = clusters(copies, true);
        for (int kind = INTEGRATOR_VELOCITY_VERLET; kind <= INTEGRATOR_LANGEVIN_MIDDLE; kind++) {
            struct settings set = settings_of(kind);
            set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = WINDOWS, .lambda = lambda};
            compare(s, &set, TOLERANCE, 1e-6);
        }
        toy_system_free(s);
    }
}

static struct settings settings_of_water(enum integrator kind, int side)
{
    struct settings set = settings_of(kind);
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = side == 3 ? 0.45 : 0.7;
    set.nonbonded.vdw_switch = set.nonbonded.vdw_cutoff - 0.1;
    return set;
}

static void test_water(void **state)
{
    for (int side = 3; side <= 5; side += 2) { /* tiny or not */
        struct system *s = toy_water(side);
        for (int kind = INTEGRATOR_VELOCITY_VERLET; kind <= INTEGRATOR_LANGEVIN_MIDDLE; kind++) {
            const struct settings set = settings_of_water(kind, side);
            compare(s, &set, 1e-5, 1e-3); /* forces in single precision, and molecules that collide */
        }
        toy_system_free(s);
    }
}

/* The masses of one depend on lambda, so what SETTLE needs of waters is that of the moment. */
static void test_perturbed_water(void **state)
{
    double lambda[WINDOWS][LAMBDA_COUNT] = {0};
    for (int w = 0; w < WINDOWS; w++)
        lambda[w][LAMBDA_MASS] = (const double[]){0, 0.4, 1}[w];
    for (int side = 3; side <= 5; side += 2) { /* tiny or not */
        struct system *s = toy_water(side);
        for (int i = 3; i < 6; i++)
            s->atoms[i].mass[1] *= 2;
        for (int kind = INTEGRATOR_VELOCITY_VERLET; kind <= INTEGRATOR_LANGEVIN_MIDDLE; kind++) {
            struct settings set = settings_of_water(kind, side);
            set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = WINDOWS, .lambda = lambda};
            compare(s, &set, 1e-5, 1e-3);
        }
        toy_system_free(s);
    }
}

/* ---- lengths ---- */

static double length(const double (*x)[3], int i, int j)
{
    double r[3];
    vec_sub(x[i], x[j], r);
    return sqrt(vec_dot(r, r));
}

/* By how much of itself the fixed distance that is furthest off is wrong. */
static double worst_length(const struct system *s, const double (*x)[3])
{
    double worst = 0;
    for (int b = 0; b < s->nbonds; b++)
        worst = fmax(worst, fabs(length(x, s->bonds[b].atom[0], s->bonds[b].atom[1]) / s->bonds[b].r0[0] - 1));
    for (int w = 0; w < s->nsettles; w++)
        for (int k = 0; k < 3; k++) {
            const struct settle *held = &s->settles[w];
            const int atom[3] = {held->oxygen, held->hydrogen[0], held->hydrogen[1]};
            const double r0 = k == 1 ? held->r_hh : held->r_oh;
            worst = fmax(worst, fabs(length(x, atom[k], atom[(k + 1) % 3]) / r0 - 1));
        }
    return worst;
}

/* One step mends lengths that are off, and leaves them right to more than single precision has of a position. */
static void test_lengths(void **state)
{
    struct system *systems[] = {toy_water(5), clusters(MORE, false)};
    struct settings sets[] = {settings_of_water(INTEGRATOR_VELOCITY_VERLET, 5),
                              settings_of(INTEGRATOR_VELOCITY_VERLET)};
    for (int k = 0; k < 2; k++) {
        struct system *s = systems[k];
        struct toy t = {.dev = opened(&cuda_program)};
        struct err e = {0};
        double(*x)[3] = xcalloc((size_t)s->natoms, sizeof *x);
        for (int i = 0; i < s->natoms; i++)
            for (int d = 0; d < 3; d++)
                s->x[i][d] += 1e-5 * sin(7 * i + 2 * d);
        if (model_new(&t.model, t.dev, s, &sets[k], &e) || sim_new(&t.sim, t.model, 0, 0, &e))
            fail_msg("%s", e.msg);
        toy_run(t.sim, SIM_STEP, 1);
        if (sim_get(t.sim, x, NULL, NULL, &e))
            fail_msg("%s", e.msg);
        assert_true(worst_length(s, s->x) > 1e-5);
        near("the length that is furthest off", 0, worst_length(s, x), 2e-8);
        free(x);
        toy_close(&t);
        toy_system_free(s);
    }
}

/* Coordinates in which a hydrogen is so far from its atom that timesteps have no room for that: said at the first
 * sample. */
static void test_torn(void **state)
{
    struct system *s = clusters(MORE, false);
    const struct settings set = settings_of(INTEGRATOR_VELOCITY_VERLET);
    struct toy t = {.dev = opened(&cuda_program)};
    struct err e = {0};
    memcpy(s->x[s->bonds[0].atom[1]], s->x[s->bonds[0].atom[0]], sizeof *s->x);
    s->x[s->bonds[0].atom[1]][0] += 0.4;
    if (model_new(&t.model, t.dev, s, &set, &e) || sim_new(&t.sim, t.model, 0, 0, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(toy_try(t.sim, SIM_SAMPLE, 1, &e), -ERR_CONSTRAINT);
    toy_close(&t);
    toy_system_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clusters), cmocka_unit_test(test_perturbed_clusters),
                                       cmocka_unit_test(test_water),    cmocka_unit_test(test_perturbed_water),
                                       cmocka_unit_test(test_lengths),  cmocka_unit_test(test_torn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
