/* SPDX-License-Identifier: Apache-2.0
 *
 * Which windows repeats of a campaign's leg are to have, from their results.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "client/campaign/campaign.h"

#define WINDOW(l) "{\"repeat\": 0, \"lambda\": {\"coulomb\": " #l ", \"vdw\": 0}}"
#define STEP(from, to, a, b)                                                                                           \
    "{\"from\": " #from ", \"to\": " #to ", \"length\": 1, \"deviation_from\": " #a ", \"deviation_to\": " #b "}"
#define PAIR(from, to, overlap) "{\"from\": " #from ", \"to\": " #to ", \"overlap\": " #overlap "}"

static json_t *results_of(const char *windows, const char *steps, const char *pairs)
{
    struct buf text = {0};
    buf_printf(&text, "{\"windows\": [%s], \"overlap\": {\"minimum\": 0.01, \"neighbours\": [%s]}, ", windows, pairs);
    buf_printf(&text, "\"thermodynamic_length\": {\"total\": 2, \"steps\": [%s]}}", steps);
    json_t *results = json_loadb(text.data, text.len, 0, NULL);
    assert_non_null(results);
    buf_free(&text);
    return results;
}

static void expect(json_t *const *results, int n, const double *coulomb, int count)
{
    json_t *windows = campaign_gap_windows(results, n);
    assert_int_equal(json_array_size(windows), count);
    for (int i = 0; i < count; i++) {
        const json_t *one = json_array_get(windows, (size_t)i);
        assert_true(fabs(json_number_value(json_object_get(one, "coulomb")) - coulomb[i]) < 1e-9);
        assert_true(json_number_value(json_object_get(one, "vdw")) == 0);
    }
    json_decref(windows);
}

static const char three[] = WINDOW(0) "," WINDOW(0.5) "," WINDOW(1);

/* In the middle of the length: from 0 to 0.5 the deviation falls from 3 to 1, so half of the length, 2, is at the
 * part s with 3 s - s^2 = 1. */
static void a_gap(void **state)
{
    (void)state;
    json_t *one = results_of(three, STEP(0, 1, 3, 1) "," STEP(1, 2, 1, 1), PAIR(0, 1, 0.01) "," PAIR(1, 2, 0.2));
    const double middle = round(0.5 * (3 - sqrt(5)) / 2 * 1e4) / 1e4;
    expect(&one, 1, (const double[]){0, 0.5, 1, middle}, 4);
    json_decref(one);
}

static void no_gap(void **state)
{
    (void)state;
    json_t *one = results_of(three, STEP(0, 1, 3, 1) "," STEP(1, 2, 1, 1), PAIR(0, 1, 0.03) "," PAIR(1, 2, 0.2));
    expect(&one, 1, (const double[]){0, 0.5, 1}, 3);
    json_decref(one);
}

/* Two repeats see one gap, in which the middle is elsewhere: one window. Where another has a window there already,
 * that one. */
static void repeats(void **state)
{
    (void)state;
    json_t *two[] = {results_of(three, STEP(0, 1, 1, 1) "," STEP(1, 2, 1, 1), PAIR(0, 1, 0.01) "," PAIR(1, 2, 0.2)),
                     results_of(three, STEP(0, 1, 3, 1) "," STEP(1, 2, 1, 1), PAIR(0, 1, 0.02) "," PAIR(1, 2, 0.2))};
    expect(two, 2, (const double[]){0, 0.5, 1, 0.25}, 4);
    json_t *grown = results_of(WINDOW(0) "," WINDOW(0.2) "," WINDOW(0.5) "," WINDOW(1),
                               STEP(0, 1, 1, 1) "," STEP(1, 2, 1, 1) "," STEP(2, 3, 1, 1),
                               PAIR(0, 1, 0.2) "," PAIR(1, 2, 0.2) "," PAIR(2, 3, 0.2));
    expect((json_t *const[]){two[0], grown}, 2, (const double[]){0, 0.5, 1, 0.2}, 4);
    json_decref(two[0]);
    json_decref(two[1]);
    json_decref(grown);
}

/* Lambdas have four decimals: between neighbours of one apart there is no room. */
static void no_room(void **state)
{
    (void)state;
    json_t *one = results_of(WINDOW(0) "," WINDOW(0.0001) "," WINDOW(1), STEP(0, 1, 9, 9) "," STEP(1, 2, 1, 1),
                             PAIR(0, 1, 0.001) "," PAIR(1, 2, 0.2));
    expect(&one, 1, (const double[]){0, 0.0001, 1}, 3);
    json_decref(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_gap), cmocka_unit_test(no_gap), cmocka_unit_test(repeats),
                                       cmocka_unit_test(no_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
