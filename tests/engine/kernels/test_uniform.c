/* SPDX-License-Identifier: Apache-2.0
 *
 * Energies that depend on no distance, against long double: also their slopes along lambda and, for the virial, along
 * the volume. The friction and noise of a timestep, which leave the distribution of velocities as it is.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/kernels/motion.h" /* cmocka.h makes a macro of a name in it */

#include <cmocka.h>

#include "engine/kernels/uniform.h"
#include "tests/lib/formulas.h"
#include "tests/lib/near.h"

/* Sums are in units of 2^-32. */
#define RESOLUTION 1e-9

static const struct uniform_table table = {
    .self = {-5, 3, 2}, .net = {2, -3}, .beta = 3.1, .dispersion = {{{-900, 0.5}, {-700, 0.25}}, {400, 300}}};

/* Each of these is a function of the volume and of one lambda. */
static long double coulomb(const void *of, long double volume, long double l)
{
    const long double q = table.net[0] + l * table.net[1], pi = acosl(-1);
    return table.self[0] + l * table.self[1] + l * l * table.self[2] -
           pi * UNIT_COULOMB * q * q / (2 * table.beta * table.beta * volume);
}

static long double dispersion(const void *of, long double volume, long double l)
{
    const double(*e)[2] = table.dispersion.energy;
    return (1 - l) * (e[0][0] / volume + e[0][1]) + l * (e[1][0] / volume + e[1][1]);
}

static struct bonded_value coulomb_at(const void *of, double volume, double l)
{
    const double lambda[LAMBDA_COUNT] = {[LAMBDA_COULOMB] = l, [LAMBDA_VDW] = 0.3};
    const struct uniform_energies u = uniform_at(&table, lambda, volume);
    return (struct bonded_value){u.self + u.background, -u.background / volume, u.coulomb_slope};
}

static struct bonded_value dispersion_at(const void *of, double volume, double l)
{
    const double lambda[LAMBDA_COUNT] = {[LAMBDA_COULOMB] = 0.3, [LAMBDA_VDW] = l};
    const struct uniform_energies u = uniform_at(&table, lambda, volume);
    const double(*e)[2] = table.dispersion.energy;
    return (struct bonded_value){u.dispersion, -((1 - l) * e[0][0] + l * e[1][0]) / volume / volume, u.vdw_slope};
}

static void test_energies(void **state)
{
    formula_check(&(struct formula){"self energy and background", 8, 200, NULL, coulomb_at, coulomb, 0});
    formula_check(&(struct formula){"dispersion correction", 8, 200, NULL, dispersion_at, dispersion, 0});
}

/* What uniform_add adds; the background's pressure is -dE/dV, P V = -2 Xi of one dimension. */
static void test_sums(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double l = formula_spread(k, 0), lv = formula_spread(k, 1), edge = 2 + 4 * formula_spread(k, 2);
        struct ctl c = {.box = {edge, edge, edge}, .lambda = {[LAMBDA_COULOMB] = l, [LAMBDA_VDW] = lv}};
        struct fixed_sum window = {0, 0};
        const double volume = box_volume(c.box);
        uniform_add(&table, &c);
        uniform_at_window(&table, &c, c.lambda, &window);
        near(fixed_total(c.sum.energy[TERM_COULOMB]), table.self[0] + l * table.self[1] + l * l * table.self[2],
             RESOLUTION);
        near(fixed_total(c.sum.energy[TERM_COULOMB]) + fixed_total(c.sum.energy[TERM_COULOMB_RECIPROCAL]),
             (double)coulomb(NULL, volume, l), RESOLUTION);
        near(fixed_total(c.sum.energy[TERM_DISPERSION_CORRECTION]), (double)dispersion(NULL, volume, lv), RESOLUTION);
        near(ctl_potential(&c), fixed_total(window), RESOLUTION);
        near(fixed_total(c.sum.dvdl[LAMBDA_COULOMB]), (double)formula_slope_l(coulomb, NULL, volume, l, 1e-4L), 1e-8);
        near(fixed_total(c.sum.dvdl[LAMBDA_VDW]), (double)formula_slope_l(dispersion, NULL, volume, lv, 1e-4L), 1e-8);
        const double pressure = -(double)formula_slope_q(coulomb, NULL, volume, l, 1e-3L);
        for (int i = 0; i < 9; i++)
            near(fixed_total(c.sum.virial[i]), i % 4 ? 0 : -0.5 * pressure * volume, 1e-7);
        const double virial = (1 - lv) * table.dispersion.virial[0] + lv * table.dispersion.virial[1];
        near(c.pressure_correction, -2 * virial / volume / volume * UNIT_BAR, 1e-9);
    }
}

/* Without noise velocities decay. With it a variance of kT/m stays. An atom moves by the mean of both velocities. */
static void test_langevin(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double dt = 0.004 * formula_spread(k, 0), friction = 10 * formula_spread(k, 1), kt = 2.5, mass = 12;
        const struct motion_rule r = motion_rule_of(dt, friction, kt);
        const double quiet[3] = {0, 0, 0}, one[3] = {1, -1, 0.5};
        double x[3] = {1, 2, 3}, v[3] = {3, -2, 1}, still[3] = {0, 0, 0}, here[3] = {0, 0, 0};
        motion_langevin(&r, mass, quiet, x, v);
        near(v[0], (double)(3 * expl(-(long double)friction * dt)), 1e-15);
        near(x[1], 2 + dt * (-2 + v[1]) / 2, 1e-15);
        motion_langevin(&r, mass, one, here, still);
        near(still[0] * still[0] + kt / mass * r.keep * r.keep, kt / mass, 1e-15);
        near(still[2], 0.5 * still[0], 1e-15);
        near(here[1], dt * still[1] / 2, 1e-15);
    }
}

/* The second half of the kick, and a whole drift with the velocity that it leaves. */
static void test_verlet(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double dt = 0.004 * formula_spread(k, 0), mass = 1 + 20 * formula_spread(k, 1);
        const double force[3] = {1000, -500, 0};
        double x[3] = {1, 2, 3}, v[3] = {3, -2, 1};
        int64_t f[3];
        for (int d = 0; d < 3; d++)
            f[d] = (int64_t)(force[d] * FIXED_SCALE);
        motion_verlet(dt, mass, f, x, v);
        for (int d = 0; d < 3; d++) {
            const long double after =
                (long double[]){3, -2, 1}[d] + (long double)force[d] * dt / (2 * (long double)mass);
            near(v[d], (double)after, 1e-14);
            near(x[d], (double)((long double)(d + 1) + dt * after), 1e-14);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energies),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_langevin),
        cmocka_unit_test(test_verlet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
