/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/quota/rules.h"

enum { ANN = 1001, BOB = 1002, ROOT = 0 };

static struct quota *small(int64_t each, int64_t all)
{
    struct quota *q = quota_new();
    quota_limit(q, QUOTA_FOLLOWERS, each, all);
    return q;
}

static int take(struct quota *q, uint32_t uid, int64_t n, struct quota_charge *c)
{
    struct err e = {0};
    return -quota_take(q, uid, QUOTA_FOLLOWERS, n, c, &e);
}

static void test_own_limit(void **state)
{
    struct quota *q = small(3, 1000);
    struct quota_charge c[4] = {0}, other = {0};
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(q, ANN, 1, &c[i]), 0);
    assert_int_equal(take(q, ANN, 1, &c[3]), ERR_LIMIT);
    assert_null(c[3].user);
    assert_int_equal(quota_held(q, ANN, QUOTA_FOLLOWERS), 3);
    assert_int_equal(take(q, BOB, 3, &other), 0);
    quota_return(&c[1]);
    quota_return(&c[1]); /* nothing is held any more */
    assert_int_equal(quota_held(q, ANN, QUOTA_FOLLOWERS), 2);
    assert_int_equal(take(q, ANN, 1, &c[1]), 0);
    for (int i = 0; i < 4; i++)
        quota_return(&c[i]);
    quota_return(&other);
    assert_int_equal(quota_held(q, ANN, QUOTA_FOLLOWERS), 0);
    quota_free(q);
}

static void test_root_gets_in(void **state)
{
    struct quota *q = small(1000, 32);
    struct quota_charge ann = {0}, bob = {0}, root = {0}, more = {0};
    assert_int_equal(take(q, ANN, 20, &ann), 0);
    assert_int_equal(take(q, BOB, 11, &bob), ERR_BUSY); /* two of the 32 are root's */
    assert_int_equal(take(q, BOB, 10, &bob), 0);
    assert_int_equal(take(q, ROOT, 2, &root), 0);
    assert_int_equal(take(q, ROOT, 1, &more), ERR_BUSY); /* there is no more, for nobody */
    quota_return(&ann);
    quota_limit(q, QUOTA_FOLLOWERS, 5, 32);
    assert_int_equal(take(q, ROOT, 20, &more), 0); /* root has no limit of its own */
    quota_return(&more);
    quota_return(&bob);
    quota_return(&root);
    quota_free(q);
}

static void test_growing(void **state)
{
    struct quota *q = small(10, 1000);
    struct quota_charge c = {0}, d = {0};
    struct err e = {0};
    assert_int_equal(take(q, ANN, 4, &c), 0);
    assert_int_equal(quota_grow(&c, 6, &e), 0);
    assert_int_equal(quota_grow(&c, 1, &e), -ERR_LIMIT);
    assert_non_null(strstr(e.msg, "limit of 10 "));
    assert_int_equal(c.amount, 10);
    quota_set(&c, 50); /* a fact, whatever the limit */
    assert_int_equal(quota_held(q, ANN, QUOTA_FOLLOWERS), 50);
    assert_int_equal(take(q, ANN, 1, &d), ERR_LIMIT);
    quota_set(&c, 2);
    assert_int_equal(take(q, ANN, 8, &d), 0);
    quota_return(&c);
    quota_return(&d);
    quota_free(q);
}

static void test_kinds_are_apart(void **state)
{
    struct quota *q = small(1, 1000);
    struct quota_charge c = {0}, d = {0};
    struct err e = {0};
    assert_int_equal(take(q, ANN, 1, &c), 0);
    assert_int_equal(quota_take(q, ANN, QUOTA_CONNECTIONS, 1, &d, &e), 0);
    quota_return(&c);
    assert_int_equal(quota_held(q, ANN, QUOTA_CONNECTIONS), 1);
    assert_int_equal(take(q, ANN, INT64_MAX, &c), ERR_LIMIT);
    quota_return(&d);
    quota_free(q);
}

/* Whatever is taken and returned in whatever order, nothing stays behind. */
static void test_all_comes_back(void **state)
{
    struct quota *q = small(40, 100);
    struct quota_charge c[64] = {0};
    srand(7);
    for (int i = 0; i < 20000; i++) {
        struct quota_charge *one = &c[rand() % 64];
        struct err e = {0};
        if (!one->user)
            take(q, (uint32_t)(rand() % 5), rand() % 8, one);
        else if (rand() % 3)
            quota_return(one);
        else
            quota_grow(one, rand() % 4, &e);
    }
    int64_t all = 0;
    for (uint32_t uid = 0; uid < 5; uid++)
        all += quota_held(q, uid, QUOTA_FOLLOWERS);
    assert_true(all <= 100);
    for (int i = 0; i < 64; i++)
        quota_return(&c[i]);
    for (uint32_t uid = 0; uid < 5; uid++)
        assert_int_equal(quota_held(q, uid, QUOTA_FOLLOWERS), 0);
    quota_free(q); /* aborts if a user is left */
}

/* The first rule that fits counts, and only that one; what it does not say is as for everybody. Of users that Debian
 * has. */
static void test_rules(void **state)
{
    enum { DAEMON = 1, BIN = 2, SYS = 3, NOBODY = 12345 };
    struct quota_rule rules[] = {{.user = "nobody-has-this-name", .weight = 7},
                                 {.user = "daemon", .group = "bin", .weight = 8},
                                 {.user = "daemon", .weight = 0.5},
                                 {.group = "daemon", .weight = 9},
                                 {.group = "bin", .weight = 3},
                                 {.weight = 2}};
    struct quota *q = small(3, 1000);
    struct quota_charge c = {0};
    struct err e = {0};
    for (int i = 0; i < 6; i++)
        for (int kind = 0; kind < QUOTA_COUNT; kind++)
            rules[i].each[kind] = -1;
    rules[2].each[QUOTA_FOLLOWERS] = 5;
    rules[5].each[QUOTA_FOLLOWERS] = 0;
    assert_true(quota_weight(q, DAEMON) == 1);
    quota_take_rules(q, rules_new(rules, 6, NULL));
    assert_true(quota_weight(q, DAEMON) == 0.5);
    assert_true(quota_weight(q, BIN) == 3);
    assert_true(quota_weight(q, SYS) == 2);
    assert_true(quota_weight(q, NOBODY) == 2);
    assert_int_equal(quota_limit_of(q, DAEMON, QUOTA_FOLLOWERS), 5);
    assert_int_equal(quota_limit_of(q, BIN, QUOTA_FOLLOWERS), 3);
    assert_int_equal(take(q, BIN, 4, &c), ERR_LIMIT);
    assert_int_equal(take(q, SYS, 1, &c), ERR_LIMIT);
    assert_int_equal(take(q, DAEMON, 6, &c), ERR_LIMIT);
    assert_int_equal(take(q, DAEMON, 5, &c), 0);
    quota_take_rules(q, rules_new(rules + 5, 1, NULL)); /* read again */
    assert_true(quota_weight(q, DAEMON) == 2);
    assert_true(quota_exceeded(q, DAEMON, QUOTA_FOLLOWERS, &e));
    quota_return(&c);
    assert_string_equal(rules_unknown(&rules[0]), "nobody-has-this-name");
    assert_null(rules_unknown(&rules[1]));
    quota_free(q);
}

/* Members of a group; without one nobody, whatever the rules are. */
static void test_administrators(void **state)
{
    enum { DAEMON = 1, BIN = 2, NOBODY = 12345 };
    struct quota *q = small(3, 1000);
    assert_false(quota_administrates(q, DAEMON));
    quota_take_rules(q, rules_new(NULL, 0, "daemon"));
    assert_true(quota_administrates(q, DAEMON));
    assert_false(quota_administrates(q, BIN) || quota_administrates(q, NOBODY));
    assert_true(quota_weight(q, DAEMON) == 1);
    quota_take_rules(q, rules_new(NULL, 0, NULL));
    assert_false(quota_administrates(q, DAEMON));
    quota_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_limit),      cmocka_unit_test(test_rules),
                                       cmocka_unit_test(test_administrators), cmocka_unit_test(test_root_gets_in),
                                       cmocka_unit_test(test_growing),        cmocka_unit_test(test_kinds_are_apart),
                                       cmocka_unit_test(test_all_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
