/* SPDX-License-Identifier: Apache-2.0
 *
 * The statistics that errors are made of, against processes whose variance is known and against published tables; and
 * what is made of them: production handed out, each window's part of an error.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/statistics/allocate.h"
#include "engine/base/statistics/stats.h"
#include "engine/estimate/estimators/mbar.h"
#include "engine/estimate/estimators/visits.h"
#include "engine/estimate/result/result.h"
#include "tests/lib/near.h"
#include "tests/lib/oscillators.h"

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
    return sqrt(2 * M_PI) / sum - 1 / n0 - 1 / n1;
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
        cmocka_unit_test(test_longrun), cmocka_unit_test(test_student),  cmocka_unit_test(test_drift),
        cmocka_unit_test(test_repeats), cmocka_unit_test(test_allocate), cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
