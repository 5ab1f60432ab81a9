/* SPDX-License-Identifier: Apache-2.0
 *
 * BAR, MBAR and TI against harmonic oscillators, whose free energies are known, and other cases with exact answers.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/statistics/stats.h"
#include "engine/estimate/estimators/bar.h"
#include "engine/estimate/estimators/linear_algebra.h"
#include "engine/estimate/estimators/mbar.h"
#include "engine/estimate/estimators/ti.h"
#include "engine/estimate/result/result.h"
#include "tests/lib/near.h"
#include "tests/lib/oscillators.h"

#define STATES 5
#define REPEATS 300

static const double five[STATES] = {0, 0.25, 0.5, 0.75, 1};
static const struct ladder_of_oscillators narrow = {
    .nstates = STATES, .ncomponents = 1, .lambda = five, .a0 = 1, .da = {3}, .dc = {1}};

struct moments {
    double sum, square, error_square, in_errors;
    int n;
};

static void note(struct moments *m, const struct range *r, double exact)
{
    assert_true(r->ok);
    m->sum += r->value - exact;
    m->square += (r->value - exact) * (r->value - exact);
    m->error_square += r->error * r->error;
    m->in_errors += pow((r->value - exact) / r->error, 2);
    m->n++;
}

/* No bias beyond 4 errors of the mean plus `bias`, and deviations are as large as their errors, within 15%. The mean
 * square of the errors themselves is for most part that of the largest where they are known to few degrees of
 * freedom: it is not too small. */
static void honest(const struct moments *m, const char *name, double bias)
{
    double mean = m->sum / m->n, seen = sqrt(m->square / m->n), told = sqrt(m->error_square / m->n);
    double in_errors = sqrt(m->in_errors / m->n);
    if (!(fabs(mean) < 4 * seen / sqrt(m->n) + bias))
        fail_msg("%s: mean deviation %g, scatter %g", name, mean, seen);
    if (bias == 0 && !(told > 0.85 * seen && in_errors > 0.85 && in_errors < 1.15))
        fail_msg("%s: scatter %g, errors of %g were told, deviations are %g of their errors", name, seen, told,
                 in_errors);
}

/* Totals and a part of the path; the middle state is left without samples in every second round. */
static void test_error_bars(void **state)
{
    struct moments mbar[2] = {0}, bar[2] = {0}, ti = {0}, unsampled = {0};
    double exact = oscillators_exact(&narrow, STATES - 1), exact_part = oscillators_exact(&narrow, 2);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        int count[STATES] = {120, 90, repeat % 2 ? 0 : 110, 100, 80};
        struct sampling s;
        struct mbar m = {0};
        struct bar b = {0};
        struct ti t = {0};
        struct err e;
        struct range r = {.from = 0, .to = STATES - 1}, part = {.from = 0, .to = 2};
        oscillators_sample(&s, &narrow, count, (uint64_t)repeat);
        assert_int_equal(mbar_solve(&m, &s, NULL, &e), 0);
        solution_range(&m.solution, &r);
        note(&mbar[repeat % 2], &r, exact);
        solution_range(&m.solution, &part);
        if (repeat % 2)
            note(&unsampled, &part, exact_part);
        assert_int_equal(bar_solve(&b, &s, &e), 0);
        solution_range(&b.solution, &r);
        note(&bar[repeat % 2], &r, exact);
        solution_range(&b.solution, &part);
        assert_int_equal(part.ok, repeat % 2 == 0);
        assert_int_equal(ti_solve(&t, &s, &e), 0);
        solution_range(&t.solution, &r);
        if (repeat % 2 == 0)
            note(&ti, &r, exact);
        solution_range(&t.solution, &part);
        assert_int_equal(part.ok, repeat % 2 == 0);
        mbar_close(&m);
        bar_close(&b);
        ti_close(&t);
        sampling_close(&s);
    }
    honest(&mbar[0], "MBAR", 0);
    honest(&mbar[1], "MBAR, a window missing", 0);
    honest(&unsampled, "MBAR, the missing window itself", 0);
    honest(&bar[0], "BAR", 0);
    honest(&bar[1], "BAR, a window missing", 0);
    honest(&ti, "TI", 0.03); /* the trapezoid's own deviation on five points */
}

/* With two states MBAR's equation is BAR's. */
enum { DISPLACED = 4, TIMES = 400 };

/* Windows that are displaced, whose rows share a slow part: what replicas that exchange windows bring about. The
 * first rows of some windows are not there. */
static void sample_together(struct sampling *s, uint64_t seed)
{
    static const double lambda[DISPLACED] = {0, 0.5, 1, 1.5};
    double slow[TIMES], y = random_normal(&seed);
    *s = (struct sampling){.nstates = DISPLACED, .ncomponents = 1, .lambda = lambda};
    s->start = xcalloc(DISPLACED + 1, sizeof *s->start);
    s->u = xcalloc(DISPLACED * TIMES * DISPLACED, sizeof *s->u);
    s->dhdl = xcalloc(DISPLACED * TIMES, sizeof *s->dhdl);
    for (int t = 0; t < TIMES; t++)
        slow[t] = y = 0.8 * y + 0.6 * random_normal(&seed);
    for (int k = 0; k < DISPLACED; k++) {
        size_t row = s->start[k];
        for (int t = 17 * (k % 3); t < TIMES; t++, row++) {
            double x = lambda[k] + sqrt(0.6) * slow[t] + sqrt(0.4) * random_normal(&seed);
            for (int j = 0; j < DISPLACED; j++)
                s->u[row * DISPLACED + (size_t)j] = 0.5 * (pow(x - lambda[j], 2) - pow(x - lambda[k], 2));
            s->dhdl[row] = lambda[k] - x;
        }
        s->start[k + 1] = row;
    }
}

/* Rows of times that all sampled states have; where there are none, as many of each. */
static void test_common_times(void **state)
{
    static const double lambda[3] = {0, 0.5, 1}, apart[3] = {1, 2, 2.00001};
    static const size_t rows[3] = {10, 0, 5};
    for (int some = 0; some < 2; some++) {
        struct sampling s = {.nstates = 3, .ncomponents = 1, .lambda = lambda, .start = xcalloc(4, sizeof *s.start)};
        s.u = xcalloc(15 * 3, sizeof *s.u);
        s.dhdl = xcalloc(15, sizeof *s.dhdl);
        s.time = xcalloc(15, sizeof *s.time);
        for (size_t k = 0, row = 0; k < 3; k++) {
            for (size_t i = 0; i < rows[k]; i++, row++) {
                s.time[row] = some ? apart[k] * (double)i : (double)i + (double)(100 * k);
                s.u[3 * row + 1] = s.dhdl[row] = 100. * (double)k + (double)i;
            }
            s.start[k + 1] = row;
        }
        sampling_align(&s);
        assert_true(s.together);
        assert_int_equal(sampling_count(&s, 0), 5);
        assert_int_equal(sampling_count(&s, 1), 0);
        assert_int_equal(sampling_count(&s, 2), 5);
        for (size_t i = 0; i < 5; i++) { /* times 0, 2, 4 .. that all have, or the last of each */
            const double expected = some ? 2. * (double)i : (double)i + 5;
            assert_true(s.u[3 * i + 1] == expected && s.dhdl[i] == expected);
            assert_true(s.u[3 * (5 + i) + 1] == 200. + (double)i && s.dhdl[5 + i] == 200. + (double)i);
        }
        sampling_close(&s);
    }
}

/* Errors that take the windows for independent are told too small; those that know are those seen. */
static void test_together(void **state)
{
    struct moments mbar = {0}, bar = {0}, ti = {0}, apart = {0};
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        struct sampling s;
        struct err e;
        struct range r = {.from = 0, .to = DISPLACED - 1};
        sample_together(&s, 1000 + (uint64_t)repeat);
        for (int known = 0; known < 2; known++) {
            struct mbar m = {0};
            struct bar b = {0};
            struct ti t = {0};
            if (known)
                sampling_align(&s);
            assert_int_equal(mbar_solve(&m, &s, NULL, &e), 0);
            solution_range(&m.solution, &r);
            note(known ? &mbar : &apart, &r, 0);
            assert_int_equal(bar_solve(&b, &s, &e), 0);
            solution_range(&b.solution, &r);
            note(known ? &bar : &apart, &r, 0);
            assert_int_equal(ti_solve(&t, &s, &e), 0);
            solution_range(&t.solution, &r);
            note(known ? &ti : &apart, &r, 0);
            mbar_close(&m);
            bar_close(&b);
            ti_close(&t);
        }
        assert_int_equal(sampling_count(&s, 0), TIMES - 34);
        assert_int_equal(sampling_count(&s, DISPLACED - 1), TIMES - 34);
        sampling_close(&s);
    }
    honest(&mbar, "MBAR, together", 0);
    honest(&bar, "BAR, together", 0);
    honest(&ti, "TI, together", 0);
    printf("windows taken for independent: deviations are %.2f of their errors\n", sqrt(apart.in_errors / apart.n));
    assert_true(apart.in_errors > 1.6 * apart.n);
}

static void test_two_states(void **state)
{
    const double two[2] = {0, 1};
    struct ladder_of_oscillators o = {.nstates = 2, .ncomponents = 1, .lambda = two, .a0 = 1, .da = {1}, .dc = {1.5}};
    int count[2] = {700, 300};
    struct sampling s;
    struct mbar m = {0};
    struct bar b = {0};
    struct err e;
    oscillators_sample(&s, &o, count, 11);
    assert_int_equal(mbar_solve(&m, &s, NULL, &e), 0);
    assert_int_equal(bar_solve(&b, &s, &e), 0);
    near(m.solution.g[1], b.df[0], 1e-11);
    struct range rm = {.to = 1}, rb = {.to = 1};
    solution_range(&m.solution, &rm);
    solution_range(&b.solution, &rb);
    near(rm.error, rb.error, 0.05 * rb.error);
    for (int i = 0; i < 2; i++)
        near(m.overlap[2 * i] + m.overlap[2 * i + 1], 1, 1e-12);
    mbar_close(&m);
    bar_close(&b);
    sampling_close(&s);
}

/* MBAR's answer obeys its equation, whatever the start, also for a stiff ladder with energies of 1e5 kT. */
/* A hard wall in one state: rows beyond it have no weight there, and say how much room is lost. */
static void test_wall(void **state)
{
    enum { ROWS = 4000 };
    static double u[2 * ROWS * 2];
    const double two[2] = {0, 1};
    size_t start[3] = {0, ROWS, 2 * ROWS};
    struct sampling s = {.nstates = 2, .ncomponents = 1, .lambda = two, .start = start, .u = u};
    struct mbar m = {0};
    struct bar b = {0};
    struct err e;
    uint64_t seed = 3;
    for (int i = 0; i < ROWS; i++) {
        u[2 * i + 1] = random_normal(&seed) < 0 ? INFINITY : 0;
        u[2 * (ROWS + i)] = 0;
    }
    assert_int_equal(mbar_solve(&m, &s, NULL, &e), 0);
    assert_int_equal(bar_solve(&b, &s, &e), 0);
    struct range r = {.to = 1}, same = r;
    solution_range(&m.solution, &r);
    solution_range(&b.solution, &same);
    near(r.value, log(2), 4 * r.error);
    near(r.error, 1 / sqrt(ROWS), 0.2 / sqrt(ROWS)); /* sqrt((1 - p) / p / n) of a share p of 0.5 */
    near(same.value, r.value, 1e-9);
    near(same.error, r.error, 1e-6);
    mbar_close(&m);
    bar_close(&b);
}

/* A window without samples that has the lambdas of one with samples is the same state, also at an end. */
static void test_twins(void **state)
{
    const double lambda[4] = {0, 0.5, 1, 1};
    struct ladder_of_oscillators o = {.nstates = 4, .ncomponents = 1, .lambda = lambda, .a0 = 1, .da = {1}, .dc = {1}};
    const int count[4] = {500, 400, 300, 0};
    struct sampling s;
    struct bar b = {0};
    struct ti t = {0};
    struct err e;
    oscillators_sample(&s, &o, count, 8);
    assert_int_equal(bar_solve(&b, &s, &e), 0);
    assert_int_equal(ti_solve(&t, &s, &e), 0);
    const struct solution *both[] = {&b.solution, &t.solution};
    for (int i = 0; i < 2; i++) {
        struct range one = {.to = 2}, twin = {.to = 3}, between = {.from = 2, .to = 3};
        solution_range(both[i], &one);
        solution_range(both[i], &twin);
        solution_range(both[i], &between);
        assert_true(twin.ok && between.ok);
        assert_true(twin.value == one.value && twin.error == one.error);
        assert_true(between.value == 0 && between.error == 0);
    }
    bar_close(&b);
    ti_close(&t);
    sampling_close(&s);
}

/* Where dH/dlambda of a harmonic term is steep at an end, the trapezoid is off by about its error, whatever its
 * factor. */
static void test_ti_steep(void **state)
{
    for (double factor = 10; factor < 1e10; factor *= 10) {
        enum { N = 5 };
        double lambda[N], dhdl[N], u[N] = {0};
        size_t start[N + 1] = {0, 1, 2, 3, 4, 5};
        struct sampling s = {.nstates = N, .ncomponents = 1, .lambda = lambda, .start = start, .u = u, .dhdl = dhdl};
        struct ti t = {0};
        struct err e;
        struct range r = {.to = N - 1};
        for (int k = 0; k < N; k++) {
            lambda[k] = 0.25 * k;
            dhdl[k] = 0.5 * (factor - 1) / (1 + lambda[k] * (factor - 1));
        }
        assert_int_equal(ti_solve(&t, &s, &e), 0);
        solution_range(&t.solution, &r);
        near(r.error, r.value - 0.5 * log(factor), 1e-6 * r.value);
        ti_close(&t);
    }
}

static void test_mbar_robust(void **state)
{
    double lambda[40];
    int count[40];
    for (int k = 0; k < 40; k++) {
        lambda[k] = k / 39.0;
        count[k] = k % 7 ? 50 + k : 0;
    }
    struct ladder_of_oscillators o = {
        .nstates = 40, .ncomponents = 1, .lambda = lambda, .a0 = 1, .da = {4000}, .dc = {0.1}};
    double wild[40];
    uint64_t seed = 5;
    for (int k = 0; k < 40; k++)
        wild[k] = 200 * random_normal(&seed);
    struct sampling s;
    struct mbar a = {0}, b = {0};
    struct err e = {0};
    oscillators_sample(&s, &o, count, 12);
    if (mbar_solve(&a, &s, NULL, &e) || mbar_solve(&b, &s, wild, &e))
        fail_msg("%s", e.msg);
    for (int k = 0; k < 40; k++)
        near(a.solution.g[k], b.solution.g[k], 1e-7);
    for (int k = 0; k < 40; k++) { /* eq. 11, summed plainly */
        double sum = 0;
        for (size_t n = 0; n < s.start[40]; n++) {
            double denominator = 0;
            for (int j = 0; j < 40; j++)
                denominator += count[j] * exp(a.solution.g[j] - a.solution.g[k] - s.u[n * 40 + (size_t)j] +
                                              s.u[n * 40 + (size_t)k]);
            sum += 1 / denominator;
        }
        near(sum, 1, 1e-8);
    }
    mbar_close(&a);
    mbar_close(&b);
    sampling_close(&s);
}

static void test_no_overlap(void **state)
{
    const double two[2] = {0, 1};
    struct ladder_of_oscillators o = {.nstates = 2, .ncomponents = 1, .lambda = two, .a0 = 1, .dc = {500}};
    int count[2] = {50, 50}, none[2] = {0, 0}, one[2] = {20, 0};
    struct sampling s;
    struct mbar m = {0};
    struct bar b = {0};
    struct ti t = {0};
    struct err e;
    oscillators_sample(&s, &o, count, 1);
    assert_int_equal(mbar_solve(&m, &s, NULL, &e), -ERR_ESTIMATE);
    assert_string_equal(e.msg, "MBAR: the samples do not connect all windows (no overlap between some of them)");
    mbar_close(&m);
    sampling_close(&s);
    oscillators_sample(&s, &o, none, 1);
    assert_int_equal(mbar_solve(&m, &s, NULL, &e), -ERR_ESTIMATE);
    assert_string_equal(e.msg, "MBAR: no window has samples");
    mbar_close(&m);
    sampling_close(&s);
    oscillators_sample(&s, &o, one, 1);
    assert_int_equal(bar_solve(&b, &s, &e), -ERR_ESTIMATE);
    assert_string_equal(e.msg, "BAR: windows with samples: 1, expected 2 or more");
    assert_int_equal(ti_solve(&t, &s, &e), -ERR_ESTIMATE);
    assert_string_equal(e.msg, "TI: windows with samples: 1, expected 2 or more");
    bar_close(&b);
    ti_close(&t);
    sampling_close(&s);
}

/* The work of a Gaussian process: forward N(d + v/2, v), reverse N(-d + v/2, v) have free energy d; far apart too. */
static void test_bar_gaussian_work(void **state)
{
    uint64_t seed = 3;
    static double wf[40000], wr[20000], pf[40000], pr[20000];
    const double sigma[] = {0.1, 1, 3};
    for (int i = 0; i < 3; i++) {
        double d = -20 + 45.0 * i, df, v = sigma[i] * sigma[i];
        struct err e;
        for (int k = 0; k < 40000; k++)
            wf[k] = d + v / 2 + sigma[i] * random_normal(&seed);
        for (int k = 0; k < 20000; k++)
            wr[k] = -d + v / 2 + sigma[i] * random_normal(&seed);
        assert_int_equal(bar_pair(wf, 40000, wr, 20000, &df, pf, pr, &e), 0);
        near(df, d, 0.03 * sigma[i]);
        near(stats_mean(pf, 40000), 1, 1e-9);
        near(stats_mean(pr, 20000), 1, 1e-9);
    }
    double same[2] = {5000, 5000}, back[3] = {-5000, -5000, -5000}, df; /* no scatter: exact */
    struct err e;
    assert_int_equal(bar_pair(same, 2, back, 3, &df, pf, pr, &e), 0);
    near(df, 5000, 1e-8);
}

/* Nodes of Gauss-Legendre quadrature make TI exact for polynomials; others are not taken for nodes. */
static void test_ti_gauss(void **state)
{
    double nodes[3] = {0.1127, 0.5, 0.8873};
    double u[3] = {0}, dhdl[3];
    size_t start[4] = {0, 1, 2, 3};
    struct sampling s = {.nstates = 3, .ncomponents = 1, .lambda = nodes, .start = start, .u = u, .dhdl = dhdl};
    struct ti t = {0};
    struct range r;
    struct err e;
    const double exact[3] = {0.5 - sqrt(0.15), 0.5, 0.5 + sqrt(0.15)};
    for (int k = 0; k < 3; k++)
        dhdl[k] = 1 + 6 * pow(exact[k], 5); /* integral 2 */
    assert_int_equal(ti_solve(&t, &s, &e), 0);
    ti_gauss(&t, &s, &r);
    assert_true(r.ok);
    near(r.value, 2, 1e-12);
    nodes[0] = 0.112;
    ti_gauss(&t, &s, &r);
    assert_false(r.ok);
    ti_close(&t);
}

/* The quadrature error is that of the trapezoid: exact for a parabola, of its size for a curve, and told for a lone
 * step. */
static void test_ti_quadrature(void **state)
{
    enum { N = 9 };
    double lambda[N], u[N] = {0}, dhdl[N];
    size_t start[N + 1];
    struct sampling s = {.nstates = N, .ncomponents = 1, .lambda = lambda, .start = start, .u = u, .dhdl = dhdl};
    struct ti t = {0};
    struct range r = {.to = N - 1};
    struct err e;
    for (int curve = 0; curve < 2; curve++) {
        for (int k = 0; k < N; k++) {
            double x = lambda[k] = (double)k / (N - 1);
            start[k + 1] = (size_t)k + 1;
            dhdl[k] = curve ? 1 / (0.1 + x) : 6 * x * x;
        }
        start[0] = 0;
        assert_int_equal(ti_solve(&t, &s, &e), 0);
        solution_range(&t.solution, &r);
        double missed = fabs(r.value - (curve ? log(1.1 / 0.1) : 2));
        near(r.quadrature, missed, curve ? 1e-9 : 0.5 * missed); /* hyperbolas are exact */
        near(r.error, r.quadrature, 1e-12);                      /* single rows do not scatter */
        ti_close(&t);
    }
    double two[4] = {0, 0, 1, 0}, slopes[4] = {0, 7, 3, 7};
    size_t ends[3] = {0, 1, 2};
    struct sampling lone = {
        .nstates = 2, .ncomponents = 2, .lambda = two, .start = ends, .u = (double[4]){0}, .dhdl = slopes};
    assert_int_equal(ti_solve(&t, &lone, &e), 0);
    r.to = 1;
    solution_range(&t.solution, &r);
    near(r.value, 1.5, 1e-12);
    near(r.quadrature, 0.5, 1e-12); /* 3 x^2 would give 1 */
    ti_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_times), cmocka_unit_test(test_together),
        cmocka_unit_test(test_error_bars),   cmocka_unit_test(test_wall),
        cmocka_unit_test(test_twins),        cmocka_unit_test(test_ti_steep),
        cmocka_unit_test(test_two_states),   cmocka_unit_test(test_mbar_robust),
        cmocka_unit_test(test_no_overlap),   cmocka_unit_test(test_bar_gaussian_work),
        cmocka_unit_test(test_ti_gauss),     cmocka_unit_test(test_ti_quadrature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
