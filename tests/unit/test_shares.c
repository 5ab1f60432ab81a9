/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounds of a campaign's budget: who gets how much, and that nothing is handed out twice, whatever part of a round was
 * carried out.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/need/shares.h"

enum { PARTS = 4 };
#define STEP 2e-6 /* ns */

static const struct shares_budget budget = {.time = 120, .first = 12, .rounds = 3};
static const int replicas[PARTS] = {2, 3, 1, 6}; /* 12 in all: an even share is 10 ns */

/* Squared errors that go as one over the time made: those of cost c at 1 ns. */
static void look(struct shares_part *p, const double *cost)
{
    for (int i = 0; i < PARTS; i++)
        p[i].square = cost[i] / p[i].made;
}

static void begin(struct shares_part *p, const double *cost)
{
    for (int i = 0; i < PARTS; i++)
        p[i] = (struct shares_part){.replicas = replicas[i], .made = 1, .grain = STEP, .takes = true};
    look(p, cost);
}

static double made(const struct shares_part *p)
{
    double sum = 0;
    for (int i = 0; i < PARTS; i++)
        sum += p[i].made * p[i].replicas;
    return sum;
}

static void carry_out(struct shares_part *p)
{
    for (int i = 0; i < PARTS; i++) {
        assert_true(p[i].target >= p[i].made);
        p[i].made = p[i].target;
    }
}

/* What one round may leave over: a thousandth of an even share for each replica. */
#define REST (120.0 / 1000)

/* Errors become as small as they can: times go as the root of cost over replicas (J. Neyman 1934). */
static void test_rounds(void **state)
{
    static const double cost[PARTS] = {1, 4, 1, 9};
    struct shares_part p[PARTS];
    double roots = 0;
    begin(p, cost);
    for (int round = 1; round <= 3; round++) {
        assert_int_equal(shares_round(p, PARTS, &budget), round);
        carry_out(p);
        look(p, cost);
        assert_true(fabs(made(p) - (12 + 36 * round)) < REST);
    }
    assert_int_equal(shares_round(p, PARTS, &budget), 0);
    for (int i = 0; i < PARTS; i++)
        roots += sqrt(cost[i] * replicas[i]);
    for (int i = 0; i < PARTS; i++)
        assert_true(fabs(p[i].made / (120 / roots * sqrt(cost[i] / replicas[i])) - 1) < 0.02);
}

/* Nobody less than a quarter of an even share; one of few uncorrelated rows, of which the error is not known well, an
 * even one. */
static void test_floors(void **state)
{
    static const double cost[PARTS] = {1e-9, 4, 1e-9, 9};
    struct shares_part p[PARTS];
    begin(p, cost);
    p[0].rows = 5;
    while (shares_round(p, PARTS, &budget)) {
        carry_out(p);
        look(p, cost);
        p[0].rows = 5 * p[0].made;
    }
    assert_true(fabs(p[0].made - 10) < 0.02);
    assert_true(fabs(p[2].made - 2.5) < 0.02);
    assert_true(fabs(made(p) - 120) < REST);
}

/* Of unknown error: even parts of each round. Who takes nothing keeps what it has, and others get what is left. */
static void test_unknown(void **state)
{
    static const double cost[PARTS] = {1, 1, 1, 1};
    struct shares_part p[PARTS];
    begin(p, cost);
    p[1].square = NAN;
    p[3].takes = false;
    assert_int_equal(shares_round(p, PARTS, &budget), 1);
    assert_true(fabs(p[1].target - (1 + 36.0 / 6)) < 1e-9);
    assert_true(p[3].target == 1);
    carry_out(p);
    assert_true(fabs(made(p) - 48) < REST);
    for (int i = 0; i < PARTS; i++)
        p[i].takes = false;
    assert_int_equal(shares_round(p, PARTS, &budget), 0);
    begin(p, cost);
    for (int i = 0; i < PARTS; i++)
        p[i].square = NAN;
    assert_int_equal(shares_round(p, PARTS, &budget), 1);
    for (int i = 0; i < PARTS; i++)
        assert_true(fabs(p[i].target - 4) < 1e-9);
}

/* Any of those that are to get something may not have got it when all is looked at again: the sum never goes beyond the
 * round's. */
static void test_parts_of_rounds(void **state)
{
    uint64_t random = 5;
    for (int trial = 0; trial < 300; trial++) {
        struct shares_part p[PARTS];
        double cost[PARTS];
        int looks = 0, last = 1, round;
        for (int i = 0; i < PARTS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            cost[i] = 0.01 + (double)(random >> 44) / 1e5;
        }
        begin(p, cost);
        while ((round = shares_round(p, PARTS, &budget)) && looks++ < 200) {
            assert_true(round >= last && round <= 3);
            last = round;
            for (int i = 0; i < PARTS; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                if (random >> 63)
                    p[i].made = p[i].target;
            }
            assert_true(made(p) < 12 + 36 * round + 1e-9);
            look(p, cost);
        }
        assert_true(looks < 200 && fabs(made(p) - 120) < REST);
    }
}

/* What there is need not be whole units of what is handed out: not one step more than the round's. */
static void test_between_units(void **state)
{
    static const double cost[PARTS] = {1, 4, 1, 9};
    for (int more = 1; more < 10; more++) {
        struct shares_part p[PARTS];
        struct shares_budget odd = budget;
        begin(p, cost);
        for (int i = 0; i < PARTS; i++)
            p[i].made += 0.001 * more;
        odd.first = made(p);
        for (int round = 1; round <= 3; round++) {
            assert_int_equal(shares_round(p, PARTS, &odd), round);
            carry_out(p);
            look(p, cost);
            assert_true(made(p) < odd.first + (120 - odd.first) / 3 * round + 1e-9);
        }
        assert_int_equal(shares_round(p, PARTS, &odd), 0);
        assert_true(fabs(made(p) - 120) < REST);
    }
}

/* Where even shares are a few steps, what steps leave over is no reason for another round. */
static void test_few_steps(void **state)
{
    struct shares_part p[2] = {{.replicas = 3, .made = 10 * STEP, .grain = STEP, .square = 1, .takes = true},
                               {.replicas = 3, .made = 10 * STEP, .grain = STEP, .square = 4, .takes = true}};
    const struct shares_budget few = {.time = 6 * 25.5 * STEP, .first = 60 * STEP, .rounds = 2};
    int rounds = 0;
    for (; shares_round(p, 2, &few); rounds++)
        for (int i = 0; i < 2; i++)
            p[i].made = floor(p[i].target / STEP + 1e-6) * STEP;
    assert_int_equal(rounds, 2);
    assert_true(p[1].made > p[0].made && 3 * (p[0].made + p[1].made) <= few.time);
}

/* What whole units of windows leave over in one round is handed out in the next: every round gives somebody something.
 */
static void test_to_the_last_round(void **state)
{
    uint64_t random = 7;
    for (int trial = 0; trial < 300; trial++) {
        struct shares_part p[2];
        struct shares_budget long_one = {.time = 120000 * STEP, .rounds = 7};
        for (int i = 0; i < 2; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            p[i] = (struct shares_part){.replicas = 3,
                                        .made = (double)(2000 + (random >> 54)) * STEP,
                                        .grain = STEP,
                                        .square = 1 + 3 * i,
                                        .takes = true};
            long_one.first += 3 * p[i].made;
        }
        while (shares_round(p, 2, &long_one)) {
            double before = p[0].made + p[1].made;
            for (int i = 0; i < 2; i++)
                p[i].made = floor(p[i].target / STEP + 1e-6) * STEP;
            assert_true(p[0].made + p[1].made > before);
        }
        assert_true(3 * (p[0].made + p[1].made) > 0.998 * long_one.time);
    }
}

/* Not a budget but so much more for each: by need, of unknown error just that, and nothing to who takes nothing. */
static void test_more(void **state)
{
    static const double cost[PARTS] = {1e-9, 9, 1, 1};
    struct shares_part p[PARTS];
    begin(p, cost);
    p[2].square = NAN;
    p[2].made = 0;
    p[3].takes = false;
    shares_more(p, PARTS, 8);
    assert_true(fabs(p[0].target - (1 + 8 / 4.0)) < 1e-9);
    assert_true(fabs(p[2].target - 8) < 1e-9);
    assert_true(p[3].target == p[3].made);
    double given = 2 * (p[0].target - 1) + 3 * (p[1].target - 1);
    assert_true(given <= 8 * 5 + 1e-9 && given > 8 * 5 - 3 * 8 / 20.0);
    for (int i = 0; i < PARTS; i++)
        p[i].takes = false;
    shares_more(p, PARTS, 8);
    for (int i = 0; i < PARTS; i++)
        assert_true(p[i].target == p[i].made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds),
                                       cmocka_unit_test(test_floors),
                                       cmocka_unit_test(test_unknown),
                                       cmocka_unit_test(test_parts_of_rounds),
                                       cmocka_unit_test(test_between_units),
                                       cmocka_unit_test(test_few_steps),
                                       cmocka_unit_test(test_to_the_last_round),
                                       cmocka_unit_test(test_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
