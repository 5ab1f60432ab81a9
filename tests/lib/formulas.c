/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/lib/formulas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Of values and slopes, relative to themselves and to the mean over all points. Differences have this much where long
 * double is no longer than double, as in valgrind. */
#define VALUE_ROUNDING 1e-12
#define SLOPE_ROUNDING 1e-9
#define STEP 1e-5 /* of differences, of the range */

bool formula_precise(void)
{
    volatile long double one = 1;
    return one + 0x1p-60L > one;
}

double formula_spread(int k, int which)
{
    static const double irrational[] = {0.61803398874989485, 0.41421356237309505, 0.73205080756887729,
                                        0.23606797749978970, 0.64575131106459059, 0.31662479035539984};
    const double x = (k + 1) * irrational[which];
    return x - floor(x);
}

double formula_noise(int k, int element, double size)
{
    return size * (2 * formula_spread(101 * element + k, element % 6) - 1);
}

/* Of what f(-2) .. f(2) are `step` apart, to fourth order. */
static long double difference(const long double f[4], long double step)
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step);
}

static const int around[4] = {-2, -1, 1, 2};

long double formula_slope_q(definition_fn *f, const void *parameters, long double q, long double l, long double step)
{
    long double at[4];
    for (int i = 0; i < 4; i++)
        at[i] = f(parameters, q + around[i] * step, l);
    return difference(at, step);
}

long double formula_slope_l(definition_fn *f, const void *parameters, long double q, long double l, long double step)
{
    long double at[4];
    for (int i = 0; i < 4; i++)
        at[i] = f(parameters, q, l + around[i] * step);
    return difference(at, step);
}

/* A value and its two slopes. */
enum { PARTS = 3 };

/* Every tenth point is at an end of lambda. No slope along lambda is looked at there, as none goes on beyond. */
static bool at_end(int k)
{
    return k % 10 == 0;
}

/* Margins keep differences inside, and off the ends of lambda, where roots of it have no slope. */
static void point(const struct formula *f, int k, double *q, double *l)
{
    *q = f->from + (f->to - f->from) * (3 * STEP + (1 - 6 * STEP) * formula_spread(k, 0));
    *l = at_end(k) ? k % 20 / 10 : 0.01 + 0.98 * formula_spread(k, 1);
}

static void expect(const struct formula *f, int k, double out[PARTS])
{
    double q, l;
    point(f, k, &q, &l);
    out[0] = (double)f->definition(f->parameters, q, l);
    out[1] = (double)formula_slope_q(f->definition, f->parameters, q, l, STEP * (f->to - f->from));
    out[2] = at_end(k) ? 0 : (double)formula_slope_l(f->definition, f->parameters, q, l, STEP);
}

static void compare(const struct formula *f, int k, const double expected[PARTS], const double size[PARTS])
{
    static const char *const names[PARTS] = {"value", "slope along q", "slope along lambda"};
    double q, l;
    point(f, k, &q, &l);
    const struct bonded_value v = f->value(f->parameters, q, l);
    const double got[PARTS] = {v.u, v.du_dq, v.du_dl};
    for (int i = 0; i < (at_end(k) ? PARTS - 1 : PARTS); i++) {
        const double tolerance = fmax(f->tolerance, i ? SLOPE_ROUNDING : VALUE_ROUNDING);
        if (!(fabs(got[i] - expected[i]) <= tolerance * (fabs(expected[i]) + size[i])))
            fail_msg("%s at q = %.9g, lambda = %.9g: %s %.15g, expected %.15g", f->name, q, l, names[i], got[i],
                     expected[i]);
    }
}

void formula_check(const struct formula *f)
{
    double expected[FORMULA_POINTS][PARTS], size[PARTS] = {0, 0, 0};
    for (int k = 0; k < FORMULA_POINTS; k++) {
        expect(f, k, expected[k]);
        for (int i = 0; i < PARTS; i++)
            size[i] += fabs(expected[k][i]) / FORMULA_POINTS;
    }
    for (int k = 0; k < FORMULA_POINTS; k++)
        compare(f, k, expected[k], size);
}
