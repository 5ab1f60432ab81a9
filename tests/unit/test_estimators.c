/* SPDX-License-Identifier: Apache-2.0
 *
 * BAR, MBAR, TI and the statistics against harmonic oscillators, whose free energies are known, and against published
 * data.
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

#include "engine/base/units.h"
#include "engine/base/allocate.h"
#include "engine/estimate/result.h"
#include "tests/lib/oscillators.h"

#define STATES 5
#define REPEATS 300

static const double five[STATES] = {0, 0.25, 0.5, 0.75, 1};
static const struct ladder_of_oscillators narrow = {
    .nstates = STATES, .ncomponents = 1, .lambda = five, .a0 = 1, .da = {3}, .dc = {1}};

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g, expected %.12g within %g", value, expected, tolerance);
}

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

static void autoregressive(double *x, int n, double memory, uint64_t *seed)
{
    x[0] = random_normal(seed);
    for (int k = 1; k < n; k++)
        x[k] = memory * x[k - 1] + sqrt(1 - memory * memory) * random_normal(seed);
}

/* The long-run variance of an autoregressive process of variance 1 is (1 + memory) / (1 - memory). */
static void test_longrun(void **state)
{
    static double x[100000];
    const double memory[] = {0, 0.5, 0.9, 0.98};
    uint64_t seed = 21;
    for (int i = 0; i < 4; i++) {
        double expected = (1 + memory[i]) / (1 - memory[i]);
        autoregressive(x, 100000, memory[i], &seed);
        near(stats_inefficiency(x, 100000), expected, 0.15 * expected);
        double sum = 0;
        for (int k = 0; k < 40; k++) /* rather too large than too small */
            sum += stats_longrun(x + 2500 * k, 2500).variance / 40;
        assert_true(sum > expected && sum < 1.3 * expected);
        sum = 0;
        for (int k = 0; k < 300; k++) { /* on average also where the series is twenty times its memory */
            int n = (int)(20 * expected < 60 ? 60 : 20 * expected);
            autoregressive(x, n, memory[i], &seed);
            sum += stats_longrun(x, (size_t)n).variance / 300;
        }
        near(sqrt(sum), sqrt(expected), 0.1 * sqrt(expected));
    }
    memset(x, 0, sizeof x);
    near(stats_longrun(x, 1000).variance, 0, 0);
    near(stats_longrun(x, 1).variance, 0, 0);
}

/* Tables of Student's distribution. */
static void test_student(void **state)
{
    near(stats_t_tail(12.706204736, 1), 0.05, 1e-9);
    near(stats_t_tail(2.570581836, 5), 0.05, 1e-9);
    near(stats_t_tail(3.659405019, 29), 0.001, 1e-9);
    near(stats_t_tail(0, 3), 1, 0);
    near(stats_t_quantile(0.01, 10), 3.169272673, 1e-8);
    near(stats_t_quantile(0.31731050786, 1), 1.8373, 1e-4);
    near(stats_t_quantile(0.31731050786, 1e6), 1, 1e-5);
}

/* A relaxation at the start is cut; a stationary series is not, but for the stated level. */
static void test_drift(void **state)
{
    static double x[10000];
    uint64_t seed = 22;
    for (int k = 0; k < 10000; k++)
        x[k] = random_normal(&seed) + 30 * exp(-k / 300.0);
    assert_in_range(stats_drift(x, 10000, 0.01), 900, 5000);
    const double memory[] = {0, 0.8, 0.95, 0.99};
    for (int i = 0; i < 4; i++) {
        int cut = 0;
        for (int k = 0; k < 2000; k++) {
            autoregressive(x, 400, memory[i], &seed);
            cut += stats_drift(x, 400, 0.01) > 0;
        }
        printf("memory %.2f: %d of 2000 stationary series are cut at a level of 0.01\n", memory[i], cut);
        assert_in_range(cut, 0, 30); /* 20 expected at most, 4.5 their deviation */
    }
    for (int k = 0; k < 4000; k++)
        x[k] = random_normal(&seed) + 5 * (k < 2400); /* most of it */
    assert_in_range(stats_drift(x, 4000, 0.01), 2000, 4000);
}

/* Repeats: agreement leaves their own errors, disagreement the spread with Student's correction; both as often right as
 * one standard error should be. */
static void test_repeats(void **state)
{
    double value[5] = {1, 1, 1, 1, 1}, error[5] = {0.2, 0.2, 0.2, 0.2, 0.2};
    near(repeats_error(value, error, 4), 0.1, 1e-12);
    near(repeats_error(value, error, 1), 0.2, 1e-12);
    double apart[2] = {0, 2}, none[2] = {0, 0};
    near(repeats_error(apart, none, 2), 1.8373, 1e-4); /* t times sqrt(2) / sqrt(2) */
    const double between[3] = {0, 1, 5};
    uint64_t seed = 23;
    for (int i = 0; i < 3; i++)
        for (int n = 2; n <= 5; n++) {
            int within = 0;
            for (int k = 0; k < 4000; k++) {
                for (int j = 0; j < n; j++) {
                    error[j] = 1;
                    value[j] = random_normal(&seed) * hypot(1, between[i]);
                }
                within += fabs(stats_mean(value, (size_t)n)) < repeats_error(value, error, n);
            }
            printf("%d repeats, %g between them: %.3f within one error\n", n, between[i], within / 4000.0);
            near(within / 4000.0, 0.70, 0.085); /* 68 %, more where chance makes agreeing repeats look apart */
        }
}

/* Of windows that bring c_k / n_k. */
static double sum_of_parts(void *arg, const double *steps)
{
    const double *c = arg;
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += c[k] / steps[k];
    return sum;
}

/* Targets as the square root of c_k; what a window has already, and floors, stay. */
static void test_allocate(void **state)
{
    struct allocate_window w[4];
    double c[4] = {1, 9, 0, 4};
    for (int k = 0; k < 4; k++)
        w[k] = (struct allocate_window){.steps = 100, .replicas = 2};
    allocate(w, 4, 400, 2 * 800, 10, sum_of_parts, c);
    const int64_t half[4] = {120, 350, 100, 230}; /* 116.7, 350, -, 233.3 */
    for (int k = 0; k < 4; k++)
        assert_int_equal(w[k].target, half[k]);
    for (int k = 0; k < 4; k++)
        w[k].steps = w[k].target;
    allocate(w, 4, 400, 2 * 1600, 10, sum_of_parts, c);
    const int64_t all[4] = {250, 750, 100, 500};
    for (int k = 0; k < 4; k++)
        assert_int_equal(w[k].target, all[k]);
    /* One that has more than its share keeps it; one of few uncorrelated rows gets more of them. */
    for (int k = 0; k < 4; k++)
        w[k].steps = k == 1 ? 1300 : w[k].target;
    w[2].rows = 25;
    allocate(w, 4, 400, 2 * 2400, 10, sum_of_parts, c);
    assert_int_equal(w[1].target, 1300);
    assert_int_equal(w[2].target, 200);
    near((double)w[3].target / (double)w[0].target, 2, 0.05);
    /* Nobody knows: alike, of any cost; less than a piece stays over. */
    for (int k = 0; k < 4; k++)
        w[k] = (struct allocate_window){.steps = 7, .replicas = k};
    allocate(w, 4, 100, 1003, 3, NULL, NULL);
    int64_t left = 1003;
    for (int k = 0; k < 4; k++) {
        assert_int_equal((w[k].target - 7) % 3, 0);
        left -= w[k].target * k;
        if (k)
            near((double)w[k].target, 167, 6);
    }
    assert_in_range(left, 0, 2);
}

/* Bennett's variance of the free energy of two oscillators from so many uncorrelated rows of each, by quadrature. */
static double bennett(const struct ladder_of_oscillators *o, double n0, double n1)
{
    const double a1 = o->a0 + o->da[0], c1 = o->c0 + o->dc[0], h = 1e-3;
    double sum = 0;
    for (double x = -10; x < 12; x += h) {
        double p0 = n0 * sqrt(o->a0) * exp(-0.5 * o->a0 * (x - o->c0) * (x - o->c0));
        double p1 = n1 * sqrt(a1) * exp(-0.5 * a1 * (x - c1) * (x - c1));
        sum += h * p0 * p1 / (p0 + p1);
    }
    return sqrt(2 * acos(-1)) / sum - 1 / n0 - 1 / n1;
}

/* What windows bring adds up to the variance, and is what the next row of one takes off it times their number. */
static void test_parts(void **state)
{
    const double lambda[2] = {0, 1};
    const int count[2] = {20000, 60000};
    struct ladder_of_oscillators o = {
        .nstates = 2, .ncomponents = 1, .lambda = lambda, .a0 = 1, .da = {0.5}, .dc = {1}, .component = {LAMBDA_VDW}};
    struct mbar m = {0};
    struct err e = {0};
    struct range r = {.from = 0, .to = 1};
    struct sampling s;
    struct longrun parts[2];
    double sum = 0;
    oscillators_sample(&s, &o, count, 5);
    assert_int_equal(mbar_solve(&m, &s, NULL, &e), 0);
    solution_range(&m.solution, &r);
    solution_parts(&m.solution, 0, 1, parts);
    for (int k = 0; k < 2; k++) {
        const double n[2] = {count[0], count[1]}, more = 1e-3 * n[k];
        double before = bennett(&o, n[0], n[1]), after = bennett(&o, n[0] + (k ? 0 : more), n[1] + (k ? more : 0));
        struct longrun part = parts[k];
        printf("window %d: %.3g, by quadrature %.3g\n", k, part.variance, (before - after) / more * n[k]);
        near(part.variance / ((before - after) / more * n[k]), 1, 3 * sqrt(2 / part.dof));
        sum += part.variance;
    }
    near(sum / (r.error * r.error), 1, 1e-9);
    /* Of other numbers, what matters is how it changes: as Bennett has it. */
    struct forecast *f = forecast_new(&s, m.solution.g, parts, 0, 1);
    const double same[2] = {1, 1}, more[3][2] = {{4, 1}, {0.5, 3}, {0.2, 0.2}};
    for (int i = 0; i < 3; i++) {
        double of = forecast_variance(f, more[i]) / forecast_variance(f, same);
        double exact = bennett(&o, count[0] * more[i][0], count[1] * more[i][1]) / bennett(&o, count[0], count[1]);
        printf("%g, %g times the rows: %.3g times the variance, by quadrature %.3g\n", more[i][0], more[i][1], of,
               exact);
        near(of / exact, 1, 0.1);
    }
    forecast_free(f);
    mbar_close(&m);
    sampling_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_error_bars),
        cmocka_unit_test(test_wall),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_ti_steep),
        cmocka_unit_test(test_two_states),
        cmocka_unit_test(test_mbar_robust),
        cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_bar_gaussian_work),
        cmocka_unit_test(test_ti_gauss),
        cmocka_unit_test(test_ti_quadrature),
        cmocka_unit_test(test_longrun),
        cmocka_unit_test(test_student),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_allocate),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
