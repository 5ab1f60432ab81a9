/* SPDX-License-Identifier: Apache-2.0
 *
 * Rigid water with all its forces: out of a clash, and short runs that conserve energy and go back the way they came.
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
#include "engine/math/vec.h"
#include "tests/lib/toy.h"

static struct settings water_settings(void)
{
    struct settings set = toy_settings();
    set.integrator.timestep = 0.001;
    return set;
}

/* Water that was brought to 300 K on its way down from a lattice: x and v become the system's. */
static struct system *warm;

static int warm_water(void **state)
{
    struct system *s = toy_water(6);
    struct settings set = water_settings();
    struct err e = {0};
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.friction = 10;
    struct toy t = toy_open(s, &set, 0);
    toy_relax(t.sim, 1000, 60);
    toy_run(t.sim, SIM_STEP, 400);
    s->v = xcalloc((size_t)s->natoms, sizeof *s->v);
    assert_int_equal(sim_get(t.sim, s->x, s->v, NULL, &e), 0);
    toy_close(&t);
    warm = s;
    return 0;
}

static int tear_down(void **state)
{
    toy_system_free(warm);
    return 0;
}

/* Two waters on top of each other, oxygens 0.01 nm apart: clamped forces are enough to part them, and dynamics runs. */
static void test_clash(void **state)
{
    struct system *s = toy_water(6);
    const double shift[3] = {s->x[0][0] + 0.01 - s->x[3][0], s->x[0][1] - s->x[3][1], s->x[0][2] - s->x[3][2]};
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            s->x[3 + k][d] += shift[d];
    struct settings set = water_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    struct toy t = toy_open(s, &set, 0);
    struct err e = {0};
    double force, u, before = INFINITY, du;
    sim_minimize_setup(t.sim, 500);
    for (int i = 0; i < 40; i++) {
        toy_run(t.sim, SIM_MINIMIZE, 10);
        bool over = sim_minimized(t.sim, &force, &u);
        assert_true(isfinite(u) && u <= before);
        before = u;
        if (over)
            break;
    }
    assert_true(u < -5000 && force < 5000);
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, 200);
    assert_true(toy_sample(t.sim, &du).potential < 0);
    toy_close(&t);
    toy_system_free(s);
}

/* Minimization stops by itself: forces below the tolerance, and later steps change nothing. */
static void test_converges(void **state)
{
    struct system *s = toy_system(2, 3);
    s->x[0][0] = 1;
    s->x[1][0] = 1.3;
    toy_add(s, bonds, nbonds, (struct bond){{0, 1}, {0.2, 0.2}, {1e5, 1e5}});
    struct settings set = water_settings();
    struct toy t = toy_open(s, &set, 0);
    double force, u, x[2][3], y[2][3];
    struct err e = {0};
    sim_minimize_setup(t.sim, 1);
    toy_run(t.sim, SIM_MINIMIZE, 100);
    assert_true(sim_minimized(t.sim, &force, &u));
    assert_true(force < 1 && u < 1e-5);
    assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
    toy_run(t.sim, SIM_MINIMIZE, 10);
    assert_int_equal(sim_get(t.sim, y, NULL, NULL, &e), 0);
    assert_memory_equal(x, y, sizeof x);
    toy_close(&t);
    toy_system_free(s);
}

/* Kinetic energy of molecules as a whole; and *virial: -1/2 sum (r - R) f, R the molecule's center of mass: kJ/mol. */
static double whole_molecules(const struct system *s, const double (*x)[3], const double (*v)[3], const double (*f)[3],
                              double *virial)
{
    double kinetic = 0;
    *virial = 0;
    for (int o = 0; o < s->natoms; o += 3) {
        double center[3] = {0}, momentum[3] = {0}, mass = 0;
        for (int i = o; i < o + 3; i++) {
            mass += s->atoms[i].mass[0];
            vec_add(center, s->atoms[i].mass[0], x[i]);
            vec_add(momentum, s->atoms[i].mass[0], v[i]);
        }
        kinetic += vec_dot(momentum, momentum) / (2 * mass);
        for (int i = o; i < o + 3; i++)
            for (int d = 0; d < 3; d++)
                *virial -= 0.5 * (x[i][d] - center[d] / mass) * f[i][d];
    }
    return kinetic;
}

/* A rigid molecule's inner virial and kinetic energy cancel, so that the pressure of atoms is that of molecules: with
 * constraint forces which are those at the time of x, also after timesteps of 4 fs. */
static void test_constraint_forces(void **state)
{
    struct settings set = water_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.004;
    set.integrator.friction = 1;
    struct toy t = toy_open(warm, &set, 0);
    const size_t n = (size_t)warm->natoms;
    double(*x)[3] = xcalloc(3 * n, sizeof *x), (*v)[3] = x + n, (*f)[3] = v + n, du, virial, turning = 0, off = 0;
    struct err e = {0};
    for (int i = 0; i < 10; i++) {
        toy_run(t.sim, SIM_STEP, 10);
        const struct sample s = toy_sample(t.sim, &du);
        assert_int_equal(sim_get(t.sim, x, v, NULL, &e), 0);
        assert_int_equal(sim_forces(t.sim, f, &e), 0);
        turning += s.kinetic;
        turning -= whole_molecules(warm, (const double(*)[3])x, (const double(*)[3])v, (const double(*)[3])f, &virial);
        off -= virial + s.constraint_virial[0] + s.constraint_virial[4] + s.constraint_virial[8];
    }
    off += turning;
    print_message("off by %.5f of the kinetic energy of turning\n", off / turning);
    assert_true(fabs(off) < 0.002 * turning);
    free(x);
    toy_close(&t);
}

static void test_energy(void **state)
{
    struct settings set = water_settings();
    struct toy t = toy_open(warm, &set, 0);
    double du, first = 0, mean = 0, late = 0;
    for (int i = 0; i < 40; i++) {
        struct sample a = toy_sample(t.sim, &du);
        double total = a.potential + a.kinetic;
        first = i ? first : total;
        *(i < 20 ? &mean : &late) += total / 20;
        assert_true(fabs(total - first) < 0.01 * a.kinetic);
        toy_run(t.sim, SIM_STEP, 25);
    }
    /* 0.5 ps between the means of the halves */
    assert_true(fabs(late - mean) < 2e-3 * 6 * 216 * 0.5 * UNIT_R * 300);
    toy_close(&t);
}

/* 100 steps forth, velocities turned, 100 steps back. The last test: it moves the warm water. */
static void test_reversible(void **state)
{
    struct system *s = warm;
    struct settings set = water_settings();
    size_t n = (size_t)s->natoms;
    double(*x0)[3] = xcalloc(n, sizeof *x0), (*x)[3] = xcalloc(n, sizeof *x), worst = 0, moved = 0;
    struct err e = {0};
    struct toy t = toy_open(s, &set, 0);
    assert_int_equal(sim_get(t.sim, x0, NULL, NULL, &e), 0);
    toy_run(t.sim, SIM_STEP, 100);
    assert_int_equal(sim_get(t.sim, s->x, s->v, NULL, &e), 0);
    toy_close(&t);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            s->v[i][d] = -s->v[i][d];
    t = toy_open(s, &set, 0);
    toy_run(t.sim, SIM_STEP, 100);
    assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            worst = fmax(worst, fabs(x[i][d] - x0[i][d]));
            moved = fmax(moved, fabs(s->x[i][d] - x0[i][d]));
        }
    assert_true(moved > 0.05);
    assert_true(worst < 1e-8);
    toy_close(&t);
    free(x0);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clash),  cmocka_unit_test(test_converges),  cmocka_unit_test(test_constraint_forces),
        cmocka_unit_test(test_energy), cmocka_unit_test(test_reversible),
    };
    return cmocka_run_group_tests(tests, warm_water, tear_down);
}
