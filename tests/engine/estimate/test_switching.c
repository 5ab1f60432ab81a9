/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies from works of switches whose distributions are known, each through the whole path, from files to the
 * JSON. Gaussian works of variance sigma^2 and dissipation sigma^2 / 2 in kT obey Crooks' relation exactly.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/lib/near.h"
#include "tests/lib/oscillators.h"
#include "tests/lib/switch_works.h"

enum { MOST = 4000 };
static double f[MOST], b[MOST];

static void draw_both(double dg, double sigma, int nf, int nb, double memory, uint64_t seed)
{
    works_draw(f, nf, b, nb, dg, sigma, memory, seed);
}

static void test_gaussian(void **state)
{
    draw_both(-7, 1.5, MOST, MOST, 0, 31);
    json_t *r = works_from_two(f, MOST, b, MOST);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(works_verdict(r, i), "converged");
        near(works_total(r, i, "value"), -7, 4 * works_total(r, i, "error"));
        assert_true(works_total(r, i, "error") < 0.1);
    }
    near(works_number(r, "estimate.magnitude"), works_total(r, 0, "value") * WORKS_KT / UNIT_KCAL, 1e-9);
    near(works_number(r, "switching.forward.dissipated.kT.value"), 1.125, 0.1);
    near(works_number(r, "switching.backward.dissipated.kT.value"), 1.125, 0.1);
    near(works_number(r, "switching.forward.deviation.kT.value"), 1.5, 0.06);
    near(works_number(r, "switching.hysteresis.kT.value"), 2.25, 0.15);
    near(works_number(r, "switching.slope.value"), 1, 4 * works_number(r, "switching.slope.error"));
    assert_true(works_number(r, "switching.slope.error") < 0.05);
    assert_string_equal(json_string_value(works_at(r, "estimator")), "BAR");
    assert_string_equal(json_string_value(works_at(r, "status")), "ok");
    json_decref(r);
}

/* n times the squared error of BAR, of n Gaussian works each way that dissipate so much: from the mean of the Fermi
 * weight over the forward works. */
static double squared_error(double dissipated)
{
    double sum = 0, all = 0;
    for (double z = -10; z < 10; z += 0.01) {
        const double weight = exp(-0.5 * z * z);
        sum += weight / (1 + exp(dissipated + sqrt(2 * dissipated) * z));
        all += weight;
    }
    return all / sum - 2;
}

struct promised {
    double now, longer, more; /* kT: the error of BAR, and of twice the length or the number */
};

/* Means over some sets of works. */
static struct promised promises(double dissipated, int n, const char *better)
{
    enum { SETS = 20 };
    struct promised sum = {0};
    for (int i = 0; i < SETS; i++) {
        draw_both(3, sqrt(2 * dissipated), n, n, 0, (uint64_t)(7919 * i + n));
        json_t *r = works_from_two(f, n, b, n);
        const double unit = UNIT_KCAL / WORKS_KT / SETS;
        sum.now += works_total(r, 0, "error") / SETS;
        sum.longer += works_number(r, "switching.advice.twice_as_long.magnitude") * unit;
        sum.more += works_number(r, "switching.advice.twice_as_many.magnitude") * unit;
        assert_string_equal(json_string_value(works_at(r, "switching.advice.better")), better);
        json_decref(r);
    }
    return sum;
}

/* Errors to expect are those that works of half the dissipation, or twice as many works, are known to have; where
 * little is dissipated both are alike. */
static void test_advice(void **state)
{
    static const struct {
        double dissipated;
        const char *better;
    } cases[] = {{8, "longer"}, {4, "longer"}, {1, "more"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        enum { N = 1000 };
        const double now = squared_error(cases[k].dissipated) / N, slow = squared_error(cases[k].dissipated / 2) / N;
        const struct promised p = promises(cases[k].dissipated, N, cases[k].better);
        print_message("%g kT: error %.4f, known %.4f; of twice the length %.4f, known %.4f\n", cases[k].dissipated,
                      p.now, sqrt(now), p.longer, sqrt(slow));
        near(p.now / sqrt(now), 1, 0.2); /* which looks for correlation, too, and is a tenth larger */
        near(p.longer / sqrt(slow), 1, 0.2);
        near(p.more / p.now, sqrt(0.5), 1e-9);
        near(p.longer / p.more / sqrt(2 * slow / now), 1, 0.02);
    }
    draw_both(3, 0.02, 200, 200, 0, 5); /* what is dissipated is not seen */
    json_t *r = works_from_two(f, 200, b, 200);
    assert_null(json_object_get(works_at(r, "switching"), "advice"));
    json_decref(r);
}

/* A particle at x in a well of force constant k that moves by `far` in steps; the work of each step is the change of
 * energy at fixed x, and between steps x moves on by Ornstein and Uhlenbeck's exact law. G does not change, whatever k.
 */
static double drag(double k, double far, int steps, double memory, uint64_t *seed)
{
    const double spread = 1 / sqrt(k);
    double work = 0, c = 0, x = spread * random_normal(seed);
    for (int i = 0; i < steps; i++) {
        const double next = c + far / steps;
        work += 0.5 * k * ((x - next) * (x - next) - (x - c) * (x - c));
        c = next;
        x = c + memory * (x - c) + sqrt(1 - memory * memory) * spread * random_normal(seed);
    }
    return work;
}

/* Of that drag: Gaussian works; their mean, which is their variance / 2, by the recursion of the lag of <x>. */
static double drag_dissipation(double k, double far, int steps, double memory)
{
    double lag = 0, work = 0, d = far / steps;
    for (int i = 0; i < steps; i++) {
        work += k * d * (lag + 0.5 * d);
        lag = memory * (lag + d);
    }
    return work;
}

static void test_harmonic(void **state)
{
    uint64_t seed = 77;
    const double expected = drag_dissipation(4, 3, 20, 0.8);
    for (int i = 0; i < 2000; i++) {
        f[i] = drag(4, 3, 20, 0.8, &seed);
        b[i] = drag(4, -3, 20, 0.8, &seed);
    }
    json_t *r = works_from_two(f, 2000, b, 2000);
    assert_true(expected > 1 && expected < 8);
    near(works_total(r, 0, "value"), 0, 4 * works_total(r, 0, "error"));
    assert_string_equal(works_verdict(r, 0), "converged");
    const double mean = works_number(r, "switching.forward.mean.kT.value");
    near(mean, expected, 4 * works_number(r, "switching.forward.mean.kT.error"));
    near(pow(works_number(r, "switching.backward.deviation.kT.value"), 2), 2 * expected, 0.1 * 2 * expected);
    json_decref(r);
}

static void test_unequal_numbers(void **state)
{
    draw_both(5, 1.5, 60, MOST, 0, 5);
    json_t *r = works_from_two(f, 60, b, MOST);
    near(works_total(r, 0, "value"), 5, 4 * works_total(r, 0, "error"));
    assert_string_equal(works_verdict(r, 0), "converged");
    assert_int_equal((int)works_number(r, "switching.forward.works"), 60);
    json_decref(r);
}

static void test_correlated(void **state)
{
    draw_both(5, 1.5, 2000, 2000, 0.9, 8);
    json_t *r = works_from_two(f, 2000, b, 2000);
    near(works_number(r, "switching.forward.inefficiency"), 19, 8);
    near(works_total(r, 0, "value"), 5, 4 * works_total(r, 0, "error"));
    assert_non_null(strstr(json_string_value(works_at(r, "warnings.0")), "correlated"));
    json_decref(r);
    r = works_from_two(f, 100, b, 100); /* of which some five are independent */
    assert_string_equal(works_verdict(r, 0), "unconverged");
    assert_true(works_reason(r, 0, "few_samples"));
    json_decref(r);
}

static void test_mixed_up(void **state)
{
    draw_both(2, 1.5, 500, 500, 0, 9);
    for (int i = 0; i < 500; i++) /* both signs are those of work that is taken out */
        f[i] *= -1, b[i] *= -1;
    json_t *r = works_from_two(f, 500, b, 500);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(works_verdict(r, i), "failed");
        assert_true(works_reason(r, i, "second_law"));
    }
    assert_true(json_is_null(works_at(r, "estimate")));
    json_decref(r);
    draw_both(2, 1.5, 500, 500, 0, 9);
    for (int i = 0; i < 500; i++) /* backward works with the forward sign */
        b[i] *= -1;
    r = works_from_two(f, 500, b, 500);
    assert_string_equal(works_verdict(r, 0), "unconverged");
    assert_true(works_reason(r, 0, "crooks"));
    json_decref(r);
    draw_both(2, 1.5, 500, 500, 0, 9);
    r = works_from_two(f, 493, f + 7, 493); /* the same way twice */
    assert_string_equal(works_verdict(r, 0), "unconverged");
    json_decref(r);
    struct err e = {0};
    assert_null(works_estimate(works_forward_file, works_forward_file, 1, &e));
    assert_non_null(strstr(e.msg, "given as forward and as backward"));
}

static void test_wrong_unit(void **state)
{
    struct err e = {0};
    draw_both(2, 1.5, 500, 500, 0, 10);
    works_put(works_forward_file, f, 500, WORKS_KT / UNIT_KCAL);
    works_put(works_backward_file, b, 500, WORKS_KT / UNIT_KCAL);
    json_t *r = works_from_files();
    assert_true(works_reason(r, 0, "crooks"));
    json_decref(r);
    r = works_estimate(works_forward_file, works_backward_file, UNIT_KCAL, &e);
    near(works_total(r, 0, "value"), 2, 4 * works_total(r, 0, "error"));
    assert_string_equal(works_verdict(r, 0), "converged");
    json_decref(r);
}

static void test_no_overlap(void **state)
{
    draw_both(2, 8, 300, 300, 0, 11);
    json_t *r = works_from_two(f, 300, b, 300);
    assert_string_equal(works_verdict(r, 0), "failed");
    assert_true(works_reason(r, 0, "disconnected"));
    assert_true(json_is_null(works_at(r, "estimate")) && json_is_null(works_at(r, "estimator")));
    for (int i = 1; i < 4; i++)
        assert_string_equal(works_verdict(r, i), "unconverged");
    json_decref(r);
    draw_both(2, 4.6, 1000, 1000, 0, 12);
    r = works_from_two(f, 1000, b, 1000);
    assert_true(works_reason(r, 0, "overlap"));
    assert_true(works_reason(r, 1, "tail") && works_reason(r, 2, "tail"));
    json_decref(r);
}

static void test_one_way(void **state)
{
    struct err e = {0};
    draw_both(2, 0.7, MOST, 10, 0, 13);
    works_put(works_forward_file, f, MOST, WORKS_KT);
    json_t *r = works_estimate(works_forward_file, NULL, 1, &e);
    assert_string_equal(json_string_value(works_at(r, "estimator")), "Jarzynski forward");
    assert_string_equal(json_string_value(works_at(r, "status")), "partial");
    assert_string_equal(json_string_value(works_at(r, "verdict.verdict")), "unconverged");
    assert_true(works_reason(r, 1, "unchecked") && works_reason(r, 0, "no_samples"));
    near(works_total(r, 1, "value"), 2, 0.1);
    json_decref(r);
    r = works_estimate(NULL, works_forward_file, 1, &e);
    near(works_total(r, 2, "value"), -2, 0.1);
    json_decref(r);
}

static void test_few(void **state)
{
    static const int few[] = {12, 36}; /* of 36 each way has enough, but the error is not known well */
    for (int i = 0; i < 2; i++) {
        draw_both(2, 1, few[i], few[i], 0, 14);
        json_t *r = works_from_two(f, few[i], b, few[i]);
        assert_string_equal(works_verdict(r, 0), "unconverged");
        assert_true(works_reason(r, 0, "few_samples"));
        json_decref(r);
    }
}

static void test_nonfinite(void **state)
{
    draw_both(2, 1, 400, 400, 0, 15);
    f[7] = NAN;
    json_t *r = works_from_two(f, 400, b, 400);
    assert_int_equal((int)works_number(r, "switching.forward.nonfinite"), 1);
    assert_non_null(strstr(json_string_value(works_at(r, "warnings.0")), "not finite"));
    assert_string_equal(works_verdict(r, 0), "converged");
    json_decref(r);
    for (int i = 0; i < 10; i++)
        b[i] = INFINITY;
    r = works_from_two(f, 400, b, 400);
    assert_true(works_reason(r, 0, "nonfinite"));
    json_decref(r);
}

static void test_drift(void **state)
{
    draw_both(2, 1, 1000, 1000, 0, 16);
    for (int i = 0; i < 1000; i++) { /* ends that relax along the order of snapshots */
        f[i] += 2 * exp(-i / 100.0);
        b[i] -= 2 * exp(-i / 100.0);
    }
    json_t *r = works_from_two(f, 1000, b, 1000);
    assert_string_equal(works_verdict(r, 0), "unconverged");
    assert_true(works_reason(r, 0, "drift"));
    json_decref(r);
    draw_both(2, 1, 100, 100, 0, 16);
    for (int i = 50; i < 100; i++) { /* an end that goes elsewhere half-way */
        f[i] += 4;
        b[i] -= 4;
    }
    r = works_from_two(f, 100, b, 100);
    assert_string_equal(works_verdict(r, 0), "unconverged");
    assert_true(works_total(r, 0, "error") > 1); /* kT: the two parts are 4 apart */
    json_decref(r);
}

/* Works of exponential distributions, which obey Crooks' relation: P_forward(W) = exp(-W) above 0, and P_backward(-W) =
 * 2 exp(-2 W) there, so exp(W) / 2 = exp(W - ln 2). */
static void test_not_gaussian(void **state)
{
    uint64_t seed = 20;
    for (int i = 0; i < MOST; i++) {
        f[i] = -log(random_uniform(&seed));
        b[i] = 0.5 * log(random_uniform(&seed));
    }
    json_t *r = works_from_two(f, MOST, b, MOST);
    near(works_total(r, 0, "value"), log(2), 4 * works_total(r, 0, "error"));
    assert_string_equal(works_verdict(r, 0), "converged");
    assert_string_equal(works_verdict(r, 3), "unconverged");
    assert_true(works_reason(r, 3, "not_gaussian"));
    json_decref(r);
}

/* Errors are those that are made: over many sets of works. */
static void calibrate(int n, double sigma, double memory, int least_converged)
{
    enum { SETS = 200 };
    int one = 0, two = 0, converged = 0;
    for (int i = 0; i < SETS; i++) {
        draw_both(3, sigma, n, n, memory, (uint64_t)(1000003 * i + n));
        json_t *r = works_from_two(f, n, b, n);
        const double off = fabs(works_total(r, 0, "value") - 3), error = works_total(r, 0, "error");
        one += off < error;
        two += off < 2 * error;
        converged += !strcmp(works_verdict(r, 0), "converged");
        json_decref(r);
    }
    print_message("%d works, sigma %g, memory %g: within one error %d, two %d, converged %d of %d\n", n, sigma, memory,
                  one, two, converged, SETS);
    assert_in_range(one, SETS * 60 / 100, SETS * 78 / 100);
    assert_in_range(two, SETS * 91 / 100, SETS);
    assert_in_range(converged, least_converged, SETS);
}

static void test_calibration(void **state)
{
    calibrate(100, 1.5, 0, 160);
    calibrate(200, 2.5, 0, 180);
    calibrate(800, 1.5, 0.8, 160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),    cmocka_unit_test(test_harmonic), cmocka_unit_test(test_unequal_numbers),
        cmocka_unit_test(test_correlated),  cmocka_unit_test(test_mixed_up), cmocka_unit_test(test_wrong_unit),
        cmocka_unit_test(test_no_overlap),  cmocka_unit_test(test_one_way),  cmocka_unit_test(test_few),
        cmocka_unit_test(test_nonfinite),   cmocka_unit_test(test_drift),    cmocka_unit_test(test_not_gaussian),
        cmocka_unit_test(test_calibration), cmocka_unit_test(test_advice),
    };
    return cmocka_run_group_tests(tests, works_begin, works_end);
}
