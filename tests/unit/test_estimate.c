/* SPDX-License-Identifier: Apache-2.0
 *
 * results.json of whole ensembles of harmonic oscillators: values, status, failed windows, bytes.
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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/base/units.h"
#include "engine/estimate/estimate.h"
#include "tests/lib/oscillators.h"

#define STATES 6
#define TEMPERATURE 298.15

/* coulomb first, then vdw: two legs */
static const double path[STATES * 2] = {0, 0, 0.5, 0, 1, 0, 1, 0.3, 1, 0.6, 1, 1};
static const struct ladder_of_oscillators legs = {.nstates = STATES,
                                                  .ncomponents = 2,
                                                  .lambda = path,
                                                  .a0 = 1,
                                                  .c0 = 0,
                                                  .da = {2, 6},
                                                  .dc = {0.5, -1},
                                                  .component = {DHDL_COUL, DHDL_VDW},
                                                  .memory = 0.6};

struct ensemble {
    char folder[64];
    double lambda[STATES][LAMBDA_COUNT];
    struct settings set;
    struct estimate_replica states[STATES];
};

static void write_file(const struct ensemble *x, int window, const char *name, const struct buf *text)
{
    char file[128];
    struct err e;
    snprintf(file, sizeof file, "%s/lambda_%02d", x->folder, window);
    mkdir(file, 0755);
    snprintf(file, sizeof file, "%s/lambda_%02d/%s", x->folder, window, name);
    if (buf_write_file(file, text->data, text->len, &e))
        fail_msg("%s", e.msg);
}

static void make(struct ensemble *x, int samples)
{
    *x = (struct ensemble){.folder = "/tmp/shoal-test-XXXXXX"};
    assert_non_null(mkdtemp(x->folder));
    for (int k = 0; k < STATES; k++) {
        struct buf b = {0};
        x->lambda[k][LAMBDA_COULOMB] = path[2 * k];
        x->lambda[k][LAMBDA_VDW] = path[2 * k + 1];
        oscillators_file(&b, &legs, k, samples, TEMPERATURE, 100 + (uint64_t)k);
        write_file(x, k, "dhdl.xvg", &b);
        b.len = 0;
        buf_printf(&b, "@ s0 legend \"Potential (kJ/mol)\"\n");
        for (int i = -5; i < 20; i++) /* the rows before time 0 are of earlier stages */
            buf_printf(&b, "%.4f %.4f\n", 10.0 * i, i < 0 ? 1e6 : k + 0.01 * ((i * 7) % 5 - 2));
        write_file(x, k, "energy.xvg", &b);
        buf_free(&b);
    }
    x->set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_DECOUPLE,
                                               .decouple = "OSC",
                                               .nwindows = STATES,
                                               .lambda = x->lambda,
                                               .given = {[LAMBDA_COULOMB] = true, [LAMBDA_VDW] = true}};
    x->set.integrator.temperature = TEMPERATURE;
}

static void drop(struct ensemble *x)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", x->folder);
    assert_int_equal(system(command), 0);
}

static json_t *estimate(const struct ensemble *x, struct buf *text)
{
    struct buf b = {0};
    json_error_t why;
    struct err e;
    struct estimate_ensemble q = {.directory = x->folder,
                                  .set = &x->set,
                                  .repeats = 1,
                                  .replicas = x->states,
                                  .about = {.id = "0123", .name = "oscillators", .ns_per_day = 2.5}};
    assert_int_equal(estimate_ensemble(&q, &b, &e), 0);
    json_t *r = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &why);
    if (!r)
        fail_msg("line %d: %s", why.line, why.text);
    if (text)
        *text = b;
    else
        buf_free(&b);
    return r;
}

/* A value by a path of keys and indices: "estimators.0.total.kT.value". */
static json_t *at(json_t *r, const char *where)
{
    char *copy = strdup(where), *save = NULL;
    for (char *key = strtok_r(copy, ">", &save); key; key = strtok_r(NULL, ">", &save))
        r = json_is_array(r) ? json_array_get(r, (size_t)atoi(key)) : json_object_get(r, key);
    free(copy);
    if (!r)
        fail_msg("no %s", where);
    return r;
}

static double number(json_t *r, const char *where)
{
    assert_true(json_is_number(at(r, where)));
    return json_number_value(at(r, where));
}

static const char *words(json_t *r, const char *where)
{
    return json_string_value(at(r, where));
}

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g, expected %.12g within %g", value, expected, tolerance);
}

static void test_two_legs(void **state)
{
    struct ensemble x;
    struct buf text;
    const double exact = oscillators_exact(&legs, STATES - 1), kt = UNIT_R * TEMPERATURE;
    make(&x, 4000);
    json_t *r = estimate(&x, &text);
    assert_memory_equal(text.data, "{\n \"estimate\": {", 16); /* within the first 20 bytes */
    assert_string_equal(words(r, "status"), "ok");
    assert_true(json_is_null(at(r, "reason")));
    assert_string_equal(words(r, "estimator"), "MBAR");
    assert_string_equal(words(r, "quantity"), "G(window 5) - G(window 0)");
    near(number(r, "estimate>magnitude"), exact * kt / UNIT_KCAL, 4 * number(r, "uncertainty>magnitude"));
    assert_true(number(r, "uncertainty>magnitude") < 0.05 && number(r, "uncertainty>magnitude") > 0.005);
    near(number(r, "solvation>free_energy>kT>value"), -number(r, "estimators>0>total>kT>value"), 1e-12);
    near(number(r, "solvation>free_energy>kJ/mol>value"), -UNIT_KCAL * number(r, "estimate>magnitude"), 1e-9);
    for (size_t i = 0; i < 3; i++) {
        json_t *e = json_array_get(at(r, "estimators"), i);
        double bias = i == 2 ? 0.15 : 0;
        assert_string_equal(words(e, "status"), "ok");
        near(number(e, "total>kT>value"), exact, 4 * number(e, "total>kT>error") + bias);
        assert_int_equal(json_array_size(at(e, "legs")), 2);
        assert_string_equal(words(e, "legs>0>name"), "coulomb");
        assert_string_equal(words(e, "legs>1>name"), "vdw");
        assert_int_equal(number(e, "legs>0>to"), 2);
        assert_int_equal(number(e, "legs>1>from"), 2);
        near(number(e, "legs>0>free_energy>kT>value"), oscillators_exact(&legs, 2),
             4 * number(e, "legs>0>free_energy>kT>error") + bias);
        near(number(e, "legs>0>free_energy>kT>value") + number(e, "legs>1>free_energy>kT>value"),
             number(e, "total>kT>value"), 1e-10);
        double sum = 0;
        for (size_t k = 0; k < STATES - 1; k++)
            sum += number(json_array_get(at(e, "steps"), k), "free_energy>kT>value");
        near(sum, number(e, "total>kT>value"), 1e-10);
        near(number(e, "cumulative>5>free_energy>kcal/mol>value"), number(e, "total>kJ/mol>value") / UNIT_KCAL, 1e-10);
        near(number(e, "cumulative>0>free_energy>kT>value"), 0, 0);
    }
    assert_int_equal(json_array_size(at(r, "convergence")), 10);
    near(number(r, "convergence>9>forward"), number(r, "estimators>0>total>kJ/mol>value"), 1e-9);
    near(number(r, "convergence>9>backward"), number(r, "estimators>0>total>kJ/mol>value"), 1e-9);
    assert_true(number(r, "convergence>0>forward_error") > 2 * number(r, "convergence>9>forward_error"));
    for (size_t k = 0; k < STATES; k++) {
        json_t *w = json_array_get(at(r, "windows"), k);
        assert_int_equal(number(w, "samples>read"), 4000);
        near(number(w, "samples>inefficiency"), 3, 1.7); /* between g of x^2 (2.1) and of x (4) */
        near(number(w, "averages>Potential (kJ/mol)>value"), (double)k, 0.02);
    }
    assert_int_equal(json_array_size(at(r, "overlap>matrix")), STATES);
    assert_true(number(r, "overlap>minimum") > 0.03);
    assert_int_equal(json_array_size(at(r, "warnings")), 0);
    json_decref(r);
    buf_free(&text);
    drop(&x);
}

/* Equal files, equal bytes, wherever they lie. */
static void test_bytes(void **state)
{
    struct ensemble x, y;
    struct buf a, b;
    make(&x, 200);
    make(&y, 200);
    unlink(strcat(strcpy((char[128]){0}, x.folder), "/lambda_03/energy.xvg"));
    unlink(strcat(strcpy((char[128]){0}, y.folder), "/lambda_03/energy.xvg"));
    json_decref(estimate(&x, &a));
    json_decref(estimate(&y, &b));
    assert_string_equal(a.data, b.data);
    assert_non_null(strstr(a.data, "\"window 3: no averages: lambda_03/energy.xvg: No such file or directory\""));
    buf_free(&a);
    buf_free(&b);
    drop(&x);
    drop(&y);
}

static void spoil(const struct ensemble *x, int window, const char *text)
{
    struct buf b = {0};
    buf_printf(&b, "%s", text);
    write_file(x, window, "dhdl.xvg", &b);
    buf_free(&b);
}

static void test_failed_windows(void **state)
{
    struct ensemble x;
    const double exact = oscillators_exact(&legs, STATES - 1);
    make(&x, 3000);
    x.states[1] = (struct estimate_replica){.kind = ESTIMATE_FAILED, .reason = "blew up at step 7"};
    x.states[3] = (struct estimate_replica){.kind = ESTIMATE_PARTIAL, .reason = "cancelled"};
    spoil(&x, 4, "@ s0 legend\n");
    json_t *r = estimate(&x, NULL);
    assert_string_equal(words(r, "status"), "partial");
    assert_string_equal(words(r, "reason"), "windows 1, 4 took no part; window 3 stopped early");
    assert_string_equal(words(r, "windows>1>reason"), "blew up at step 7");
    assert_string_equal(words(r, "windows>4>status"), "failed");
    assert_string_equal(words(r, "windows>4>reason"),
                        "lambda_04/dhdl.xvg:1: legend of s0: expected a text in double quotes");
    assert_string_equal(words(r, "windows>3>status"), "partial");
    near(number(r, "estimators>0>total>kT>value"), exact, 4 * number(r, "estimators>0>total>kT>error"));
    near(number(r, "estimators>1>total>kT>value"), exact, 4 * number(r, "estimators>1>total>kT>error"));
    assert_true(json_is_null(at(r, "estimators>1>steps>0>free_energy")));   /* BAR has no window 1 */
    assert_true(json_is_object(at(r, "estimators>0>steps>0>free_energy"))); /* MBAR reaches it by reweighting */
    assert_int_equal(number(r, "overlap>neighbours>0>to"), 2);
    json_decref(r);
    /* an end is missing: MBAR alone has a value */
    x.states[5] = (struct estimate_replica){.kind = ESTIMATE_FAILED};
    r = estimate(&x, NULL);
    assert_string_equal(words(r, "estimators>1>status"), "failed");
    assert_string_equal(words(r, "estimators>1>reason"), "the first or the last window has no samples");
    assert_string_equal(words(r, "estimators>2>status"), "failed");
    assert_string_equal(words(r, "estimator"), "MBAR");
    json_decref(r);
    /* nothing left */
    for (int k = 0; k < STATES; k++)
        x.states[k] = (struct estimate_replica){.kind = ESTIMATE_FAILED, .reason = "worker crashed"};
    r = estimate(&x, NULL);
    assert_string_equal(words(r, "status"), "failed");
    assert_true(json_is_null(at(r, "estimate")) && json_is_null(at(r, "uncertainty")));
    assert_string_equal(words(r, "estimators>0>reason"), "MBAR: no window has samples");
    json_decref(r);
    drop(&x);
}

static int count_warnings(json_t *r, const char *part)
{
    int n = 0;
    size_t i;
    json_t *w;
    json_array_foreach (at(r, "warnings"), i, w)
        n += strstr(json_string_value(w), part) != NULL;
    return n;
}

/* MBAR cannot connect the windows: BAR's and TI's values are there, with the reason. */
static void test_fallback(void **state)
{
    struct ensemble x;
    struct ladder_of_oscillators apart = legs;
    make(&x, 100);
    apart.dc[0] = 400;
    for (int k = 0; k < STATES; k++) {
        struct buf b = {0};
        oscillators_file(&b, &apart, k, 100, TEMPERATURE, 9);
        write_file(&x, k, "dhdl.xvg", &b);
        buf_free(&b);
    }
    json_t *r = estimate(&x, NULL);
    assert_string_equal(words(r, "status"), "partial");
    assert_string_equal(words(r, "estimator"), "BAR");
    assert_non_null(strstr(words(r, "reason"), "MBAR"));
    assert_string_equal(words(r, "estimators>0>status"), "failed");
    assert_string_equal(words(r, "estimators>2>status"), "ok");
    assert_true(json_is_null(at(r, "overlap")));
    assert_int_equal(json_array_size(at(r, "convergence")), 0);
    assert_int_equal(count_warnings(r, "windows 1 and 2 hardly overlap"), 1);
    json_decref(r);
    drop(&x);
}

static void refused(struct ensemble *x, const char *reason)
{
    json_t *r = estimate(x, NULL);
    assert_string_equal(words(r, "windows>2>status"), "failed");
    assert_string_equal(words(r, "windows>2>reason"), reason);
    json_decref(r);
}

/* Files of another window, ladder or temperature take no part. */
static void test_foreign_files(void **state)
{
    struct ensemble x;
    struct buf b = {0};
    struct ladder_of_oscillators other = legs;
    double lambda[STATES * 2];
    make(&x, 60);
    oscillators_file(&b, &legs, 1, 60, TEMPERATURE, 1);
    write_file(&x, 2, "dhdl.xvg", &b);
    refused(&x, "lambda_02/dhdl.xvg: samples of state 1, expected 2");
    b.len = 0;
    oscillators_file(&b, &legs, 2, 60, 310, 1);
    write_file(&x, 2, "dhdl.xvg", &b);
    refused(&x, "lambda_02/dhdl.xvg: temperature 310 K, expected 298.15 K");
    b.len = 0;
    oscillators_header(&b, &legs, 2, TEMPERATURE);
    write_file(&x, 2, "dhdl.xvg", &b);
    refused(&x, "lambda_02/dhdl.xvg: no samples");
    memcpy(lambda, path, sizeof path);
    lambda[9] = 0.61;
    other.lambda = lambda;
    b.len = 0;
    oscillators_file(&b, &other, 2, 60, TEMPERATURE, 1);
    write_file(&x, 2, "dhdl.xvg", &b);
    refused(&x, "lambda_02/dhdl.xvg: vdw of state 4 is 0.6100, expected 0.6000");
    other.nstates = 5;
    b.len = 0;
    oscillators_file(&b, &other, 2, 60, TEMPERATURE, 1);
    write_file(&x, 2, "dhdl.xvg", &b);
    refused(&x, "lambda_02/dhdl.xvg: energy differences to 5 states, expected 6");
    other = legs;
    other.component[1] = DHDL_BONDED;
    b.len = 0;
    oscillators_file(&b, &other, 2, 60, TEMPERATURE, 1);
    write_file(&x, 2, "dhdl.xvg", &b);
    refused(&x, "lambda_02/dhdl.xvg: its lambda components are not those of the ensemble");
    buf_free(&b);
    drop(&x);
}

static void test_warnings(void **state)
{
    struct ensemble x;
    struct buf b = {0};
    make(&x, 2000);
    oscillators_file(&b, &legs, 2, 40, TEMPERATURE, 1);
    buf_printf(&b, "50.0000 nan 1 1 1 1 1 1 1 1\n60.0000 1.0 2.");
    write_file(&x, 2, "dhdl.xvg", &b);
    json_t *r = estimate(&x, NULL);
    assert_int_equal(number(r, "windows>2>samples>read"), 41);
    assert_int_equal(number(r, "windows>2>samples>nonfinite"), 1);
    assert_int_equal(count_warnings(r, "window 2: 1 of 41 samples are not finite and were dropped"), 1);
    assert_int_equal(count_warnings(r, "window 2: the last line of dhdl.xvg is not whole and was left out"), 1);
    assert_int_equal(count_warnings(r, "uncorrelated samples; errors are rough below 50"), 1);
    json_decref(r);
    struct ladder_of_oscillators apart = legs;
    apart.memory = 0;
    apart.dc[1] = 9;
    for (int k = 0; k < STATES; k++) {
        b.len = 0;
        oscillators_file(&b, &apart, k, 2000, TEMPERATURE, 9);
        write_file(&x, k, "dhdl.xvg", &b);
    }
    r = estimate(&x, NULL);
    assert_true(count_warnings(r, "below 0.03: put a window between them") >= 2);
    json_decref(r);
    buf_free(&b);
    drop(&x);
}

/* Windows at Gauss-Legendre nodes: a fourth estimator, from lambda 0 to 1. */
static void test_gauss_ladder(void **state)
{
    static const double nodes[3] = {0.1127, 0.5, 0.8873}, ends[2] = {0, 1};
    struct ladder_of_oscillators o = legs;
    struct ensemble x;
    make(&x, 10);
    o.nstates = 3;
    o.ncomponents = 1;
    o.lambda = nodes;
    for (int k = 0; k < 3; k++) {
        struct buf b = {0};
        x.lambda[k][LAMBDA_COULOMB] = nodes[k];
        oscillators_file(&b, &o, k, 4000, TEMPERATURE, (uint64_t)k);
        write_file(&x, k, "dhdl.xvg", &b);
        buf_free(&b);
    }
    x.set.alchemy.nwindows = 3;
    x.set.alchemy.given[LAMBDA_VDW] = false;
    json_t *r = estimate(&x, NULL);
    o.lambda = ends;
    assert_int_equal(json_array_size(at(r, "estimators")), 4);
    assert_string_equal(words(r, "estimators>3>name"), "TI-Gauss");
    near(number(r, "estimators>3>total>kT>value"), oscillators_exact(&o, 1),
         4 * number(r, "estimators>3>total>kT>error"));
    assert_true(json_is_null(at(r, "solvation"))); /* the end windows are not the ends */
    json_decref(r);
    drop(&x);
}

/* One window: averages only. */
static void test_single_window(void **state)
{
    struct ensemble x;
    make(&x, 10);
    x.set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_NONE, .nwindows = 1, .lambda = x.lambda};
    json_t *r = estimate(&x, NULL);
    assert_string_equal(words(r, "status"), "averages");
    assert_true(json_is_null(at(r, "estimate")));
    assert_int_equal(json_array_size(at(r, "estimators")), 0);
    near(number(r, "windows>0>averages>Potential (kJ/mol)>value"), 0, 0.02);
    json_decref(r);
    drop(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_legs),       cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_failed_windows), cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_foreign_files),  cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_single_window),  cmocka_unit_test(test_gauss_ladder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
