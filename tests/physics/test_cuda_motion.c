/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps of the CUDA program, run on the CPU (tests/lib/emulate), go where those of the CPU device go: rigid waters, atoms
 * with none to four others at fixed distances, and a cluster that is none of these.
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

#include "engine/run/program.h"
#include "tests/lib/toy.h"

/* Clusters of 1 to 5 atoms in 4 arms and less, one ring of three; each atom held by a spring. */
static struct system *clusters(int copies)
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
            strcpy(s->atoms[i].name, heavy ? "C" : "H");
            for (int d = 0; d < 3; d++)
                s->x[i][d] = 0.5 + 0.4 * (d == 0 ? m % 12 : d == 1 ? m / 12 : 3) + (heavy ? 0 : arm[next][d]);
            next += !heavy;
            struct position_restraint r = {
                i, {s->x[i][0] + 0.02, s->x[i][1], s->x[i][2] - 0.01}, {{900, 700, 800}, {0}}};
            toy_add(s, position_restraints, nposition_restraints, r);
            if (!heavy)
                toy_add(s, bonds, nbonds, (struct bond){{center, i}, {0.105, 0.105}, {2e5, 2e5}});
            if (kind == 5 && !heavy && next == 2)
                toy_add(s, bonds, nbonds, (struct bond){{i - 1, i}, {0.17, 0.17}, {2e5, 2e5}});
        }
        at += count;
    }
    return s;
}

static void after_steps(struct dev *dev, const struct system *sys, const struct settings *set, double (*x)[3],
                        double (*v)[3])
{
    struct toy t = {.dev = dev};
    struct err e = {0};
    if (model_new(&t.model, t.dev, sys, set, &e) || sim_new(&t.sim, t.model, 0, 0, &e) || sim_thermalize(t.sim, &e))
        fail_msg("%s", e.msg);
    toy_run(t.sim, SIM_STEP, 15);
    if (sim_get(t.sim, x, v, NULL, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
}

static struct dev *opened(const struct program *program)
{
    struct dev *dev;
    struct err e = {0};
    if (dev_open(&dev, "cpu:1", *program->kernels, &e))
        fail_msg("%s", e.msg);
    return dev;
}

/* tolerance: nm, and nm/ps after division by a picosecond's hundredth */
static void compare(const struct system *sys, const struct settings *set, double tolerance)
{
    size_t n = (size_t)sys->natoms;
    double(*x)[3] = xcalloc(4 * n, sizeof *x), (*v)[3] = x + n, (*cuda_x)[3] = x + 2 * n, (*cuda_v)[3] = x + 3 * n;
    double moved = 0;
    after_steps(opened(&cpu_program), sys, set, x, v);
    after_steps(opened(&cuda_program), sys, set, cuda_x, cuda_v);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            moved = fmax(moved, fabs(x[i][d] - sys->x[i][d]));
            if (!(fabs(x[i][d] - cuda_x[i][d]) < tolerance && fabs(v[i][d] - cuda_v[i][d]) < 100 * tolerance))
                fail_msg("atom %zu: x %.12g v %.12g on the CPU device, %.12g and %.12g by the CUDA program", i, x[i][d],
                         v[i][d], cuda_x[i][d], cuda_v[i][d]);
        }
    assert_true(moved > 0.01);
    free(x);
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
    for (int copies = 5; copies <= 9; copies += 4) { /* tiny or not */
        struct system *s = clusters(copies);
        for (int kind = INTEGRATOR_VELOCITY_VERLET; kind <= INTEGRATOR_LANGEVIN_MIDDLE; kind++) {
            struct settings set = settings_of(kind);
            compare(s, &set, 1e-9);
        }
        toy_system_free(s);
    }
}

static void test_water(void **state)
{
    for (int side = 3; side <= 5; side += 2) { /* tiny or not */
        struct system *s = toy_water(side);
        for (int kind = INTEGRATOR_VELOCITY_VERLET; kind <= INTEGRATOR_LANGEVIN_MIDDLE; kind++) {
            struct settings set = settings_of(kind);
            set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = side == 3 ? 0.45 : 0.7;
            set.nonbonded.vdw_switch = set.nonbonded.vdw_cutoff - 0.1;
            compare(s, &set, 1e-5); /* forces in single precision, and molecules that collide */
        }
        toy_system_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clusters), cmocka_unit_test(test_water)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
