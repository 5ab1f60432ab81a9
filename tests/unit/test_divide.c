/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ensemble is in which share: all are in one, none has much more than it has to, and it is always the same.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/division/divide.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_equal_costs), cmocka_unit_test(test_even),
        cmocka_unit_test(test_count),   cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
