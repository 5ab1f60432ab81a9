/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices of one worker: which of a joined name are opened, what is told of all of them together, and where the
 * next replica goes. Linked with --wrap=engine_open: devices are made up.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/worker/device/cards.h"

enum { MADE = 8 };

struct made_up {
    struct dev base;
    struct dev_usage usage;
    uint64_t millijoules; /* 0: it does not tell */
};

static struct made_up made[MADE];
static bool broken[MADE];
static int alive;

static void close_one(struct dev *d)
{
    alive--;
}

static void usage_of(struct dev *d, struct lane *lane, struct dev_usage *out)
{
    *out = ((struct made_up *)d)->usage;
}

static bool energy_of(struct dev *d, uint64_t *millijoules)
{
    *millijoules = ((struct made_up *)d)->millijoules;
    return *millijoules != 0;
}

static const struct dev_ops made_up_ops = {.close = close_one, .usage = usage_of, .energy = energy_of};

int __wrap_engine_open(struct dev **out, const char *name, struct err *e);

/* cuda:NUMBER; with another number, of which the second half of numbers are, it is of another model. */
int __wrap_engine_open(struct dev **out, const char *name, struct err *e)
{
    const int number = atoi(name + strlen("cuda:"));
    if (broken[number])
        return err_set(e, ERR_DEVICE, "%s is broken", name);
    *out = &made[number].base;
    made[number].base = (struct dev){.ops = &made_up_ops, .model = number < MADE / 2 ? "a card" : "another card"};
    alive++;
    return 0;
}

static int begin(void **state)
{
    memset(made, 0, sizeof made);
    memset(broken, 0, sizeof broken);
    return alive;
}

static void test_opened(void **state)
{
    struct cards c;
    struct err e = {0};
    assert_int_equal(cards_open(&c, "cuda:2", &e), 0);
    assert_true(c.joined == 1 && c.n == 1 && alive == 1);
    cards_close(&c);
    assert_int_equal(cards_open(&c, "cuda:0+cuda:3+cuda:1", &e), 0);
    assert_true(c.joined == 3 && c.n == 3 && c.card[1].dev == &made[3].base && c.card[2].models.dev == &made[1].base);
    assert_string_equal(c.card[2].name, "cuda:1");
    assert_int_equal(cards_slots(&c), 3 * 24);
    cards_close(&c);
    broken[0] = true;
    assert_int_equal(cards_open(&c, "cuda:0+cuda:3", &e), 0);
    assert_true(c.joined == 2 && c.n == 1);
    assert_string_equal(c.card[0].name, "cuda:3");
    cards_close(&c);
    broken[3] = true;
    assert_int_equal(cards_open(&c, "cuda:0+cuda:3", &e), -ERR_DEVICE);
    assert_string_equal(e.msg, "cuda:3 is broken");
    cards_close(&c);
    assert_int_equal(alive, 0);
}

static void test_of_one_model(void **state)
{
    struct cards c;
    struct err e = {0};
    assert_int_equal(cards_open(&c, "cuda:0+cuda:1+cuda:5", &e), -ERR_USAGE);
    assert_string_equal(e.msg,
                        "cuda:0+cuda:1+cuda:5: cuda:5 is another card and another is a card: expected devices of "
                        "one model, since the last bits of numbers depend on it");
    cards_close(&c);
    assert_int_equal(alive, 0);
}

/* Of the card with least left, once what replicas have is counted as left. */
static void test_memory(void **state)
{
    struct cards c;
    struct err e = {0};
    int64_t left;
    size_t used;
    const struct card_load load[] = {{2, 300}, {1, 50}};
    assert_int_equal(cards_open(&c, "cuda:0+cuda:1", &e), 0);
    made[0].usage = (struct dev_usage){.total = 1000, .free = 500, .used = 400, .slab = 8};
    made[1].usage = (struct dev_usage){.total = 900, .free = 600, .used = 80, .slab = 8};
    struct room room = cards_room(&c, NULL, &left, &used);
    assert_true(room.total == 1000 && room.free == 500 && left == 500 && used == 400);
    room = cards_room(&c, load, &left, &used);
    assert_true(room.total == 900 && room.free == 650 && left == 600 && used == 80);
    assert_true(room.cards == 2 && room.joined == 2 && room.slab == 8);
    cards_close(&c);
}

static void test_energy(void **state)
{
    struct cards c;
    struct err e = {0};
    assert_int_equal(cards_open(&c, "cuda:0+cuda:1", &e), 0);
    made[0].millijoules = 20;
    assert_int_equal(cards_energy(&c), 0); /* not all tell */
    made[1].millijoules = 3;
    assert_int_equal(cards_energy(&c), 23);
    assert_null(cards_lost(&c));
    err_set(&made[1].base.lost, ERR_DEVICE, "gone");
    assert_ptr_equal(cards_lost(&c), &made[1].base);
    cards_close(&c);
}

/* An ensemble is spread evenly; among cards that have as many of it, the emptiest is next. */
static void test_where_next(void **state)
{
    const struct cards c = {.n = 3};
    const struct card_load all[] = {{5, 0}, {3, 0}, {3, 0}};
    assert_int_equal(cards_emptiest(&c, (unsigned[]){0, 0, 0}, all), 1);
    assert_int_equal(cards_emptiest(&c, (unsigned[]){0, 1, 1}, all), 0);
    assert_int_equal(cards_emptiest(&c, (unsigned[]){1, 1, 0}, all), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_opened, begin), cmocka_unit_test_setup(test_of_one_model, begin),
        cmocka_unit_test_setup(test_memory, begin), cmocka_unit_test_setup(test_energy, begin),
        cmocka_unit_test(test_where_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
