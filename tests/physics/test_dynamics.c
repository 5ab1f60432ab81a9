/* SPDX-License-Identifier: Apache-2.0
 *
 * Integrators on systems whose answer is known.
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
#include "tests/lib/toy.h"

/* n atoms, each held by springs to its own place. */
static struct system *oscillators(int n, double k, double mass)
{
    struct system *s = toy_system(n, 20);
    for (int i = 0; i < n; i++) {
        s->atoms[i].mass[0] = s->atoms[i].mass[1] = mass;
        for (int d = 0; d < 3; d++)
            s->x[i][d] = 1 + 0.7 * ((i * (d + 3) * 7919) % 25);
        struct position_restraint r = {.atom = i, .k = {{k, k, k}, {k, k, k}}};
        memcpy(r.x0, s->x[i], sizeof r.x0);
        toy_add(s, position_restraints, nposition_restraints, r);
    }
    return s;
}

/* Langevin-middle samples positions of a harmonic oscillator exactly, and its velocities after the step (Zhang et al.
 * 2019, section II): <x^2> = kT/k and <v^2> = kT/m at any timestep. */
static void test_langevin_oscillators(void **state)
{
    const int n = 400, samples = 60;
    const double k = 5000, mass = 12;
    struct system *sys = oscillators(n, k, mass);
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.02; /* 0.4 radians */
    set.integrator.friction = 10;
    struct toy t = toy_open(sys, &set, 0);
    double kt = UNIT_R * set.integrator.temperature, x2 = 0, v2 = 0, kinetic = 0, du;
    double(*x)[3] = xcalloc((size_t)n, sizeof *x), (*v)[3] = xcalloc((size_t)n, sizeof *v);
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, 100);
    for (int i = 0; i < samples; i++) {
        toy_run(t.sim, SIM_STEP, 40);
        kinetic += toy_sample(t.sim, &du).kinetic / (1.5 * n * kt);
        assert_int_equal(sim_get(t.sim, x, v, NULL, &e), 0);
        for (int a = 0; a < n; a++)
            for (int d = 0; d < 3; d++) {
                double off = x[a][d] - sys->position_restraints[a].x0[d];
                x2 += off * off;
                v2 += v[a][d] * v[a][d];
            }
    }
    double count = 3.0 * n * samples, sigma = sqrt(2 / count) * 1.2; /* 1.2: samples are a little correlated */
    assert_true(fabs(x2 * k / kt / count - 1) < 4 * sigma);
    assert_true(fabs(v2 * mass / kt / count - 1) < 4 * sigma);
    assert_true(fabs(kinetic / samples - 1) < 4 * sigma);
    free(x);
    free(v);
    toy_close(&t);
    toy_system_free(sys);
}

static double total_energy(struct sim *s)
{
    double du;
    struct sample a = toy_sample(s, &du);
    return a.potential + a.kinetic;
}

/* Velocity Verlet conserves a shadow energy: the true one stays within (omega dt)^2/8 of itself. */
static void test_verlet_oscillators(void **state)
{
    struct system *sys = oscillators(50, 5000, 12);
    struct settings set = toy_settings();
    set.integrator.timestep = 0.002; /* 0.04 radians */
    struct toy t = toy_open(sys, &set, 0);
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    double first = total_energy(t.sim);
    for (int i = 0; i < 20; i++) {
        toy_run(t.sim, SIM_STEP, 500);
        assert_true(fabs(total_energy(t.sim) / first - 1) < 5e-4);
    }
    toy_close(&t);
    toy_system_free(sys);
}

static double momentum(struct sim *s, const struct system *sys)
{
    double(*v)[3] = xcalloc((size_t)sys->natoms, sizeof *v), p[3] = {0};
    struct err e = {0};
    assert_int_equal(sim_get(s, NULL, v, NULL, &e), 0);
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            p[d] += sys->atoms[i].mass[0] * v[i][d];
    free(v);
    return fabs(p[0]) + fabs(p[1]) + fabs(p[2]);
}

/* Center-of-mass motion goes at its interval and only then; its three degrees of freedom are not counted. */
static void test_com(void **state)
{
    struct system *sys = toy_system(7, 5);
    sys->atoms[3].mass[0] = 40;
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.com_every = 4;
    for (int i = 0; i < 7; i++)
        sys->x[i][0] = 0.7 * i;
    struct toy t = toy_open(sys, &set, 0);
    struct err e = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    assert_true(momentum(t.sim, sys) < 1e-12);
    for (int step = 1; step <= 12; step++) {
        toy_run(t.sim, SIM_STEP, 1);
        assert_true((momentum(t.sim, sys) < 1e-12) == (step % 4 == 0));
    }
    double du;
    struct sample a = toy_sample(t.sim, &du);
    assert_true(fabs(a.temperature - 2 * a.kinetic / (UNIT_R * 18)) < 1e-9);
    toy_close(&t);
    toy_system_free(sys);
}

/* Between removals friction and noise bring the motion of the center of mass back: of two atoms that is half of all
 * there is, and the temperature is right all the same. */
static void test_temperature_between_removals(void **state)
{
    const int samples = 3000;
    struct system *sys = toy_system(2, 5);
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.002;
    set.integrator.friction = 10;
    set.integrator.com_every = 50;
    sys->x[0][0] = 0.7;
    struct toy t = toy_open(sys, &set, 0);
    struct err e = {0};
    double du, early = 0, late = 0;
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    for (int i = 0; i < samples; i++) {
        toy_run(t.sim, SIM_STEP, 20);
        early += toy_sample(t.sim, &du).temperature / samples;
        toy_run(t.sim, SIM_STEP, 30);
        late += toy_sample(t.sim, &du).temperature / samples;
    }
    double sigma = sqrt(2 / (3.0 * samples)) * 1.5; /* 1.5: samples are correlated over 0.05 ps */
    assert_true(fabs(early / set.integrator.temperature - 1) < 4 * sigma);
    assert_true(fabs(late / set.integrator.temperature - 1) < 4 * sigma);
    toy_close(&t);
    toy_system_free(sys);
}

/* Where springs hold atoms in space, at whatever lambda, the center of mass moves as it does and counts among the
 * degrees of freedom. */
static void test_held_com(void **state)
{
    double ladder[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_BONDED] = 1}}, du[2];
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.com_every = 4;
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = 2, .lambda = ladder};
    struct system *sys = oscillators(7, 1000, 12);
    for (int i = 0; i < 7; i++)
        memset(sys->position_restraints[i].k[0], 0, sizeof sys->position_restraints[i].k[0]);
    for (int window = 0; window < 2; window++) {
        struct toy t = toy_open(sys, &set, window);
        struct err e = {0};
        assert_int_equal(sim_thermalize(t.sim, &e), 0);
        assert_true(momentum(t.sim, sys) > 1);
        toy_run(t.sim, SIM_STEP, 8);
        assert_true(momentum(t.sim, sys) > 1);
        struct sample a = toy_sample(t.sim, du);
        assert_true(fabs(a.temperature - 2 * a.kinetic / (UNIT_R * 21)) < 1e-9);
        toy_close(&t);
    }
    toy_system_free(sys);
}

/* The pressure of an ideal gas is N kT/V though the motion of the center of mass is taken out; of one atom, all of
 * whose motion that is, without noise. Without a thermostat it has the temperature of the other motion. */
static void test_pressure_of_all_motion(void **state)
{
    const double volume = 125;
    for (int n = 1; n <= 5; n += 4) {
        const int samples = n == 1 ? 3 : 3000;
        struct system *sys = toy_system(n, 5);
        struct settings set = toy_settings();
        const double kt = UNIT_R * set.integrator.temperature;
        set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
        set.integrator.timestep = 0.002;
        set.integrator.friction = 10;
        set.integrator.com_every = 50;
        for (int i = 0; i < n; i++)
            sys->x[i][0] = 0.9 * i;
        struct toy t = toy_open(sys, &set, 0);
        struct err e = {0};
        double du, pressure = 0;
        assert_int_equal(sim_thermalize(t.sim, &e), 0);
        for (int i = 0; i < samples; i++) {
            toy_run(t.sim, SIM_STEP, n == 1 ? 50 : 25);
            pressure += toy_sample(t.sim, &du).pressure / samples;
        }
        const double relative = pressure * volume / (n * kt * UNIT_BAR) - 1;
        assert_true(fabs(relative) < (n == 1 ? 1e-9 : 4 * 1.5 * sqrt(2.0 / (3 * n * samples))));
        toy_close(&t);
        set.integrator.kind = INTEGRATOR_VELOCITY_VERLET;
        t = toy_open(sys, &set, 0);
        assert_int_equal(sim_thermalize(t.sim, &e), 0);
        toy_run(t.sim, SIM_STEP, 10);
        struct sample a = toy_sample(t.sim, &du);
        assert_true(fabs(a.pressure - n * UNIT_R * a.temperature / volume * UNIT_BAR) < 1e-9 * (1 + a.pressure));
        toy_close(&t);
        toy_system_free(sys);
    }
}

/* Masses between A and B: motion follows the interpolated mass; dH/dlambda and the windows' energies are without the
 * kinetic part. */
static void test_mass_lambda(void **state)
{
    double ladder[3][LAMBDA_COUNT] = {{[LAMBDA_MASS] = 0}, {[LAMBDA_MASS] = 0.5}, {[LAMBDA_MASS] = 1}}, du[3];
    struct settings set = toy_settings();
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = 3, .lambda = ladder};
    struct system *sys = oscillators(1, 1000, 40);
    sys->atoms[0].mass[1] = 20;
    sys->v = xcalloc(1, sizeof *sys->v);
    sys->v[0][1] = 2;
    struct toy t = toy_open(sys, &set, 1); /* 30 u: p = 60, K = 60 */
    struct sample a = toy_sample(t.sim, du);
    assert_true(fabs(a.kinetic - 60) < 1e-9);
    assert_true(a.dvdl[LAMBDA_MASS] == 0 && du[0] == 0 && du[1] == 0 && du[2] == 0);
    toy_run(t.sim, SIM_STEP, 100); /* 0.1 ps of an oscillator of 30 u */
    double x[1][3], omega = sqrt(1000 / 30.0);
    struct err e = {0};
    assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
    assert_true(fabs(x[0][1] - sys->x[0][1] - 2 / omega * sin(omega * 0.1)) < 1e-5);
    toy_close(&t);
    toy_system_free(sys);
}

/* A pair with one constraint moves with its masses of lambda, atoms of two constraints with those of A. */
static void test_mass_of_constraints(void **state)
{
    double ladder[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_MASS] = 1}}, du[2];
    struct settings set = toy_settings();
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_B_STATES, .nwindows = 2, .lambda = ladder};
    for (int n = 2; n <= 3; n++) {
        struct system *sys = oscillators(n, 0, 10);
        sys->v = xcalloc((size_t)n, sizeof *sys->v);
        for (int i = 0; i < n; i++) {
            sys->atoms[i].mass[1] = 20;
            sys->v[i][0] = 1;
            for (int d = 0; d < 3; d++)
                sys->x[i][d] = 1 + (d == i % 2 && i > 0 ? 0.1 : 0);
            if (i > 0)
                toy_add(sys, constraints, nconstraints, (struct constraint){{0, i}, {0.1, 0.1}, true});
        }
        struct toy t = toy_open(sys, &set, 1);
        assert_true(fabs(toy_sample(t.sim, du).kinetic - 0.5 * n * (n == 2 ? 20 : 10)) < 1e-9);
        toy_close(&t);
        toy_system_free(sys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_langevin_oscillators),
        cmocka_unit_test(test_verlet_oscillators),
        cmocka_unit_test(test_com),
        cmocka_unit_test(test_temperature_between_removals),
        cmocka_unit_test(test_held_com),
        cmocka_unit_test(test_pressure_of_all_motion),
        cmocka_unit_test(test_mass_lambda),
        cmocka_unit_test(test_mass_of_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
