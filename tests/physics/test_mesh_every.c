/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps without the mesh between two that take its force times their number (integrator.mesh-every): held against
 * the scheme as it is defined, with reciprocal forces as slopes of the reciprocal energy.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/physics/mesh_every_play.h"

#define SLOPE 5e-5 /* nm, of differences of energies */

static double reciprocal_energy(const struct system *sys, struct sim *s, const struct mesh_state *at)
{
    double du;
    mesh_every_put(sys, s, at);
    return toy_sample(s, &du).energy[TERM_COULOMB_RECIPROCAL];
}

/* All forces, and those of the mesh as slopes of its energy. */
static void forces(const struct system *sys, struct sim *s, const struct mesh_state *at, double (*all)[3],
                   double (*mesh)[3])
{
    struct err e = {0};
    struct mesh_state near = *at;
    for (int i = 0; i < MESH_IONS; i++)
        for (int d = 0; d < 3; d++) {
            near.x[i][d] = at->x[i][d] + SLOPE;
            mesh[i][d] = -reciprocal_energy(sys, s, &near) / (2 * SLOPE);
            near.x[i][d] = at->x[i][d] - SLOPE;
            mesh[i][d] += reciprocal_energy(sys, s, &near) / (2 * SLOPE);
            near.x[i][d] = at->x[i][d];
        }
    reciprocal_energy(sys, s, at);
    if (sim_forces(s, all, &e))
        fail_msg("%s", e.msg);
}

/* v += timestep (f + times f_mesh) / m */
static void kick(const struct system *sys, struct sim *reference, struct mesh_state *at, double timestep, double times)
{
    double all[MESH_IONS][3], mesh[MESH_IONS][3];
    forces(sys, reference, at, all, mesh);
    for (int i = 0; i < MESH_IONS; i++)
        for (int d = 0; d < 3; d++)
            at->v[i][d] += timestep * (all[i][d] + times * mesh[i][d]) / sys->atoms[i].mass[0];
}

static double farthest(const double (*a)[3], const double (*b)[3])
{
    double most = 0;
    for (int i = 0; i < MESH_IONS; i++)
        for (int d = 0; d < 3; d++)
            most = fmax(most, fabs(a[i][d] - b[i][d]));
    return most;
}

/* One cycle is as defined: the force of the mesh times the number of steps at its beginning, and none of it in the
 * steps after that. */
static void test_definition(void **state)
{
    struct system *sys = mesh_every_salt();
    const struct settings plain = mesh_every_settings(1, 0.001);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    for (int every = 1; every <= MESH_MOST; every++) {
        const struct settings set = mesh_every_settings(every, 0.001);
        struct toy t = mesh_every_moving(sys, &set);
        struct mesh_state wanted, before, got;
        mesh_every_get(t.sim, &wanted);
        before = wanted;
        for (int k = 0; k < every; k++) {
            kick(sys, reference.sim, &wanted, set.integrator.timestep, k ? -1 : every - 1);
            for (int i = 0; i < MESH_IONS; i++)
                for (int d = 0; d < 3; d++)
                    wanted.x[i][d] += set.integrator.timestep * wanted.v[i][d];
        }
        toy_run(t.sim, SIM_STEP, (uint32_t)every);
        mesh_every_get(t.sim, &got);
        assert_true(farthest(got.v, before.v) > 0.005);
        assert_true(farthest(got.v, wanted.v) < toy_allowed(1e-8, 1e-5));
        assert_true(farthest(got.x, wanted.x) < toy_allowed(1e-10, 2e-8));
        toy_close(&t);
    }
    toy_close(&reference);
    toy_system_free(sys);
}

/* Cycles forth, velocities turned behind the kick that comes next, the same cycles back: a scheme whose impulses lie
 * elsewhere in the cycle does not find its way. */
static void test_reversible(void **state)
{
    const uint32_t cycles = 20;
    struct system *sys = mesh_every_salt();
    const struct settings plain = mesh_every_settings(1, 0.001);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    for (int every = 2; every <= MESH_MOST; every++) {
        const struct settings set = mesh_every_settings(every, 0.001);
        struct toy t = mesh_every_moving(sys, &set);
        struct mesh_state first, turned, last;
        mesh_every_get(t.sim, &first);
        toy_run(t.sim, SIM_STEP, cycles * (uint32_t)every);
        mesh_every_get(t.sim, &turned);
        assert_true(farthest(turned.x, first.x) > 0.01);
        kick(sys, reference.sim, &turned, set.integrator.timestep, every - 1);
        for (int i = 0; i < MESH_IONS; i++)
            for (int d = 0; d < 3; d++)
                turned.v[i][d] = -turned.v[i][d];
        mesh_every_put(sys, t.sim, &turned);
        toy_run(t.sim, SIM_STEP, cycles * (uint32_t)every);
        mesh_every_get(t.sim, &last);
        assert_true(farthest(last.x, first.x) < toy_allowed(1e-7, 1e-5));
        toy_close(&t);
    }
    toy_close(&reference);
    toy_system_free(sys);
}

/* The total energy at the time of the positions: velocities there are half a kick on, and v times the force of the
 * mesh is the slope of its energy along v. */
static double total_energy(const struct system *sys, struct sim *s, struct sim *reference, const struct settings *set)
{
    const double times = mesh_cycle(&set->integrator) - 1.0;
    struct mesh_state at, near;
    struct err e = {0};
    double du, f[MESH_ATOMS][3], power = 0;
    const struct sample now = toy_sample(s, &du);
    if (sim_forces(s, f, &e))
        fail_msg("%s", e.msg);
    mesh_every_get(s, &at);
    near = at;
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int i = 0; i < sys->natoms; i++)
            for (int d = 0; d < 3; d++)
                near.x[i][d] = at.x[i][d] + sign * SLOPE * at.v[i][d];
        power -= sign * times * reciprocal_energy(sys, reference, &near) / (2 * SLOPE);
    }
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            power += at.v[i][d] * f[i][d];
    return now.potential + now.kinetic + 0.5 * set->integrator.timestep * power;
}

/* rms of the total energy about its mean over half a picosecond, kJ/mol. */
static double energy_error(const struct system *sys, struct sim *reference, int every, double timestep)
{
    enum { SAMPLES = 20 };
    const struct settings set = mesh_every_settings(every, timestep);
    const uint32_t steps = (uint32_t)(0.5 / (SAMPLES * timestep)) / 6 * 6;
    struct toy t = mesh_every_moving(sys, &set);
    double sum = 0, square = 0, first = 0;
    for (int i = 0; i < SAMPLES; i++) {
        toy_run(t.sim, SIM_STEP, steps);
        const double energy = total_energy(sys, t.sim, reference, &set) - first;
        first = i ? first : energy;
        sum += (i ? energy : 0) / SAMPLES;
        square += (i ? energy * energy : 0) / SAMPLES;
    }
    toy_close(&t);
    return sqrt(square - sum * sum);
}

/* Without friction the energy is kept about as well as with the mesh in every step: within a factor of the length of
 * the cycle. With impulses that are not multiplied it is off by 50 times as much (salt 800), with impulses at the end
 * of a cycle by 12 times. */
static void keeps_energy(const struct system *sys, double timestep)
{
    const struct settings plain = mesh_every_settings(1, timestep);
    struct toy reference = toy_open_reference(sys, &plain, 0);
    const double usual = energy_error(sys, reference.sim, 1, timestep);
    for (int every = 2; every <= MESH_MOST && every * timestep < 0.0051; every++) {
        const double error = energy_error(sys, reference.sim, every, timestep);
        print_message("%d atoms, %g fs, mesh every %d: %.3g of %.3g kJ/mol\n", sys->natoms, 1000 * timestep, every,
                      error, usual);
        assert_true(error < every * usual);
    }
    toy_close(&reference);
}

static void test_energy_of_salt(void **state)
{
    struct system *sys = mesh_every_salt();
    keeps_energy(sys, 0.001);
    keeps_energy(sys, 0.002);
    toy_system_free(sys);
}

/* Water off its lattice, at rest. */
static struct system *water(void)
{
    struct system *sys = toy_water(MESH_SIDE);
    struct settings set = mesh_every_settings(1, 0.002);
    set.integrator.friction = 50;
    set.integrator.temperature = 300;
    toy_settle(sys, &set, 150);
    return sys;
}

static void test_energy_of_water(void **state)
{
    struct system *sys = water();
    keeps_energy(sys, 0.001);
    keeps_energy(sys, 0.002);
    toy_system_free(sys);
}

/* The mean potential energy and temperature of a friction's run, and their errors by blocks. */
struct means {
    double value[2], error[2];
};

static struct means means_of(const struct system *sys, int every)
{
    enum { BLOCKS = 20, SAMPLES = 15, STEPS = 10 };
    struct settings set = mesh_every_settings(every, 0.002);
    struct means m = {0};
    double du, square[2] = {0};
    set.integrator.friction = 10;
    struct toy t = mesh_every_moving(sys, &set);
    toy_run(t.sim, SIM_STEP, 500);
    for (int b = 0; b < BLOCKS; b++) {
        double block[2] = {0};
        for (int i = 0; i < SAMPLES; i++) {
            toy_run(t.sim, SIM_STEP, STEPS);
            const struct sample s = toy_sample(t.sim, &du);
            block[0] += s.potential / SAMPLES;
            block[1] += s.temperature / SAMPLES;
        }
        for (int k = 0; k < 2; k++) {
            m.value[k] += block[k] / BLOCKS;
            square[k] += block[k] * block[k] / BLOCKS;
        }
    }
    for (int k = 0; k < 2; k++)
        m.error[k] = sqrt((square[k] - m.value[k] * m.value[k]) / (BLOCKS - 1));
    toy_close(&t);
    return m;
}

static void test_means(void **state)
{
    struct system *sys = mesh_every_salt();
    const struct means one = means_of(sys, 1), two = means_of(sys, 2);
    for (int k = 0; k < 2; k++) {
        const double error = hypot(one.error[k], two.error[k]);
        print_message("%s: %.5g +- %.2g and %.5g +- %.2g\n", k ? "temperature" : "potential energy", one.value[k],
                      one.error[k], two.value[k], two.error[k]);
        assert_true(fabs(two.value[k] - one.value[k]) < 4 * error);
        assert_true(error < (k ? 20 : 100));
    }
    assert_true(fabs(two.value[1] - 600) < 4 * two.error[1]);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_reversible),
    };
    const struct CMUnitTest long_runs[] = {
        cmocka_unit_test(test_energy_of_salt),
        cmocka_unit_test(test_energy_of_water),
        cmocka_unit_test(test_means),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return toy_every() > 1 ? failed : failed + cmocka_run_group_tests(long_runs, NULL, NULL);
}
