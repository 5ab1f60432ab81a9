/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of equal thermodynamic length, for harmonic oscillators a (x - c)^2 / 2 in kT, of which it is known:
 * dl/dlambda is sqrt(a) c' where they are displaced and a' / (sqrt(2) a) where they stiffen.
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

#include "engine/base/ladder/spacing.h"
#include "engine/estimate/estimators/mbar.h"
#include "tests/lib/oscillators.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.10g, expected %.10g within %g", value, expected, tolerance);
}

/* Displaced evenly: every window overlaps with its neighbours as MBAR finds it from samples. */
static void test_displaced(void **state)
{
    enum { N = 5 };
    const double lambda[N] = {0, 0.1, 0.2, 0.6, 1}; /* of a pilot that is uneven */
    double even[N], at[N];
    struct spacing_step steps[N - 1];
    struct spacing_pilot p = {.nstates = N, .ncomponents = 1, .nsteps = N - 1, .lambda = lambda, .steps = steps};
    struct ladder_of_oscillators o = {.nstates = N, .ncomponents = 1, .lambda = even, .a0 = 4, .dc = {4}};
    struct spacing s;
    struct sampling x;
    struct mbar m = {0};
    struct err e = {0};
    for (int i = 0; i + 1 < N; i++) {
        double length = sqrt(o.a0) * o.dc[0] * (lambda[i + 1] - lambda[i]);
        steps[i] = (struct spacing_step){i, i + 1, {length, length}};
    }
    assert_int_equal(spacing_make(&s, &p, N, &e), 0);
    for (int k = 0; k < N; k++) {
        near(s.lambda[k], k / 4.0, 1e-4);
        near(s.at[k], 2 * k, 1e-9);
        even[k] = s.lambda[k];
        at[k] = s.at[k];
    }
    oscillators_sample(&x, &o, (int[N]){20000, 20000, 20000, 20000, 20000}, 7);
    assert_int_equal(mbar_solve(&m, &x, NULL, &e), 0);
    double least = 1;
    for (int k = 0; k + 1 < N; k++)
        least = fmin(least, fmin(m.overlap[k * N + k + 1], m.overlap[(k + 1) * N + k]));
    near(spacing_overlap(at, N), least, 0.01);
    near(s.overlap, least, 0.01);
    near(spacing_overlap((double[]){0, 0}, 2), 0.5, 1e-9);
    near(spacing_overlap((double[]){0, 100}, 2), 0, 1e-12);
    near(spacing_overlap((double[]){0, 1, 1e18}, 3), 0, 1e-12);
    mbar_close(&m);
    sampling_close(&x);
    spacing_close(&s);
}

/* From a to b: the windows are those whose stiffness grows by one factor each. */
static void test_stiffening(void **state)
{
    enum { N = 61, WINDOWS = 6 };
    const double a = 1, b = 50;
    double lambda[N];
    struct spacing_step steps[N - 1];
    struct spacing_pilot p = {.nstates = N, .ncomponents = 1, .nsteps = N - 1, .lambda = lambda, .steps = steps};
    struct spacing s;
    struct err e = {0};
    for (int k = 0; k < N; k++)
        lambda[k] = pow((double)k / (N - 1), 2); /* the pilot has more windows where it varies more */
    for (int i = 0; i + 1 < N; i++) {
        steps[i] = (struct spacing_step){.from = i, .to = i + 1};
        for (int at = 0; at < 2; at++)
            steps[i].deviation[at] = (lambda[i + 1] - lambda[i]) * (b - a) / (a + (b - a) * lambda[i + at]) * sqrt(0.5);
    }
    assert_int_equal(spacing_make(&s, &p, WINDOWS, &e), 0);
    near(s.at[WINDOWS - 1], log(b / a) * sqrt(0.5), 0.02);
    for (int k = 0; k < WINDOWS; k++)
        near(a + (b - a) * s.lambda[k], a * pow(b / a, k / (WINDOWS - 1.0)), 0.02 * b / WINDOWS);
    spacing_close(&s);
}

/* A leg of length 6 and one of 3 in another component: a window where they meet, and twice as many steps in the longer.
 */
static void test_legs(void **state)
{
    const double lambda[] = {0, 0, 1, 0, 1, 0.5, 1, 1};
    const struct spacing_step steps[] = {{0, 1, {6, 6}}, {1, 2, {2, 2}}, {2, 3, {1, 1}}};
    struct spacing_pilot p = {.nstates = 4, .ncomponents = 2, .nsteps = 3, .lambda = lambda, .steps = steps};
    struct spacing s;
    struct err e = {0};
    const double expected[] = {0, 0, 0.25, 0, 0.5, 0, 0.75, 0, 1, 0, 1, 0.375, 1, 1};
    assert_int_equal(spacing_make(&s, &p, 7, &e), 0);
    assert_int_equal(s.nlegs, 2);
    assert_int_equal(s.legs[0].intervals, 4);
    assert_int_equal(s.legs[1].intervals, 2);
    for (int i = 0; i < 14; i++)
        near(s.lambda[i], expected[i], 1e-9);
    for (int k = 1; k < 7; k++)
        near(s.at[k] - s.at[k - 1], 1.5, 1e-9);
    spacing_close(&s);
    int fewest = spacing_fewest(&p, 0.1);
    assert_int_equal(spacing_make(&s, &p, fewest, &e), 0);
    assert_true(s.overlap >= 0.1);
    spacing_close(&s);
    assert_int_equal(spacing_make(&s, &p, fewest - 1, &e), 0);
    assert_true(s.overlap < 0.1);
    spacing_close(&s);
    assert_true(spacing_fewest(&p, 0.2) > fewest);
    assert_int_equal(spacing_make(&s, &p, 2, &e), -ERR_UNSUPPORTED);
    assert_string_equal(e.msg, "2 windows; expected 3 or more: a window at each end of 2 legs");
    spacing_close(&s);
}

static void test_edges(void **state)
{
    const double lambda[] = {0, 0.0004, 1};
    const struct spacing_step steep[] = {{0, 1, {500, 500}}, {1, 2, {1, 1}}}, flat[] = {{0, 1, {0, 0}}, {1, 2, {0, 0}}};
    struct spacing_pilot p = {.nstates = 3, .ncomponents = 1, .nsteps = 2, .lambda = lambda, .steps = steep};
    struct spacing s;
    struct err e = {0};
    assert_int_equal(spacing_make(&s, &p, 100, &e), -ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "equal to 4 decimals"));
    spacing_close(&s);
    p.steps = flat; /* nothing varies: still a ladder from end to end */
    assert_int_equal(spacing_make(&s, &p, 3, &e), 0);
    assert_true(s.lambda[0] == 0 && s.lambda[2] == 1 && s.lambda[1] > 0 && s.lambda[1] < 1);
    spacing_close(&s);
    /* Windows of the pilot that are equal ask for none. */
    const double twice[] = {0, 0, 0.5, 0.5, 1, 1};
    const struct spacing_step halves[] = {
        {0, 1, {0, 0}}, {1, 2, {2, 2}}, {2, 3, {0, 0}}, {3, 4, {2, 2}}, {4, 5, {0, 0}}};
    struct spacing_pilot again = {.nstates = 6, .ncomponents = 1, .nsteps = 5, .lambda = twice, .steps = halves};
    assert_int_equal(spacing_make(&s, &again, 5, &e), 0);
    assert_int_equal(s.nlegs, 1);
    for (int k = 0; k < 5; k++)
        near(s.lambda[k], k / 4.0, 1e-9);
    spacing_close(&s);
    /* So long that two windows have nothing in common. */
    p.steps = (struct spacing_step[]){{0, 1, {0.05, 0.05}}, {1, 2, {100, 100}}};
    const int many = spacing_fewest(&p, 0.1);
    assert_true(many > 30 && many < 40);
    /* Ten short legs: more windows only share what overlap there is. */
    struct spacing_step legs[10];
    double zigzag[22] = {0};
    for (int k = 1; k <= 10; k++) {
        memcpy(zigzag + 2 * k, zigzag + 2 * (k - 1), 2 * sizeof *zigzag);
        zigzag[2 * k + k % 2] += 0.2;
        legs[k - 1] = (struct spacing_step){k - 1, k, {0.5, 0.5}};
    }
    p = (struct spacing_pilot){.nstates = 11, .ncomponents = 2, .nsteps = 10, .lambda = zigzag, .steps = legs};
    assert_int_equal(spacing_fewest(&p, 0.2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_displaced),
        cmocka_unit_test(test_stiffening),
        cmocka_unit_test(test_legs),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
