/* SPDX-License-Identifier: Apache-2.0
 *
 * results.json of whole ensembles of harmonic oscillators: values, legs, repeats, bytes.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/units.h"
#include "engine/estimate/estimators/visits.h"
#include "tests/lib/two_legs.h"

/* Exactly: with x - c = y / sqrt(a) and y normal, dH along a step is (da / 2 a) y^2 - sqrt(a) dc y. */
static double exact_deviation(int at_state, int from, int to)
{
    double a = legs.a0, da = 0, dc = 0;
    for (int c = 0; c < 2; c++) {
        double step = path[2 * to + c] - path[2 * from + c];
        a += legs.da[c] * path[2 * at_state + c];
        da += legs.da[c] * step;
        dc += legs.dc[c] * step;
    }
    return sqrt(0.5 * da * da / (a * a) + a * dc * dc);
}

/* Of steps that nothing was left out of. */
static void check_lengths(json_t *r)
{
    double total = 0;
    assert_int_equal(json_array_size(at(r, "thermodynamic_length>steps")), STATES - 1);
    for (int k = 0; k + 1 < STATES; k++) {
        json_t *step = json_array_get(at(r, "thermodynamic_length>steps"), (size_t)k);
        double first = exact_deviation(k, k, k + 1), second = exact_deviation(k + 1, k, k + 1);
        assert_int_equal(number(step, "from"), k);
        assert_int_equal(number(step, "to"), k + 1);
        near(number(step, "deviation_from"), first, 0.1 * first);
        near(number(step, "deviation_to"), second, 0.1 * second);
        near(number(step, "length"), 0.5 * (number(step, "deviation_from") + number(step, "deviation_to")), 1e-9);
        total += number(step, "length");
    }
    near(number(r, "thermodynamic_length>total"), total, 1e-9);
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
    assert_string_equal(words(r, "verdict>verdict"), "converged");
    assert_string_equal(words(r, "ensemble>id"), "0123");
    near(number(r, "ensemble>speed>magnitude"), 2.5, 0);
    near(number(r, "estimate>magnitude"), exact * kt / UNIT_KCAL, 4 * number(r, "uncertainty>magnitude"));
    assert_true(number(r, "uncertainty>magnitude") < 0.05 && number(r, "uncertainty>magnitude") > 0.005);
    near(number(r, "solvation>free_energy>kT>value"), -number(r, "estimators>0>total>kT>value"), 1e-12);
    near(number(r, "solvation>free_energy>kJ/mol>value"), -UNIT_KCAL * number(r, "estimate>magnitude"), 1e-9);
    assert_true(json_is_null(at(r, "standard_state")));
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
    near(number(r, "convergence>9>forward>kJ/mol>value"), number(r, "estimators>0>total>kJ/mol>value"), 1e-9);
    near(number(r, "convergence>9>backward>kJ/mol>value"), number(r, "estimators>0>total>kJ/mol>value"), 1e-9);
    assert_true(number(r, "convergence>0>forward>kT>error") > 2 * number(r, "convergence>9>forward>kT>error"));
    for (size_t k = 0; k < STATES; k++) {
        json_t *w = json_array_get(at(r, "windows"), k);
        assert_int_equal(number(w, "samples>read"), 4000);
        assert_int_equal(number(w, "samples>used") + number(w, "samples>discarded"), 4000);
        near(number(w, "samples>inefficiency"), 3, 1.7);   /* between g of x^2 (2.1) and of x (4) */
        near(number(w, "sampled>magnitude"), 3.999, 1e-9); /* ns */
        near(number(w, "averages>Potential>value"), (double)k, 0.02);
        assert_string_equal(words(w, "averages>Potential>unit"), "kilojoule_per_mole");
    }
    assert_int_equal(json_array_size(at(r, "overlap>matrix")), STATES);
    assert_true(number(r, "overlap>minimum") > 0.03);
    check_lengths(r);
    assert_int_equal(json_array_size(at(r, "warnings")), 0);
    json_decref(r);
    buf_free(&text);
    drop(&x);
}

/* Equal files, equal bytes, wherever they lie. */
/* A constraint changes its length in the second leg: MBAR, which mixes all windows, has no number, BAR has the first
 * leg's, and the estimate is TI's. */
static void test_stretched(void **state)
{
    struct ensemble x;
    struct ladder_of_oscillators bonded = legs;
    bonded.component[1] = LAMBDA_BONDED;
    make(&x, 2000);
    x.set.alchemy.given[LAMBDA_VDW] = false;
    x.set.alchemy.given[LAMBDA_BONDED] = true;
    for (int k = 0; k < STATES; k++) {
        struct buf b = {0};
        x.lambda[k][LAMBDA_BONDED] = path[2 * k + 1];
        buf_printf(&b, XVG_STRETCHED "atoms 1 (C1) and 2 (H2)\n");
        oscillators_file(&b, &bonded, k, 2000, TEMPERATURE, 100 + (uint64_t)k);
        write_file(&x, k, "dhdl.xvg", &b);
        buf_free(&b);
    }
    json_t *r = estimate(&x, NULL);
    assert_string_equal(words(r, "estimators>0>status"), "failed");
    assert_string_equal(words(r, "estimators>0>verdict>reasons>0>code"), "constraint");
    assert_non_null(strstr(words(r, "estimators>0>reason"), "(atoms 1 (C1) and 2 (H2))"));
    assert_true(json_is_null(at(r, "estimators>0>legs>0>free_energy")));
    assert_true(json_is_null(at(r, "estimators>1>total")) && json_is_null(at(r, "estimators>1>legs>1>free_energy")));
    near(number(r, "estimators>1>legs>0>free_energy>kT>value"), oscillators_exact(&bonded, 2),
         5 * number(r, "estimators>1>legs>0>free_energy>kT>error"));
    assert_string_equal(words(r, "estimator"), "TI");
    assert_string_equal(words(r, "status"), "ok");
    near(number(r, "estimate>magnitude"), number(r, "estimators>2>total>kcal/mol>value"), 1e-12);
    assert_true(json_equal(at(r, "verdict"), at(r, "estimators>2>verdict")));
    json_decref(r);
    drop(&x);
}

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

/* Three repeats in folders of their own: the mean, with an error of their spread and their own errors. */
static void test_repeats(void **state)
{
    struct ensemble x;
    struct estimate_replica replicas[3 * STATES] = {0};
    struct buf json = {0};
    double sum = 0, within = 0, value[3], error[3];
    const double exact = oscillators_exact(&legs, STATES - 1);
    make(&x, 10);
    for (int i = 0; i < 3 * STATES; i++) {
        struct buf b = {0};
        int repeat = i / STATES, k = i % STATES;
        struct ensemble sub = x;
        snprintf(sub.folder, sizeof sub.folder, "%.40s/repeat_%02d", x.folder, repeat);
        mkdir(sub.folder, 0755);
        oscillators_file(&b, &legs, k, 1500, TEMPERATURE, 1000 + (uint64_t)i);
        write_file(&sub, k, "dhdl.xvg", &b);
        replicas[i] = (struct estimate_replica){.seeded = true, .seed = (uint64_t)i};
        buf_free(&b);
    }
    struct estimate_ensemble q = {.directory = x.folder, .set = &x.set, .repeats = 3, .replicas = replicas};
    estimate_ensemble(&q, &json);
    json_t *r = json_loadb(json.data, json.len, 0, NULL);
    assert_int_equal(json_array_size(at(r, "repeats")), 3);
    assert_int_equal(json_array_size(at(r, "windows")), 3 * STATES);
    assert_int_equal(number(r, "windows>7>repeat"), 1);
    assert_int_equal(number(r, "windows>7>window"), 1);
    assert_int_equal(number(r, "windows>7>seed"), 7);
    for (size_t i = 0; i < 3; i++) {
        json_t *one = json_array_get(at(r, "repeats"), i);
        value[i] = number(one, "free_energy>kT>value");
        error[i] = number(one, "free_energy>kT>error");
        sum += value[i] / 3;
        within += error[i] * error[i] / 3;
    }
    assert_true(value[0] != value[1] && value[1] != value[2]);
    near(number(r, "estimators>0>total>kT>value"), sum, 1e-9);
    near(number(r, "estimators>0>total>kT>error"), repeats_error(value, error, 3), 1e-9);
    assert_true(number(r, "estimators>0>total>kT>error") >= sqrt(within / 3) - 1e-9);
    near(sum, exact, 4 * number(r, "estimators>0>total>kT>error"));
    check_lengths(r);
    double legs_sum =
        number(r, "estimators>0>legs>0>free_energy>kT>value") + number(r, "estimators>0>legs>1>free_energy>kT>value");
    near(legs_sum, sum, 1e-9);
    near(number(r, "convergence>9>forward>kT>value"), sum, 1e-9);
    json_decref(r);
    /* one that fails leaves the mean of the others, not to be trusted */
    replicas[STATES] = (struct estimate_replica){.kind = ESTIMATE_FAILED, .reason = "blew up"};
    json.len = 0;
    estimate_ensemble(&q, &json);
    r = json_loadb(json.data, json.len, 0, NULL);
    assert_string_equal(words(r, "status"), "partial");
    assert_string_equal(words(r, "reason"), "window 0 of repeat 1 took no part");
    near(number(r, "estimators>0>total>kT>value"), (value[0] + value[2]) / 2, 1e-9);
    assert_string_equal(words(r, "verdict>verdict"), "unconverged");
    assert_true(json_is_null(at(r, "repeats>1>free_energy")));
    json_decref(r);
    /* a window that no repeat has is passed over */
    for (int i = 0; i < 3; i++)
        replicas[i * STATES + 4] = (struct estimate_replica){.kind = ESTIMATE_FAILED, .reason = "blew up"};
    json.len = 0;
    estimate_ensemble(&q, &json);
    r = json_loadb(json.data, json.len, 0, NULL);
    assert_true(number(r, "overlap>minimum") > 0.03);
    json_decref(r);
    buf_free(&json);
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

/* Files of another ladder of the same components. */
static void make_path(struct ensemble *x, const double *lambda)
{
    struct ladder_of_oscillators o = legs;
    o.lambda = lambda;
    make(x, 10);
    for (int k = 0; k < STATES; k++) {
        struct buf b = {0};
        x->lambda[k][LAMBDA_COULOMB] = lambda[2 * k];
        x->lambda[k][LAMBDA_VDW] = lambda[2 * k + 1];
        oscillators_file(&b, &o, k, 1000, TEMPERATURE, (uint64_t)k);
        write_file(x, k, "dhdl.xvg", &b);
        buf_free(&b);
    }
}

/* Windows that are one state, at the beginning, between the legs and at the end, are in the legs beside them. */
static void test_equal_windows(void **state)
{
    static const double equal[STATES * 2] = {0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1}, still[STATES * 2] = {0};
    struct ensemble x;
    make_path(&x, equal);
    json_t *r = estimate(&x, NULL), *found = at(r, "estimators>0>legs");
    assert_int_equal(json_array_size(found), 2);
    assert_string_equal(words(found, "0>name"), "coulomb");
    assert_string_equal(words(found, "1>name"), "vdw");
    assert_int_equal(number(found, "0>from"), 0);
    assert_int_equal(number(found, "0>to"), 3);
    assert_int_equal(number(found, "1>from"), 3);
    assert_int_equal(number(found, "1>to"), 5);
    near(number(found, "0>free_energy>kT>value") + number(found, "1>free_energy>kT>value"),
         number(r, "estimators>0>total>kT>value"), 1e-10);
    json_decref(r);
    drop(&x);
    make_path(&x, still);
    r = estimate(&x, NULL);
    near(number(r, "estimators>0>total>kT>value"), 0, 1e-10);
    assert_string_equal(words(r, "verdict>verdict"), "unconverged");
    assert_int_equal(json_array_size(at(r, "estimators>0>legs")), 0);
    json_decref(r);
    drop(&x);
}

/* A molecule without charges: nothing happens along coulomb, of which every estimator, and every repeat, says 0 but for
 * rounding. No such 0 is converged, and a warning names the leg; the total is a number of its own. */
static void test_idle_leg(void **state)
{
    struct ensemble x;
    struct ladder_of_oscillators uncharged = legs;
    struct estimate_replica replicas[2 * STATES] = {0};
    struct buf json = {0};
    uncharged.da[0] = uncharged.dc[0] = 0;
    make(&x, 10);
    for (int i = 0; i < 2 * STATES; i++) {
        struct buf b = {0};
        struct ensemble sub = x;
        snprintf(sub.folder, sizeof sub.folder, "%.40s/repeat_%02d", x.folder, i / STATES);
        mkdir(sub.folder, 0755);
        oscillators_file(&b, &uncharged, i % STATES, 1000, TEMPERATURE, (uint64_t)i);
        write_file(&sub, i % STATES, "dhdl.xvg", &b);
        write_file(&x, i % STATES, "dhdl.xvg", &b);
        buf_free(&b);
    }
    struct estimate_ensemble both = {.directory = x.folder, .set = &x.set, .repeats = 2, .replicas = replicas};
    estimate_ensemble(&both, &json);
    json_t *of[] = {estimate(&x, NULL), json_loadb(json.data, json.len, 0, NULL)};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < 3; i++) {
            json_t *leg = at(json_array_get(at(of[k], "estimators"), i), "legs>0");
            assert_string_equal(words(leg, "name"), "coulomb");
            near(number(leg, "free_energy>kT>value"), 0, 1e-9);
            assert_string_equal(words(leg, "verdict"), "unconverged");
        }
        assert_string_equal(words(of[k], "verdict>verdict"), "converged");
        json_t *warnings = at(of[k], "warnings");
        size_t named = 0;
        for (size_t i = 0; i < json_array_size(warnings); i++)
            named += strstr(json_string_value(json_array_get(warnings, i)),
                            "the leg coulomb, windows 0 to 2, changes nothing") != NULL;
        assert_int_equal(named, k + 1);
        json_decref(of[k]);
    }
    buf_free(&json);
    drop(&x);
}

/* Energies that are the same in all windows, but for rounding: 0 is no answer, unless the spec means it. */
static void test_no_change(void **state)
{
    struct ensemble x;
    struct ladder_of_oscillators same = legs;
    memset(same.da, 0, sizeof same.da);
    memset(same.dc, 0, sizeof same.dc);
    make(&x, 10);
    for (int k = 0; k < STATES; k++) {
        struct buf b = {0};
        same.da[1] = 1e-7;
        oscillators_file(&b, &same, k, 1000, TEMPERATURE, (uint64_t)k);
        write_file(&x, k, "dhdl.xvg", &b);
        buf_free(&b);
    }
    for (int meant = 0; meant < 2; meant++) {
        x.set.alchemy.allow_no_change = meant;
        json_t *r = estimate(&x, NULL);
        near(number(r, "estimators>0>total>kT>value"), 0, 1e-6);
        assert_int_equal(json_array_size(at(r, "warnings")), 0);
        for (size_t i = 0; i < 3; i++) {
            json_t *e = json_array_get(at(r, "estimators"), i);
            const char *expected = meant ? "converged" : "unconverged";
            assert_string_equal(words(e, "verdict>verdict"), expected);
            assert_string_equal(words(e, "legs>1>verdict"), expected);
            assert_string_equal(words(e, "steps>3>verdict"), expected);
            if (!meant)
                assert_string_equal(words(e, "verdict>reasons>0>code"), "no_change");
        }
        json_decref(r);
    }
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
    near(number(r, "windows>0>averages>Potential>value"), 0, 0.02);
    json_decref(r);
    drop(&x);
}

/* Rows at the start that lie off the rest count in means, as late ones do, but where they move a mean by more than its
 * error or leave few uncorrelated rows. */
static void test_averages_from_start(void **state)
{
    enum { ROWS = 1000, LEAD = 50 };
    for (int large = 0; large < 2; large++) {
        struct ensemble x;
        struct buf b = {0};
        uint64_t seed = 5;
        double all = 0, late = 0, series[ROWS];
        make(&x, 10);
        x.set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_NONE, .nwindows = 1, .lambda = x.lambda};
        buf_printf(&b, "@ s0 legend \"Potential\"\n");
        for (int i = 0; i < ROWS; i++) {
            double v = random_normal(&seed) + (i < LEAD) * (large ? 12 : 0.45);
            buf_printf(&b, "%d %.6f\n", i, v);
            series[i] = v;
            all += v / ROWS;
            late += i < LEAD ? 0 : v / (ROWS - LEAD);
        }
        assert_int_equal(stats_drift(series, ROWS, ESTIMATE_DRIFT_LEVEL), LEAD);
        write_file(&x, 0, "energy.xvg", &b);
        json_t *r = estimate(&x, NULL);
        near(number(r, "windows>0>averages>Potential>value"), large ? late : all, 1e-5);
        json_decref(r);
        buf_free(&b);
        drop(&x);
    }
}

/* 29.6 samples are not "30, below 30". */
static void test_few_samples_are_rounded_down(void **state)
{
    int close = 0;
    for (int rows = 31; rows < 60; rows++) {
        struct ensemble x;
        make(&x, rows);
        json_t *r = estimate(&x, NULL), *reason;
        size_t i;
        json_array_foreach (at(r, "verdict>reasons"), i, reason) {
            int window, samples;
            if (sscanf(json_string_value(json_object_get(reason, "text")), "window %d has %d uncorrelated", &window,
                       &samples) != 2)
                continue;
            double exact = json_number_value(json_object_get(
                json_object_get(json_array_get(at(r, "windows"), (size_t)window), "samples"), "uncorrelated"));
            assert_in_range(samples, 1, 29);
            close += exact > 29.5;
        }
        json_decref(r);
        drop(&x);
    }
    assert_true(close > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_legs),
        cmocka_unit_test(test_stretched),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_gauss_ladder),
        cmocka_unit_test(test_equal_windows),
        cmocka_unit_test(test_idle_leg),
        cmocka_unit_test(test_no_change),
        cmocka_unit_test(test_single_window),
        cmocka_unit_test(test_averages_from_start),
        cmocka_unit_test(test_few_samples_are_rounded_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
