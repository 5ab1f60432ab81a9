/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ensemble is in which share: all are in one, none has much more than it has to, and it is always the same.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "client/division/divide.h"
#include "client/division/units.h"

enum { MANY = 500 };

/* The longest first into the emptiest, by hand. */
static void test_by_hand(void **state)
{
    static const double cost[] = {1, 5, 3, 3, 2, 4};
    static const int64_t expected[] = {0, 0, 2, 2, 1, 1}; /* 5 | 4 | 3, then 3, 2, 1 where least is */
    int64_t share[6];
    divide(cost, 6, 3, share);
    for (int i = 0; i < 6; i++)
        assert_int_equal(share[i], expected[i]);
}

static void test_equal_costs(void **state)
{
    static const double cost[] = {2, 2, 2, 2, 2};
    int64_t share[5];
    divide(cost, 5, 2, share);
    for (int i = 0; i < 5; i++)
        assert_int_equal(share[i], i % 2);
    divide(cost, 5, 1, share);
    for (int i = 0; i < 5; i++)
        assert_int_equal(share[i], 0);
}

/* No share has more than the mean and one ensemble (Graham 1969). */
static void test_even(void **state)
{
    double cost[MANY], filled[64], sum = 0, most = 0;
    int64_t share[MANY], again[MANY];
    uint32_t random = 1;
    for (int shares = 1; shares <= 64; shares++) {
        sum = most = 0;
        for (int i = 0; i < MANY; i++) {
            random = random * 1664525 + 1013904223;
            cost[i] = 1 + (random >> 16) % 1000;
            sum += cost[i];
            most = cost[i] > most ? cost[i] : most;
        }
        divide(cost, MANY, shares, share);
        divide(cost, MANY, shares, again);
        for (int s = 0; s < shares; s++)
            filled[s] = 0;
        for (int i = 0; i < MANY; i++) {
            assert_in_range(share[i], 0, shares - 1);
            assert_int_equal(share[i], again[i]);
            filled[share[i]] += cost[i];
        }
        for (int s = 0; s < shares; s++)
            assert_true(filled[s] <= sum / shares + most);
    }
}

static json_t *plan_of(int n, int atoms)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:i,s:i}", "atoms", atoms, "replicas", 12));
    return list;
}

static void count_is(int n, int atoms, int64_t expected)
{
    json_t *plan = plan_of(n, atoms);
    assert_int_equal(divide_count(plan), expected);
    json_decref(plan);
}

/* 48 replicas of 5,000 atoms in each share. */
static void test_count(void **state)
{
    count_is(0, 5000, 1);
    count_is(1, 5000, 1);
    count_is(7, 5000, 1);
    count_is(8, 5000, 2);
    count_is(400, 5000, 100);
    count_is(10, 100000, 10); /* never more than ensembles */
    count_is(20000, 50000, SHARES_MOST);
}

static void test_cost(void **state)
{
    json_t *one =
        json_pack("{s:i,s:i,s:f,s:{s:f}}", "atoms", 100, "replicas", 3, "ns", 2.0, "production", "step_ns", 2e-6);
    assert_true(divide_cost(one) == 300 * 1e6);
    json_decref(one);
}

/* ---- units ---- */

static json_t *planned_of(const char *item, int repeat, double ns)
{
    json_t *one = json_pack("{s:s,s:s,s:i,s:i,s:i,s:{s:f}}", "leg", "water", "item", item, "repeat", repeat, "replicas",
                            10, "atoms", 100, "production", "ns", ns);
    char key[32];
    snprintf(key, sizeof key, "n.%s.water.%d", item, repeat);
    json_object_set_new(one, "key", json_string(key));
    json_object_set_new(
        one, "family",
        json_pack("{s:s,s:i,s:f,s:{s:f}}", "hash", item, "replicas", 40, "ns", 1.0, "production", "ns", 8 * ns));
    return one;
}

/* Two repeats of a, a pilot of b. */
static json_t *campaign_of(bool ladder)
{
    return json_pack("{s:{s:f},s:o,s:[o,o,o]}", "budget", "ns", 100.0, "ladder", ladder ? json_object() : json_null(),
                     "ensembles", planned_of("a", 1, 2), planned_of("a", 2, 2), planned_of("b", 1, 4));
}

static void units_are(bool ladder, const char *expected)
{
    json_t *plan = campaign_of(ladder), *units = units_of(plan), *one;
    struct buf keys = {0};
    size_t i;
    json_array_foreach (units, i, one)
        buf_printf(&keys, "%s ", json_string_value(json_object_get(one, "key")));
    assert_string_equal(keys.data, expected);
    keys.len = 0;
    json_array_foreach (json_object_get(plan, "ensembles"), i, one) {
        units_key(&keys, plan, one);
        buf_printf(&keys, " ");
    }
    if (ladder)
        assert_string_equal(keys.data, "water/a water/a water/b ");
    else
        assert_string_equal(keys.data, expected);
    buf_free(&keys);
    json_decref(units);
    json_decref(plan);
}

static void test_units(void **state)
{
    units_are(false, "n.a.water.1 n.a.water.2 n.b.water.1 ");
    units_are(true, "water/a water/b ");
}

static void budgets_are(bool ladder, const int64_t *share, double first, double second)
{
    json_t *plan = campaign_of(ladder), *units = units_of(plan), *budgets = units_budgets(plan, units, share, 2);
    const double found[2] = {json_number_value(json_array_get(budgets, 0)),
                             json_number_value(json_array_get(budgets, 1))};
    assert_true(fabs(found[0] - first) < 1e-9 && fabs(found[1] - second) < 1e-9);
    json_decref(budgets);
    json_decref(units);
    json_decref(plan);
}

/* As production by the specs: of windows of ensembles, or of all repeats of a leg, whatever its pilot makes. */
static void test_budgets(void **state)
{
    budgets_are(false, (int64_t[]){0, 1, 1}, 25, 75);
    budgets_are(false, (int64_t[]){1, 0, 1}, 25, 75);
    budgets_are(false, (int64_t[]){0, 0, 1}, 50, 50);
    budgets_are(true, (int64_t[]){1, 0}, 100.0 * 2 / 3, 100.0 / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_equal_costs), cmocka_unit_test(test_even),
        cmocka_unit_test(test_count),   cmocka_unit_test(test_cost),        cmocka_unit_test(test_units),
        cmocka_unit_test(test_budgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
