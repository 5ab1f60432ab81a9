/* SPDX-License-Identifier: Apache-2.0
 *
 * What fluctuations say, of a correlated series of energies and volumes whose (co)variances are known.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "engine/estimate/rows/rows.h"

enum { ROWS = 20000, WIDTH = 3 };

static const double memory = 0.7, spread_e = 300, spread_v = 0.4, shared = 0.6, mean_v = 27, pressure = 1000,
                    t = 298.15;

/* A standard normal deviate, by Box and Muller, from numbers that a congruence draws. */
static double normal(uint64_t *state)
{
    double u[2];
    for (int i = 0; i < 2; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u[i] = ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* Times, total energies and volumes. */
static void draw(double *rows)
{
    const double fresh = sqrt(1 - memory * memory);
    uint64_t state = 7;
    double e = 0, v = 0;
    for (int i = 0; i < ROWS; i++) {
        const double first = normal(&state), second = normal(&state);
        e = memory * e + fresh * first;
        v = memory * v + fresh * (shared * first + sqrt(1 - shared * shared) * second);
        rows[WIDTH * i] = i;
        rows[WIDTH * i + 1] = -4e4 + spread_e * e;
        rows[WIDTH * i + 2] = mean_v + spread_v * v;
    }
}

static struct window_result find(const struct bath *bath)
{
    static double rows[ROWS * WIDTH];
    char *legends[] = {"Total Energy", "Volume"};
    const struct xvg x = {.legend = legends, .nlegends = 2, .nrows = ROWS, .v = rows};
    const struct ladder l = {.nstates = 1, .temperature = t, .beta = 1 / (UNIT_R * t)};
    struct window_result w = {0};
    draw(rows);
    fluctuations_find(&w, &l, bath, &x, 0);
    return w;
}

static void drop(struct window_result *w)
{
    for (int i = 0; i < w->nfluctuations; i++)
        free(w->fluctuations[i].name);
    free(w->fluctuations);
}

/* Within three of its errors, which is as large as that of so many rows must be: g of a product of two such series is
 * (1 + m^2) / (1 - m^2). relative: the standard deviation of the product over its mean. */
static void check(const struct average *a, const char *name, const char *unit, double expected, double relative)
{
    const double g = (1 + memory * memory) / (1 - memory * memory);
    assert_string_equal(a->name, name);
    assert_string_equal(a->unit, unit);
    assert_true(fabs(a->value - expected) < 3 * a->error);
    assert_true(fabs(a->error - expected * relative * sqrt(g / ROWS)) < 0.2 * a->error);
}

static void test_constant_volume(void **state)
{
    (void)state;
    struct window_result w = find(&(struct bath){.thermostat = true, .pressure = NAN});
    assert_int_equal(w.nfluctuations, 1);
    check(w.fluctuations, "Heat capacity at constant volume", "kilojoule_per_mole / kelvin",
          spread_e * spread_e / (UNIT_R * t * t), sqrt(2));
    drop(&w);
}

static void test_constant_pressure(void **state)
{
    const double rt = UNIT_R * t, p = pressure / UNIT_BAR, vv = spread_v * spread_v, ve = shared * spread_v * spread_e;
    const double vh = ve + p * vv, hh = spread_e * spread_e + 2 * p * ve + p * p * vv;
    (void)state;
    struct window_result w = find(&(struct bath){.thermostat = true, .pressure = pressure});
    assert_int_equal(w.nfluctuations, 3);
    check(w.fluctuations, "Heat capacity at constant pressure", "kilojoule_per_mole / kelvin", hh / (rt * t), sqrt(2));
    check(w.fluctuations + 1, "Isothermal compressibility", "1 / bar", vv / (rt * mean_v) / UNIT_BAR, sqrt(2));
    check(w.fluctuations + 2, "Thermal expansion", "1 / kelvin", vh / (rt * t * mean_v), sqrt(1 + hh * vv / (vh * vh)));
    drop(&w);
}

/* Where nothing holds a temperature. */
static void test_none(void **state)
{
    (void)state;
    struct window_result w = find(&(struct bath){.pressure = NAN});
    assert_int_equal(w.nfluctuations, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constant_volume), cmocka_unit_test(test_constant_pressure),
                                       cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
