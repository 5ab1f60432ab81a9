/* SPDX-License-Identifier: Apache-2.0
 *
 * What results.json says of windows that are missing, foreign, short, damaged, or that disagree.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engine/estimate/estimate.h"
#include "tests/lib/two_legs.h"

static void spoil(const struct ensemble *x, int window, const char *text)
{
    struct buf b = {0};
    buf_printf(&b, "%s", text);
    write_file(x, window, "dhdl.xvg", &b);
    buf_free(&b);
}

/* Nothing is printed that rests on windows without samples: an end, a leg, two in a row. One
 * between others may lack. */
static void test_missing_windows(void **state)
{
    struct ensemble x;
    const double exact = oscillators_exact(&legs, STATES - 1);
    make(&x, 3000);
    x.states[3] = (struct estimate_replica){.kind = ESTIMATE_PARTIAL, .reason = "cancelled"};
    spoil(&x, 4, "@ s0 legend\n");
    json_t *r = estimate(&x, NULL);
    assert_string_equal(words(r, "status"), "partial");
    assert_string_equal(words(r, "reason"), "window 4 took no part; window 3 stopped early");
    assert_string_equal(words(r, "verdict>verdict"), "unconverged");
    assert_int_equal(count_reasons(at(r, "verdict"), "window_missing"), 1);
    assert_string_equal(words(r, "windows>4>status"), "failed");
    assert_string_equal(words(r, "windows>4>reason"),
                        "lambda_04/dhdl.xvg:1: legend of s0: expected a text in double quotes");
    assert_string_equal(words(r, "windows>3>status"), "partial");
    for (size_t i = 0; i < 2; i++) {
        json_t *e = json_array_get(at(r, "estimators"), i);
        near(number(e, "total>kT>value"), exact, 4 * number(e, "total>kT>error"));
        assert_true(json_is_null(at(e, "steps>3>free_energy"))); /* it ends in window 4 */
        assert_string_equal(words(e, "steps>3>verdict"), "failed");
        assert_string_equal(words(e, "legs>0>verdict"), "converged");
    }
    assert_int_equal(number(r, "overlap>neighbours>3>to"), 5);
    json_decref(r);
    static const struct {
        int missing[2];
        const char *text;
    } cases[] = {{{5, 5}, "window 5, an end, has no samples"},
                 {{0, 0}, "window 0, an end, has no samples"},
                 {{3, 4}, "windows 3 to 4 have no samples"},
                 {{1, 1}, "no window between 0 and 2 has samples"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        drop(&x);
        make(&x, 3000);
        for (int i = 0; i < 2; i++)
            x.states[cases[c].missing[i]] = (struct estimate_replica){.kind = ESTIMATE_FAILED, .reason = "blew up"};
        r = estimate(&x, NULL);
        assert_string_equal(words(r, "status"), "failed");
        assert_true(json_is_null(at(r, "estimate")) && json_is_null(at(r, "uncertainty")));
        assert_true(json_is_null(at(r, "solvation")) && json_is_null(at(r, "estimator")));
        assert_string_equal(words(r, "verdict>verdict"), "failed");
        assert_true(count_reasons(at(r, "verdict"), "no_samples") >= 1);
        assert_non_null(strstr(words(r, "reason"), cases[c].text));
        for (size_t i = 0; i < 3; i++) {
            json_t *e = json_array_get(at(r, "estimators"), i);
            assert_true(json_is_null(at(e, "total")));
            assert_string_equal(words(e, "verdict>verdict"), "failed");
        }
        /* the other leg is whole */
        assert_string_equal(words(r, c == 1 || c == 3 ? "estimators>0>legs>1>verdict" : "estimators>0>legs>0>verdict"),
                            "converged");
        assert_int_equal(json_array_size(at(r, "convergence")), 0);
        json_decref(r);
    }
    for (int k = 0; k < STATES; k++) /* nothing left */
        x.states[k] = (struct estimate_replica){.kind = ESTIMATE_FAILED, .reason = "worker crashed"};
    r = estimate(&x, NULL);
    assert_string_equal(words(r, "status"), "failed");
    assert_non_null(strstr(words(r, "estimators>0>reason"), "windows 0 to 5 have no samples"));
    json_decref(r);
    drop(&x);
}

/* Windows that share nothing give no number, though MBAR may have solved its equations: no fall-back to BAR. */
static void test_disconnected(void **state)
{
    struct ensemble x;
    struct ladder_of_oscillators apart = legs;
    make(&x, 100);
    for (int far = 0; far < 2; far++) {
        apart.dc[0] = far ? 400 : 11;
        for (int k = 0; k < STATES; k++) {
            struct buf b = {0};
            oscillators_file(&b, &apart, k, 100, TEMPERATURE, 9);
            write_file(&x, k, "dhdl.xvg", &b);
            buf_free(&b);
        }
        json_t *r = estimate(&x, NULL);
        assert_string_equal(words(r, "status"), "failed");
        assert_true(json_is_null(at(r, "estimate")));
        assert_int_equal(count_reasons(at(r, "verdict"), far ? "no_answer" : "disconnected"), 1);
        assert_true(json_is_null(at(r, "overlap")) == far);
        assert_true(json_is_null(at(r, "estimators>1>total")));     /* Bennett's error levels off: no number either */
        assert_string_equal(words(r, "estimators>2>status"), "ok"); /* TI needs no overlap */
        near(number(r, "estimators>2>total>kT>value"), oscillators_exact(&apart, STATES - 1),
             4 * number(r, "estimators>2>total>kT>error"));
        json_decref(r);
    }
    drop(&x);
}

/* A window that was cut short is no gap: its rows are few, and as near to its neighbours' as ever. */
static void test_short_window(void **state)
{
    struct ensemble x;
    struct buf b = {0};
    make(&x, 10000);
    oscillators_file(&b, &legs, 3, 5, TEMPERATURE, 3);
    write_file(&x, 3, "dhdl.xvg", &b);
    json_t *r = estimate(&x, NULL);
    for (size_t i = 0; i < 2; i++) {
        json_t *e = json_array_get(at(r, "estimators"), i);
        assert_string_equal(words(e, "verdict>verdict"), "unconverged");
        assert_int_equal(count_reasons(at(e, "verdict"), "few_samples"), 1);
        assert_int_equal(count_reasons(at(e, "verdict"), "overlap"), 0);
    }
    near(number(r, "estimators>0>total>kT>value"), oscillators_exact(&legs, STATES - 1),
         4 * number(r, "estimators>0>total>kT>error"));
    assert_true(number(r, "overlap>minimum") > 0.03);
    json_decref(r);
    buf_free(&b);
    drop(&x);
}

static json_t *estimate_two_repeats(const struct ensemble *x, int samples)
{
    struct estimate_replica replicas[2 * STATES] = {0};
    const struct estimate_ensemble q = {.directory = x->folder, .set = &x->set, .repeats = 2, .replicas = replicas};
    struct buf b = {0};
    for (int i = 0; i < 2 * STATES; i++) {
        struct ensemble repeat = *x;
        snprintf(repeat.folder, sizeof repeat.folder, "%.40s/repeat_%02d", x->folder, i / STATES);
        mkdir(repeat.folder, 0755);
        b.len = 0;
        oscillators_file(&b, &legs, i % STATES, samples, TEMPERATURE, 1000 + (uint64_t)i);
        write_file(&repeat, i % STATES, "dhdl.xvg", &b);
    }
    b.len = 0;
    estimate_ensemble(&q, &b);
    json_t *r = json_loadb(b.data, b.len, 0, NULL);
    buf_free(&b);
    return r;
}

/* A part of the rows that gives no number says why, in every repeat. */
static void test_part_without_rows(void **state)
{
    static const char why[] =
        "forward: windows with samples: 0, expected 2 or more; "
        "backward: windows with samples: 0, expected 2 or more";
    struct ensemble x;
    make(&x, ESTIMATE_FEWEST_ROWS);
    json_t *r = estimate(&x, NULL);
    assert_true(json_is_null(at(r, "convergence>0>forward")) && json_is_null(at(r, "convergence>0>backward")));
    assert_string_equal(words(r, "convergence>0>reason"), why);
    assert_true(json_is_null(at(r, "convergence>9>reason")) && json_is_object(at(r, "convergence>9>forward")));
    json_decref(r);
    r = estimate_two_repeats(&x, ESTIMATE_FEWEST_ROWS);
    const char *told = words(r, "convergence>0>reason"), *second = strstr(told, "; repeat 1: ");
    assert_true(!strncmp(told, "repeat 0: ", 10) && !strncmp(told + 10, why, sizeof why - 1));
    assert_true(second && !strcmp(second + 12, why));
    assert_true(json_is_null(at(r, "convergence>9>reason")));
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
    refused(&x, "lambda_02/dhdl.xvg: 0 samples, expected 4 or more");
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
    other.component[1] = LAMBDA_BONDED;
    b.len = 0;
    oscillators_file(&b, &other, 2, 60, TEMPERATURE, 1);
    write_file(&x, 2, "dhdl.xvg", &b);
    refused(&x, "lambda_02/dhdl.xvg: its lambda components are not those of the ensemble");
    buf_free(&b);
    drop(&x);
}

/* One in a hundred volume moves that found no room is told; one in ten moves the verdict, also of what that window is a
 * part of. */
static void test_narrow(void **state)
{
    struct ensemble x;
    make(&x, 2000);
    json_t *r = estimate(&x, NULL);
    assert_string_equal(words(r, "verdict>verdict"), "converged");
    json_decref(r);
    x.states[1].moves = (struct volume_moves){.tried = 1000, .refused = 9};
    x.states[2].moves = (struct volume_moves){.tried = 1000, .refused = 12};
    x.states[3].moves = (struct volume_moves){.tried = 10, .refused = 4}; /* too few to say */
    r = estimate(&x, NULL);
    assert_string_equal(words(r, "verdict>verdict"), "converged");
    assert_int_equal(json_array_size(at(r, "warnings")), 1);
    assert_int_equal(count_warnings(r, "window 2: 1.2 % of its volume moves were refused"), 1);
    json_decref(r);
    x.states[4].moves = (struct volume_moves){.tried = 1000, .refused = 125};
    r = estimate(&x, NULL);
    assert_string_equal(words(r, "verdict>verdict"), "unconverged");
    assert_int_equal(count_reasons(at(r, "verdict"), "narrow"), 1);
    assert_int_equal(count_reasons(at(r, "estimators>2>verdict"), "narrow"), 1);
    assert_string_equal(words(r, "estimators>0>legs>0>verdict"), "converged"); /* windows 0 to 2 */
    assert_string_equal(words(r, "estimators>0>legs>1>verdict"), "unconverged");
    assert_int_equal(json_array_size(at(r, "warnings")), 2);
    json_decref(r);
    drop(&x);
}

static void test_warnings(void **state)
{
    struct ensemble x;
    struct buf b = {0};
    make(&x, 2000);
    oscillators_file(&b, &legs, 2, 40, TEMPERATURE, 1);
    buf_printf(&b, "50.0000 1 1 nan 1 1 1 1 1 1\n60.0000 1.0 2.");
    write_file(&x, 2, "dhdl.xvg", &b);
    json_t *r = estimate(&x, NULL);
    assert_int_equal(number(r, "windows>2>samples>read"), 41);
    assert_int_equal(number(r, "windows>2>samples>nonfinite"), 1);
    assert_int_equal(count_warnings(r, "window 2: 1 of 41 samples is not finite and was dropped"), 1);
    assert_int_equal(count_warnings(r, "window 2: the last line of dhdl.xvg is not whole and was left out"), 1);
    assert_string_equal(words(r, "verdict>verdict"), "unconverged");
    assert_int_equal(count_reasons(at(r, "verdict"), "few_samples"), 1);
    assert_int_equal(count_reasons(at(r, "estimators>1>verdict"), "few_samples"), 1);
    json_decref(r);
    for (int some = 19; some < 22; some += 2) { /* rows without a number, in 2000: what they say of the rest is lost */
        b.len = 0;
        oscillators_file(&b, &legs, 2, 2000 - some, TEMPERATURE, 1);
        for (int i = 0; i < some; i++)
            buf_printf(&b, "%d inf 1 1 nan 1 1 1 1 1\n", 3000 + i);
        write_file(&x, 2, "dhdl.xvg", &b);
        r = estimate(&x, NULL);
        assert_string_equal(words(r, "verdict>verdict"), some > 20 ? "unconverged" : "converged");
        assert_int_equal(count_reasons(at(r, "verdict"), "nonfinite"), some > 20);
        json_decref(r);
    }
    struct ladder_of_oscillators apart = legs;
    apart.memory = 0;
    apart.dc[1] = 4;
    for (int k = 0; k < STATES; k++) {
        b.len = 0;
        oscillators_file(&b, &apart, k, 2000, TEMPERATURE, 9);
        write_file(&x, k, "dhdl.xvg", &b);
    }
    r = estimate(&x, NULL);
    assert_true(count_reasons(at(r, "verdict"), "overlap") >= 1);
    assert_string_equal(words(r, "status"), "ok"); /* all took part */
    json_decref(r);
    buf_free(&b);
    drop(&x);
}

/* The first `rows` rows of one file, then the others of the other. */
static void splice(struct buf *out, const struct buf *first, const struct buf *then, int rows)
{
    const char *s = first->data, *t = then->data;
    for (int row = 0; row < rows; s = strchr(s, '\n') + 1, t = strchr(t, '\n') + 1) {
        buf_add(out, s, (size_t)(strchr(s, '\n') + 1 - s));
        row += *s != '#' && *s != '@';
    }
    buf_printf(out, "%s", t);
}

/* A window that begins elsewhere: what is discarded, and that this matters. */
static void test_drifting_window(void **state)
{
    struct ensemble x;
    struct ladder_of_oscillators elsewhere = legs;
    make(&x, 4000);
    elsewhere.c0 = 3;
    for (int most = 0; most < 2; most++) {
        struct buf here = {0}, there = {0}, mixed = {0};
        oscillators_file(&here, &legs, 2, 4000, TEMPERATURE, 5);
        oscillators_file_of(&there, &legs, &elsewhere, 2, 4000, TEMPERATURE, 6);
        splice(&mixed, &there, &here, most ? 2600 : 1000);
        write_file(&x, 2, "dhdl.xvg", &mixed);
        json_t *r = estimate(&x, NULL);
        assert_in_range(number(r, "windows>2>samples>discarded"), most ? 2000 : 800, most ? 3900 : 2000);
        near(number(r, "windows>2>samples>discarded_time>magnitude"), number(r, "windows>2>samples>discarded") * 1e-3,
             1e-9);
        assert_int_equal(count_reasons(at(r, "verdict"), "discarded"), 1);
        json_decref(r);
        buf_free(&here);
        buf_free(&there);
        buf_free(&mixed);
    }
    drop(&x);
}

/* Windows whose halves, or whose views of each other, do not agree beyond their errors. */
static void test_disagreement(void **state)
{
    struct ensemble x;
    struct buf here = {0}, there = {0}, mixed = {0};
    struct ladder_of_oscillators elsewhere = legs;
    make(&x, 4000);
    elsewhere.c0 = 1;
    oscillators_file(&here, &legs, 2, 4000, TEMPERATURE, 5);
    oscillators_file_of(&there, &legs, &elsewhere, 2, 4000, TEMPERATURE, 6);
    write_file(&x, 2, "dhdl.xvg", &there); /* sampled from a distribution that is not the window's */
    json_t *r = estimate(&x, NULL);
    assert_int_equal(count_reasons(at(r, "verdict"), "estimators") > 0, 1);
    assert_string_equal(words(r, "verdict>verdict"), "unconverged");
    json_decref(r);
    buf_free(&here);
    buf_free(&there);
    buf_free(&mixed);
    drop(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_windows),
        cmocka_unit_test(test_disconnected),
        cmocka_unit_test(test_short_window),
        cmocka_unit_test(test_foreign_files),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_part_without_rows),
        cmocka_unit_test(test_drifting_window),
        cmocka_unit_test(test_disagreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
