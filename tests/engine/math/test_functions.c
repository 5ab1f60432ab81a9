/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of one number: coordinations, B-splines, form factors, roots, logarithms, waves.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/math/philox.h"
#include "engine/math/potentials/coordination.h"
#include "engine/math/scattering.h"
#include "engine/math/spline.h"
#include "engine/prepare/ewald.h"
#include "tests/lib/formulas.h"
#include "tests/lib/near.h"

#define TURN 6.283185307179586476925286766559L

/* ---- coordinations: the parameters of PLUMED's input ---- */

struct input {
    struct rational f; /* as the engine has it */
    double r0, d0, d_max;
    int n, m, stretch;
};

static struct bonded_value coordination(const void *of, double r, double l)
{
    const struct rational_value v = rational_at(&((const struct input *)of)->f, r);
    return (struct bonded_value){v.s, v.ds_dr, 0};
}

static long double plain(const struct input *in, long double r)
{
    const long double x = (r - in->d0) / in->r0;
    return x > 0 ? (1 - powl(x, in->n)) / (1 - powl(x, in->m ? in->m : 2 * in->n)) : 1;
}

static long double coordination_definition(const void *of, long double r, long double l)
{
    const struct input *in = of;
    if (!in->stretch)
        return plain(in, r);
    const long double last = plain(in, in->d_max);
    return (plain(in, r) - last) / (plain(in, 0) - last);
}

static void test_coordination(void **state)
{
    static const struct input inputs[] = {{.r0 = 0.3, .d_max = 1.2, .n = 6, .m = 12},
                                          {.r0 = 0.3, .d_max = 1.2, .n = 6, .d0 = 0.1, .stretch = 1},
                                          {.r0 = 0.25, .d_max = 1.5, .n = 6, .m = 10, .stretch = 1},
                                          {.r0 = 0.4, .d_max = 0.9, .n = 1, .m = 3},
                                          {.r0 = 0.4, .d_max = 0.9, .n = 8, .m = 20, .d0 = 0.2, .stretch = 1}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct input in = inputs[i];
        in.f = rational_make(in.r0, in.d0, (uint32_t)in.n, (uint32_t)in.m, in.d_max, in.stretch);
        formula_check(&(struct formula){"coordination", 0, in.d_max, &in, coordination, coordination_definition, 0});
        near(in.f.farthest2, in.d_max * in.d_max, 0);
    }
    /* without a SWITCH, 1e-5 is left where x is (1e-5)^(1/(n - m)) */
    near(rational_short_form(0.3, 0.1, 6, 0), 0.1 + 0.3 * pow(10, 5.0 / 6), 1e-15);
    near(rational_short_form(0.3, 0, 6, 10), 0.3 * pow(10, 5.0 / 4), 1e-15);
}

/* ---- B-splines ---- */

/* The cardinal B-spline of an order, as a sum of truncated powers; it is symmetric, and its first half has the shorter
 * sum. */
static long double spline(int order, long double u)
{
    long double sum = 0, ways = 1, factorial = 1;
    u = fminl(u, order - u);
    for (int k = 1; k < order; k++)
        factorial *= k;
    for (int k = 0; k <= order && u > k; k++) {
        sum += (k % 2 ? -ways : ways) * powl(u - k, order - 1);
        ways = ways * (order - k) / (k + 1);
    }
    return sum / factorial;
}

static void test_splines(void **state)
{
    for (int order = 2; order <= SPLINE_ORDER_MAX; order++)
        for (int k = 0; k < FORMULA_POINTS; k++) {
            const double t = k ? formula_spread(k, 0) : 0;
            double w[SPLINE_ORDER_MAX], sum = 0;
            spline_weights(order, t, w);
            for (int i = 0; i < order; i++) {
                near(w[order - 1 - i], (double)spline(order, t + i), 1e-12);
                sum += w[i];
            }
            near(sum, 1, 1e-14);
        }
}

/* The slope of order n is M_{n-1}(u) - M_{n-1}(u - 1); the weights are those without slopes, to the bit. */
static void test_spline_slopes(void **state)
{
    for (int order = 3; order <= SPLINE_ORDER_MAX; order++)
        for (int k = 0; k < FORMULA_POINTS; k++) {
            const double t = k ? formula_spread(k, 0) : 0;
            double w[SPLINE_ORDER_MAX], alone[SPLINE_ORDER_MAX], slope[SPLINE_ORDER_MAX];
            spline_weights_and_slopes(order, t, w, slope);
            spline_weights(order, t, alone);
            for (int i = 0; i < order; i++) {
                const double u = t + i;
                assert_true(w[i] == alone[i]);
                near(slope[order - 1 - i], (double)(spline(order - 1, u) - spline(order - 1, (long double)u - 1)),
                     1e-12);
            }
        }
}

/* The modulus is |sum of M(k + 1) exp(2 pi i m k / size)|^2; where that vanishes, the mean of its neighbours. */
static long double modulus(int size, int order, int m)
{
    long double re = 0, im = 0;
    for (int k = 0; k < order - 1; k++) {
        re += spline(order, k + 1) * cosl(TURN * m * k / size);
        im += spline(order, k + 1) * sinl(TURN * m * k / size);
    }
    return re * re + im * im;
}

static void test_modulus(void **state)
{
    enum { SIZE = FORMULA_POINTS };
    double out[SIZE];
    for (int order = 4; order <= 6; order++) {
        mesh_modulus(out, SIZE, order);
        for (int m = 0; m < SIZE; m++) {
            const bool gone = order % 2 && m == SIZE / 2;
            const long double beside = (modulus(SIZE, order, m - 1) + modulus(SIZE, order, m + 1)) / 2;
            near(out[m], (double)(gone ? beside : modulus(SIZE, order, m)), 1e-13);
        }
    }
}

/* ---- scattering ---- */

static void test_scattering(void **state)
{
    const struct form_factor f = {{3.0, 2.3, 1.5, 0.9}, {0.13, 0.06, 0.004, 0.3}, 0.25};
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double q = 60 * formula_spread(k, 0), part = 0.01 + 0.99 * formula_spread(k, 1);
        const int m = k % 41 - 20;
        const long double angle = TURN * m * part;
        long double sum = f.c;
        for (int i = 0; i < 4; i++)
            sum += f.a[i] * expl(-f.b[i] * powl(q / (2 * TURN), 2));
        near(form_factor(&f, q * q), (double)sum, 1e-13);
        double wave[2];
        edge_wave(m, part, wave);
        near(wave[0], (double)(m ? sinl(angle) / angle : 1), 1e-14);
        near(wave[1], (double)(m ? (cosl(angle) - 1) / angle : 0), 1e-14);
    }
}

/* ---- roots and random numbers ---- */

static void test_roots(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double a = pow(10, 60 * formula_spread(k, 0) - 30);
        near(root_inverse(a) * sqrt(a), 1, 4e-16);
        near((double)(root_inverse_sixth(a) * cbrtl(sqrtl(a))), 1, 6e-16);
        near(root_reciprocal(a) * a, 1, 3e-16);
    }
}

/* Also of the least that philox_uniform gives, and of 1. */
static void test_philox_functions(void **state)
{
    for (int k = 0; k < FORMULA_POINTS; k++) {
        const double u = k == 0 ? 0x1p-53 : k == 1 ? 1 : pow(formula_spread(k, 0), k % 10 + 1);
        const uint32_t word = (uint32_t)(formula_spread(k, 1) * UINT32_MAX);
        float c, s;
        near(philox_log(u), (double)logl(u), 1e-15 * fmax(1, -log(u)));
        philox_cos_sin(word, &c, &s);
        near(c, (double)cosl(TURN * word * 0x1p-32L), 1.5e-7);
        near(s, (double)sinl(TURN * word * 0x1p-32L), 1.5e-7);
        const double part = (word >> k % 32 >> 1 | 1) * 0x1p-31;
        near(philox_minus_two_log(word >> k % 32), -2 * log(part), 3e-7 * (1 - log(part)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coordination),     cmocka_unit_test(test_splines),
        cmocka_unit_test(test_spline_slopes),    cmocka_unit_test(test_modulus),
        cmocka_unit_test(test_scattering),       cmocka_unit_test(test_roots),
        cmocka_unit_test(test_philox_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
