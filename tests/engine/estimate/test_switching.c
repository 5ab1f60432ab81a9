/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies from works of switches whose distributions are known, each through the whole path, from files to the
 * JSON. Gaussian works of variance sigma^2 and dissipation sigma^2 / 2 in kT obey Crooks' relation exactly.
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
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/base/units.h"
#include "engine/estimate/estimate.h"
#include "tests/lib/near.h"
#include "tests/lib/oscillators.h"

#define TEMPERATURE 298.15
#define KT (UNIT_R * TEMPERATURE)

static char forward_file[64], backward_file[64];

static void put_works(const char *path, const double *w, int n, double unit)
{
    FILE *f = fopen(path, "w");
    assert(f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%.12g\n", w[i] * unit);
    assert(!fclose(f));
}

/* An autoregressive Gaussian series. */
static void draw(double *w, int n, double mean, double sigma, double memory, uint64_t *seed)
{
    double y = random_normal(seed);
    for (int i = 0; i < n; i++) {
        w[i] = mean + sigma * y;
        y = memory * y + sqrt(1 - memory * memory) * random_normal(seed);
    }
}

static json_t *estimate(const char *forward, const char *backward, double unit, struct err *e)
{
    char *f[] = {(char *)forward}, *b[] = {(char *)backward};
    const struct estimate_switches q = {
        .paths = {f, b}, .n = {forward != NULL, backward != NULL}, .temperature = TEMPERATURE, .unit = unit};
    struct buf text = {0};
    bool answered;
    if (estimate_switches(&q, &text, &answered, e))
        return NULL;
    json_t *r = json_loadb(text.data, text.len, 0, NULL);
    assert_non_null(r);
    assert_int_equal(answered, json_is_object(json_object_get(r, "estimate")));
    buf_free(&text);
    return r;
}

/* From two files of works in kJ/mol. */
static json_t *from_files(void)
{
    struct err e = {0};
    json_t *r = estimate(forward_file, backward_file, 1, &e);
    assert_string_equal(e.msg, "");
    return r;
}

static json_t *from_works(const double *f, int nf, const double *b, int nb)
{
    put_works(forward_file, f, nf, KT);
    put_works(backward_file, b, nb, KT);
    return from_files();
}

static const json_t *at(const json_t *j, const char *path)
{
    char text[200], *rest = NULL;
    snprintf(text, sizeof text, "%s", path);
    for (char *key = strtok_r(text, ".", &rest); key; key = strtok_r(NULL, ".", &rest))
        j = json_is_array(j) ? json_array_get(j, (size_t)atoi(key)) : json_object_get(j, key);
    return j;
}

static double number(const json_t *j, const char *path)
{
    const json_t *value = at(j, path);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* The total of an estimator in kT: 0 BAR, 1 and 2 Jarzynski forward and backward, 3 the Gaussian intersection. */
static double total(const json_t *r, int which, const char *what)
{
    char path[100];
    snprintf(path, sizeof path, "estimators.%d.total.kT.%s", which, what);
    return number(r, path);
}

static const char *verdict(const json_t *r, int which)
{
    char path[100];
    snprintf(path, sizeof path, "estimators.%d.verdict.verdict", which);
    return json_string_value(at(r, path));
}

static bool has_reason(const json_t *r, int which, const char *code)
{
    char path[100];
    const json_t *reason;
    size_t i;
    bool has = false;
    snprintf(path, sizeof path, "estimators.%d.verdict.reasons", which);
    json_array_foreach (at(r, path), i, reason)
        has |= !strcmp(json_string_value(json_object_get(reason, "code")), code);
    return has;
}

enum { MOST = 4000 };
static double f[MOST], b[MOST];

static void draw_both(double dg, double sigma, int nf, int nb, double memory, uint64_t seed)
{
    draw(f, nf, dg + 0.5 * sigma * sigma, sigma, memory, &seed);
    draw(b, nb, -dg + 0.5 * sigma * sigma, sigma, memory, &seed);
}

static void test_gaussian(void **state)
{
    draw_both(-7, 1.5, MOST, MOST, 0, 31);
    json_t *r = from_works(f, MOST, b, MOST);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(verdict(r, i), "converged");
        near(total(r, i, "value"), -7, 4 * total(r, i, "error"));
        assert_true(total(r, i, "error") < 0.1);
    }
    near(number(r, "estimate.magnitude"), total(r, 0, "value") * KT / UNIT_KCAL, 1e-9);
    near(number(r, "switching.forward.dissipated.kT.value"), 1.125, 0.1);
    near(number(r, "switching.backward.dissipated.kT.value"), 1.125, 0.1);
    near(number(r, "switching.forward.deviation.kT.value"), 1.5, 0.06);
    near(number(r, "switching.hysteresis.kT.value"), 2.25, 0.15);
    near(number(r, "switching.slope.value"), 1, 4 * number(r, "switching.slope.error"));
    assert_true(number(r, "switching.slope.error") < 0.05);
    assert_string_equal(json_string_value(at(r, "estimator")), "BAR");
    assert_string_equal(json_string_value(at(r, "status")), "ok");
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
    json_t *r = from_works(f, 2000, b, 2000);
    assert_true(expected > 1 && expected < 8);
    near(total(r, 0, "value"), 0, 4 * total(r, 0, "error"));
    assert_string_equal(verdict(r, 0), "converged");
    const double mean = number(r, "switching.forward.mean.kT.value");
    near(mean, expected, 4 * number(r, "switching.forward.mean.kT.error"));
    near(pow(number(r, "switching.backward.deviation.kT.value"), 2), 2 * expected, 0.1 * 2 * expected);
    json_decref(r);
}

static void test_unequal_numbers(void **state)
{
    draw_both(5, 1.5, 60, MOST, 0, 5);
    json_t *r = from_works(f, 60, b, MOST);
    near(total(r, 0, "value"), 5, 4 * total(r, 0, "error"));
    assert_string_equal(verdict(r, 0), "converged");
    assert_int_equal((int)number(r, "switching.forward.works"), 60);
    json_decref(r);
}

static void test_correlated(void **state)
{
    draw_both(5, 1.5, 2000, 2000, 0.9, 8);
    json_t *r = from_works(f, 2000, b, 2000);
    near(number(r, "switching.forward.inefficiency"), 19, 8);
    near(total(r, 0, "value"), 5, 4 * total(r, 0, "error"));
    assert_non_null(strstr(json_string_value(at(r, "warnings.0")), "correlated"));
    json_decref(r);
    r = from_works(f, 100, b, 100); /* of which some five are independent */
    assert_string_equal(verdict(r, 0), "unconverged");
    assert_true(has_reason(r, 0, "few_samples"));
    json_decref(r);
}

static void test_mixed_up(void **state)
{
    draw_both(2, 1.5, 500, 500, 0, 9);
    for (int i = 0; i < 500; i++) /* both signs are those of work that is taken out */
        f[i] *= -1, b[i] *= -1;
    json_t *r = from_works(f, 500, b, 500);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(verdict(r, i), "failed");
        assert_true(has_reason(r, i, "second_law"));
    }
    assert_true(json_is_null(at(r, "estimate")));
    json_decref(r);
    draw_both(2, 1.5, 500, 500, 0, 9);
    for (int i = 0; i < 500; i++) /* backward works with the forward sign */
        b[i] *= -1;
    r = from_works(f, 500, b, 500);
    assert_string_equal(verdict(r, 0), "unconverged");
    assert_true(has_reason(r, 0, "crooks"));
    json_decref(r);
    draw_both(2, 1.5, 500, 500, 0, 9);
    r = from_works(f, 500, f, 500); /* the same way twice */
    assert_string_equal(verdict(r, 0), "unconverged");
    json_decref(r);
    struct err e = {0};
    assert_null(estimate(forward_file, forward_file, 1, &e));
    assert_non_null(strstr(e.msg, "given as forward and as backward"));
}

static void test_wrong_unit(void **state)
{
    struct err e = {0};
    draw_both(2, 1.5, 500, 500, 0, 10);
    put_works(forward_file, f, 500, KT / UNIT_KCAL);
    put_works(backward_file, b, 500, KT / UNIT_KCAL);
    json_t *r = from_files();
    assert_true(has_reason(r, 0, "crooks"));
    json_decref(r);
    r = estimate(forward_file, backward_file, UNIT_KCAL, &e);
    near(total(r, 0, "value"), 2, 4 * total(r, 0, "error"));
    assert_string_equal(verdict(r, 0), "converged");
    json_decref(r);
}

static void test_no_overlap(void **state)
{
    draw_both(2, 8, 300, 300, 0, 11);
    json_t *r = from_works(f, 300, b, 300);
    assert_string_equal(verdict(r, 0), "failed");
    assert_true(has_reason(r, 0, "disconnected"));
    assert_true(json_is_null(at(r, "estimate")) && json_is_null(at(r, "estimator")));
    for (int i = 1; i < 4; i++)
        assert_string_equal(verdict(r, i), "unconverged");
    json_decref(r);
    draw_both(2, 4.6, 1000, 1000, 0, 12);
    r = from_works(f, 1000, b, 1000);
    assert_true(has_reason(r, 0, "overlap"));
    assert_true(has_reason(r, 1, "tail") && has_reason(r, 2, "tail"));
    json_decref(r);
}

static void test_one_way(void **state)
{
    struct err e = {0};
    draw_both(2, 0.7, MOST, 10, 0, 13);
    put_works(forward_file, f, MOST, KT);
    json_t *r = estimate(forward_file, NULL, 1, &e);
    assert_string_equal(json_string_value(at(r, "estimator")), "Jarzynski forward");
    assert_string_equal(json_string_value(at(r, "status")), "partial");
    assert_string_equal(json_string_value(at(r, "verdict.verdict")), "unconverged");
    assert_true(has_reason(r, 1, "unchecked") && has_reason(r, 0, "no_samples"));
    near(total(r, 1, "value"), 2, 0.1);
    json_decref(r);
    r = estimate(NULL, forward_file, 1, &e);
    near(total(r, 2, "value"), -2, 0.1);
    json_decref(r);
}

static void test_few(void **state)
{
    static const int few[] = {12, 36}; /* of 36 each way has enough, but the error is not known well */
    for (int i = 0; i < 2; i++) {
        draw_both(2, 1, few[i], few[i], 0, 14);
        json_t *r = from_works(f, few[i], b, few[i]);
        assert_string_equal(verdict(r, 0), "unconverged");
        assert_true(has_reason(r, 0, "few_samples"));
        json_decref(r);
    }
}

static void test_nonfinite(void **state)
{
    draw_both(2, 1, 400, 400, 0, 15);
    f[7] = NAN;
    json_t *r = from_works(f, 400, b, 400);
    assert_int_equal((int)number(r, "switching.forward.nonfinite"), 1);
    assert_non_null(strstr(json_string_value(at(r, "warnings.0")), "not finite"));
    assert_string_equal(verdict(r, 0), "converged");
    json_decref(r);
    for (int i = 0; i < 10; i++)
        b[i] = INFINITY;
    r = from_works(f, 400, b, 400);
    assert_true(has_reason(r, 0, "nonfinite"));
    json_decref(r);
}

static void test_drift(void **state)
{
    draw_both(2, 1, 1000, 1000, 0, 16);
    for (int i = 0; i < 1000; i++) { /* ends that relax along the order of snapshots */
        f[i] += 2 * exp(-i / 100.0);
        b[i] -= 2 * exp(-i / 100.0);
    }
    json_t *r = from_works(f, 1000, b, 1000);
    assert_string_equal(verdict(r, 0), "unconverged");
    assert_true(has_reason(r, 0, "drift"));
    json_decref(r);
    draw_both(2, 1, 100, 100, 0, 16);
    for (int i = 50; i < 100; i++) { /* an end that goes elsewhere half-way */
        f[i] += 4;
        b[i] -= 4;
    }
    r = from_works(f, 100, b, 100);
    assert_string_equal(verdict(r, 0), "unconverged");
    assert_true(total(r, 0, "error") > 1); /* kT: the two parts are 4 apart */
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
    json_t *r = from_works(f, MOST, b, MOST);
    near(total(r, 0, "value"), log(2), 4 * total(r, 0, "error"));
    assert_string_equal(verdict(r, 0), "converged");
    assert_string_equal(verdict(r, 3), "unconverged");
    assert_true(has_reason(r, 3, "not_gaussian"));
    json_decref(r);
}

/* As pmx writes them: names and works, backward ones with the sign of the forward direction. */
static void test_pmx(void **state)
{
    draw_both(2, 1, 400, 400, 0, 17);
    put_works(forward_file, f, 400, KT);
    FILE *out = fopen(backward_file, "w");
    assert_non_null(out);
    fprintf(out, "# works\n");
    for (int i = 0; i < 400; i++)
        fprintf(out, "run/dhdl%d.xvg %.12g\n", i, -b[i] * KT);
    assert_false(fclose(out));
    json_t *pmx = from_files();
    assert_non_null(strstr(json_string_value(at(pmx, "warnings.0")), "pmx"));
    json_t *plain = from_works(f, 400, b, 400);
    assert_true(json_equal(at(pmx, "estimators"), at(plain, "estimators")));
    json_decref(pmx);
    json_decref(plain);
}

/* dhdl.xvg of slow growth as GROMACS 2022 writes it: no legend, and a subtitle that says the temperature alone. Along
 * time t of the switch from 0 to 1, dH/dlambda is a + 3 curve s^2 in kJ/mol, s the share of the switch. */
static void put_part(const char *path, double a, double curve, int rows, double length, double begin)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "# comment\n@    title \"dH/d\\xl\\f{}\"\n@    xaxis  label \"Time (ps)\"\n"
            "@    yaxis  label \"dH/d\\xl\\f{} (kJ/mol [\\xl\\f{}]\\S-1\\N)\"\n@TYPE xy\n"
            "@ subtitle \"T = 298.15 (K) \"\n");
    for (int i = 0; i < rows; i++) {
        const double s = i / (rows - 1.0);
        fprintf(out, "%.4f %.10g\n", begin + length * s, a + 3 * curve * s * s);
    }
    assert_false(fclose(out));
}

static void put_slow_growth(const char *path, double a, double curve, int rows, double length)
{
    put_part(path, a, curve, rows, length, 0);
}

enum { SWITCHES = 40 };

/* dhdl of SWITCHES switches of one way, whose works are w in kT. */
static void put_switches(char names[SWITCHES][80], char **paths, const char *stem, const double *w, int rows,
                         double curve)
{
    for (int i = 0; i < SWITCHES; i++) {
        snprintf(names[i], 80, "%s-%d.xvg", stem, i);
        paths[i] = names[i];
        put_slow_growth(names[i], w[i] * KT - curve, curve, rows, 50);
    }
}

static json_t *from_switches(char **f_paths, char **b_paths, struct err *e)
{
    const struct estimate_switches q = {.paths = {f_paths, b_paths}, .n = {SWITCHES, SWITCHES}, .unit = 1};
    struct buf text = {0};
    bool answered;
    json_t *r = NULL;
    if (!estimate_switches(&q, &text, &answered, e))
        r = json_loadb(text.data, text.len, 0, NULL);
    buf_free(&text);
    return r;
}

/* Work is the integral of dH/dlambda along the path of the switch: that of a backward one has the other sign. */
static void test_slow_growth(void **state)
{
    static char f_names[SWITCHES][80], b_names[SWITCHES][80];
    char *f_paths[SWITCHES], *b_paths[SWITCHES];
    struct err e = {0};
    double mirrored[SWITCHES];
    draw_both(2, 1, SWITCHES, SWITCHES, 0, 19);
    for (int i = 0; i < SWITCHES; i++)
        mirrored[i] = -b[i];
    put_switches(f_names, f_paths, forward_file, f, 501, 1);
    put_switches(b_names, b_paths, backward_file, mirrored, 501, 1);
    json_t *works = from_works(f, SWITCHES, b, SWITCHES), *r = from_switches(f_paths, b_paths, &e);
    assert_string_equal(e.msg, "");
    for (int i = 0; i < 4; i++)
        near(total(r, i, "value"), total(works, i, "value"), 1e-5);
    near(number(r, "temperature.magnitude"), TEMPERATURE, 1e-9);
    near(number(r, "switching.forward.length.magnitude"), 0.05, 1e-9);
    assert_false(has_reason(r, 0, "quadrature"));
    json_decref(r);
    put_slow_growth(f_names[3], 1e4, 1, 250, 25); /* it ended half-way */
    put_slow_growth(f_names[4], 1e4, 1, 2, 0.1);
    r = from_switches(f_paths, b_paths, &e);
    assert_int_equal((int)number(r, "switching.forward.incomplete"), 2);
    assert_int_equal((int)number(r, "switching.forward.works"), SWITCHES - 2);
    assert_true(has_reason(r, 0, "incomplete"));
    assert_true(fabs(total(r, 0, "value") - 2) < 1);
    json_decref(r);
    for (int steep = 0; steep < 2; steep++) { /* rows too far apart for the curve: a little in the mean, or much */
        put_switches(f_names, f_paths, forward_file, f, 5, steep ? 20 : 10);
        r = from_switches(f_paths, b_paths, &e);
        assert_true(has_reason(r, 0, "quadrature"));
        json_decref(r);
    }
    for (int i = 0; i < SWITCHES; i++) { /* not in the mean, but from switch to switch */
        const double curve = i % 2 ? 30 : -30;
        put_slow_growth(f_names[i], f[i] * KT - curve, curve, 5, 50);
    }
    r = from_switches(f_paths, b_paths, &e);
    assert_true(has_reason(r, 0, "quadrature"));
    json_decref(r);
    put_part(f_names[5], 1, 0, 11, 50, 50);
    assert_null(from_switches(f_paths, b_paths, &e));
    assert_non_null(strstr(e.msg, "begins at 50 ps, other switches at 0 ps"));
    put_slow_growth(f_names[5], 1, 0, 11, 50);
    f_paths[5] = f_names[6];
    assert_null(from_switches(f_paths, b_paths, &e));
    assert_non_null(strstr(e.msg, "-6.xvg: given twice"));
    f_paths[5] = f_names[5];
    for (int i = 0; i < SWITCHES; i++)
        put_slow_growth(b_names[i], 1, 0, 101, 20);
    assert_null(from_switches(f_paths, b_paths, &e));
    assert_non_null(strstr(e.msg, "forward switches last 50 ps, backward ones 20 ps"));
    for (int i = 0; i < SWITCHES; i++) {
        unlink(f_names[i]);
        unlink(b_names[i]);
    }
    json_decref(works);
}

/* One dhdl.xvg of a forward switch with such lines of a header. */
static void put_header(const char *path, const char *subtitle, const char *legend)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "@ subtitle \"%s\"\n@ s0 legend \"dH/d\\xl\\f{} %s\"\n0 1\n1 1\n2 1\n3 1\n", subtitle, legend);
    assert_false(fclose(out));
}

/* What headers say must fit together: temperature, lambda. */
static void test_headers(void **state)
{
    static const struct {
        const char *subtitle, *legend, *message;
        double temperature;
    } bad[] = {
        {"T = 300 (K) ", "fep-lambda = 1.0000", "lambda begins at 1, expected 0 of a forward switch", 0},
        {"T = 300 (K) ", "fep-lambda = 0.0000", "temperature 300 K, but --temperature is 310", 310},
        {"T = 310 (K) ", "fep-lambda = 0.0000", "temperature 310 K, but", 0},
        {"T = 300 (K) state 0: fep-lambda = 0.0000", "fep-lambda = 0.0000", "names one state", 0},
        {"", "fep-lambda = 0.0000", "expected --temperature K", 0},
    };
    char one[80], other[80], *paths[] = {one, other};
    snprintf(one, sizeof one, "%s-one.xvg", forward_file);
    snprintf(other, sizeof other, "%s-other.xvg", forward_file);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct estimate_switches q = {.paths = {paths}, .n = {2}, .temperature = bad[i].temperature, .unit = 1};
        struct err e = {0};
        struct buf text = {0};
        bool answered;
        put_header(one, *bad[i].subtitle ? "T = 300 (K) " : "", "fep-lambda = 0.0000");
        put_header(other, bad[i].subtitle, bad[i].legend);
        assert_int_not_equal(estimate_switches(&q, &text, &answered, &e), 0);
        assert_non_null(strstr(e.msg, bad[i].message));
    }
    unlink(one);
    unlink(other);
}

/* Files that are refused, and where. */
static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"1\n2\nthree\n", ":3: read \"three\""},      {"1\na 2\n", ":2: read \"a 2\""},
        {"1 2\n3 4\n", ":1: read \"1 2\""},           {"a 2 3\n", ":1: read \"a 2\""},
        {"@ title \"x\"\n", "files with dH/dlambda"},
    };
    draw_both(2, 1, 10, 10, 0, 18);
    put_works(backward_file, b, 10, KT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        FILE *out = fopen(forward_file, "w");
        assert_true(out && fputs(bad[i].text, out) >= 0 && !fclose(out));
        assert_null(estimate(forward_file, backward_file, 1, &e));
        assert_int_equal(e.code, ERR_UNSUPPORTED);
        assert_non_null(strstr(e.msg, bad[i].message));
    }
    struct err e = {0};
    assert_null(estimate("/nonexistent/works.dat", backward_file, 1, &e));
    assert_int_equal(e.code, ERR_MISSING_FILE);
}

/* Errors are those that are made: over many sets of works. */
static void calibrate(int n, double sigma, double memory, int least_converged)
{
    enum { SETS = 200 };
    int one = 0, two = 0, converged = 0;
    for (int i = 0; i < SETS; i++) {
        draw_both(3, sigma, n, n, memory, (uint64_t)(1000003 * i + n));
        json_t *r = from_works(f, n, b, n);
        const double off = fabs(total(r, 0, "value") - 3), error = total(r, 0, "error");
        one += off < error;
        two += off < 2 * error;
        converged += !strcmp(verdict(r, 0), "converged");
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

static int begin(void **state)
{
    snprintf(forward_file, sizeof forward_file, "/tmp/switching-forward-%d", (int)getpid());
    snprintf(backward_file, sizeof backward_file, "/tmp/switching-backward-%d", (int)getpid());
    return 0;
}

static int end(void **state)
{
    unlink(forward_file);
    unlink(backward_file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),   cmocka_unit_test(test_harmonic),    cmocka_unit_test(test_unequal_numbers),
        cmocka_unit_test(test_correlated), cmocka_unit_test(test_mixed_up),    cmocka_unit_test(test_wrong_unit),
        cmocka_unit_test(test_no_overlap), cmocka_unit_test(test_one_way),     cmocka_unit_test(test_few),
        cmocka_unit_test(test_nonfinite),  cmocka_unit_test(test_drift),       cmocka_unit_test(test_not_gaussian),
        cmocka_unit_test(test_headers),    cmocka_unit_test(test_pmx),         cmocka_unit_test(test_slow_growth),
        cmocka_unit_test(test_bad_files),  cmocka_unit_test(test_calibration),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
