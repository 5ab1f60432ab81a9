/* SPDX-License-Identifier: Apache-2.0
 *
 * How many replicas a GPU gets in flight, with costs that are made up; and what a period of load says.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/worker/device/load.h"
#include "daemon/worker/device/packing.h"

enum { START = 24, LOOKS = 50 };

/* A device on which a step takes `alone` s and, however many are in flight, `least` s of it; memory for `most`
 * replicas. */
struct costs {
    double alone, least, size;
    unsigned most;
};

static struct packing_view view(const struct costs *c, unsigned running)
{
    double step = fmax(c->alone / running, c->least); /* of any of them */
    return (struct packing_view){
        .running = running, .rate = c->size / step, .size = c->size, .room = c->most - running};
}

/* As many are in flight as wanted, again and again. Returns how often that changed. */
static int play(struct packing *p, const struct costs *c)
{
    int changes = 0;
    for (int k = 0; k < LOOKS; k++) {
        struct packing_view v = view(c, p->slots);
        v.rate *= 1 + 0.01 * (k * 7 % 3 - 1); /* clocks are never that good */
        changes += packing_look(p, &v);
        assert_true(p->slots >= 1 && p->slots <= c->most);
    }
    return changes;
}

/* Memory in bytes; pieces of 64 MiB, as GPUs give. What does not fill half a piece shares one, what is longer has one
 * of its own. */
static void what_memory_holds(void **state)
{
    const int64_t mib = 1 << 20, gib = 1 << 30;
    static const struct {
        int64_t free, slab, tables, replica; /* MiB */
        int64_t fit;
    } cases[] = {{1000, 0, 0, 9, 100},                         /* a tenth stays free */
                 {1000, 0, 90, 9, 90},                         /* beside tables */
                 {1000, 0, 900, 9, 0},  {1000, 0, 0, 901, 0},  /* not even one */
                 {1000, 0, 0, 0, 0},    {1000, 64, 0, 24, 28}, /* 14 pieces of two */
                 {1000, 64, 0, 32, 28}, {1000, 64, 0, 33, 27}, /* one to itself */
                 {1000, 64, 0, 300, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct room r = {.total = 2 * gib, .free = cases[k].free * mib, .slab = cases[k].slab * mib};
        assert_int_equal(room_for(&r, cases[k].tables * mib, cases[k].replica * mib), cases[k].fit);
        const int64_t left = room_usable(r.free) - cases[k].tables * mib; /* what they take says the same */
        assert_true(!cases[k].fit || room_taken(&r, cases[k].replica * mib, cases[k].fit) <= left);
        assert_true(!cases[k].replica || room_taken(&r, cases[k].replica * mib, cases[k].fit + 1) > left);
        struct room three = r; /* cards, each with that memory and the tables */
        three.cards = three.joined = 3;
        assert_int_equal(room_for(&three, cases[k].tables * mib, cases[k].replica * mib), 3 * cases[k].fit);
        assert_true(!cases[k].fit || room_taken(&three, cases[k].replica * mib, 3 * cases[k].fit) <= left);
        assert_true(!cases[k].replica || room_taken(&three, cases[k].replica * mib, 3 * cases[k].fit + 1) > left);
    }
    /* the worker has room for those that were told and do not run yet */
    const struct room r = {.total = 2 * gib, .free = 1000 * mib};
    assert_int_equal(packing_room(&r, 0, (size_t)(9 * mib)), room_for(&r, 0, 9 * mib));
    assert_int_equal(packing_room(&r, 70, (size_t)(9 * mib)), 30);
    assert_int_equal(packing_room(&r, 101, (size_t)(9 * mib)), 0);
    assert_int_equal(packing_room(&r, 3, 0), 0); /* not known */
    assert_int_equal(packing_room(&r, 3, 1), PACKING_MOST);
}

static void as_many_as_pay(void **state)
{
    static const struct {
        struct costs costs;
        unsigned slots;                             /* what comes of it */
    } cases[] = {{{100e-6, 8e-6, 5000, 1000}, 24},  /* full with 12.5: half as many again are no faster */
                 {{100e-6, 3e-6, 5000, 1000}, 36},  /* with 33 */
                 {{100e-6, 0.9e-6, 22, 1000}, 121}, /* with 111, of 24, 36, 54, 81, 121, 181 */
                 {{100e-6, 0.1e-6, 22, 100}, 100}}; /* memory ends before */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct packing p;
        packing_start(&p, START);
        play(&p, &cases[k].costs);
        assert_int_equal(p.slots, cases[k].slots);
        assert_int_equal(play(&p, &cases[k].costs), 0);
    }
}

/* Newcomers that minimize and build graphs hold everybody up for a while, and more than one period of it looks steady.
 */
static void what_holds_up_for_a_while_is_passed_over(void **state)
{
    const struct costs c = {100e-6, 0.9e-6, 22, 1000};
    struct packing p;
    packing_start(&p, START);
    for (int k = 0; k < LOOKS; k++) {
        struct packing_view v = view(&c, p.slots);
        v.rate /= k % 3 ? 3 : 1;
        packing_look(&p, &v);
    }
    assert_int_equal(p.slots, 121);
}

/* While some slots are empty nothing can be learnt from them. */
static void empty_slots_say_nothing(void **state)
{
    const struct costs c = {100e-6, 0.9e-6, 22, 1000};
    struct packing p;
    packing_start(&p, START);
    for (int k = 0; k < LOOKS; k++) {
        struct packing_view v = view(&c, START / 2);
        assert_false(packing_look(&p, &v));
    }
    assert_int_equal(p.slots, START);
}

/* What was learnt of small systems does not hold for large ones, nor the other way round. */
static void other_sizes_are_measured_anew(void **state)
{
    const struct costs small = {100e-6, 0.9e-6, 22, 1000}, large = {250e-6, 100e-6, 36000, 200};
    struct packing p;
    packing_start(&p, START);
    for (int round = 0; round < 2; round++) {
        play(&p, &small);
        assert_int_equal(p.slots, 121);
        play(&p, &large);
        assert_int_equal(p.slots, START);
    }
}

static void memory_that_ends_is_a_limit(void **state)
{
    const struct costs c = {100e-6, 0.9e-6, 22, 1000};
    struct packing p;
    packing_start(&p, START);
    assert_true(packing_full(&p, 17));
    assert_int_equal(p.slots, 17);
    assert_int_equal(play(&p, &c), 0);
    packing_start(&p, START);
    assert_true(packing_full(&p, 0)); /* not even one: it is tried again */
    assert_int_equal(p.slots, 1);
}

static void a_number_that_was_asked_for_stays(void **state)
{
    const struct costs c = {100e-6, 0.9e-6, 22, 1000};
    struct packing p;
    packing_fix(&p, 3);
    assert_int_equal(play(&p, &c), 0);
    assert_false(packing_full(&p, 1));
    assert_int_equal(p.slots, 3);
}

static void load_of_a_period(void **state)
{
    struct load_meter m = {0};
    struct load_period p;
    load_take(&m, 10, 1, 4, &p);
    assert_false(load_due(&m, 10 + 0.9 * LOAD_SECONDS));
    assert_true(load_due(&m, 10 + LOAD_SECONDS));
    unsigned mine = 0, other = 0;
    load_add(&m.sum, &mine, 300, 0.6, 5000);
    load_add(&m.sum, &mine, 300, 0.6, 5000);
    load_add(&m.sum, &other, 400, 0.8, 5000);
    load_take(&m, 14, 4, 4, &p);
    assert_int_equal(p.stepped, 2);
    assert_true(fabs(p.busy - 0.75) < 1e-12 && fabs(p.us_per_replica_step - 4000) < 1e-9);
    assert_true(fabs(p.ns_per_day - 2e-3 / 4 * 86400) < 1e-9 && fabs(p.rate - 1.25e6) < 1e-6 &&
                fabs(p.size - 5000) < 1e-9);
    assert_false(p.steady); /* since the four came nothing else did, but they were being set up */
    load_take(&m, 16, 4, 4, &p);
    assert_true(p.steady && p.stepped == 0 && p.busy == 0 && p.us_per_replica_step == 0 && p.rate == 0 && p.size == 0);
    load_take(&m, 18, 4, 5, &p);
    assert_false(p.steady);
    load_take(&m, 20, 4, 5, &p);
    assert_false(p.steady);
    load_take(&m, 22, 4, 5, &p);
    assert_true(p.steady && p.moves);
    load_add(&m.sum, &mine, 20, 0, 5000);
    load_take(&m, 24, 4, 5, &p);
    assert_true(p.steady && !p.moves); /* somebody minimizes.. */
    m.sum.stages++;
    load_take(&m, 26, 4, 5, &p);
    assert_true(!p.steady && p.moves); /* ..and goes on to dynamics */
    load_take(&m, 28, 4, 5, &p);
    assert_false(p.steady);
    load_take(&m, 30, 4, 5, &p);
    assert_true(p.steady && p.moves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_memory_holds),
        cmocka_unit_test(as_many_as_pay),
        cmocka_unit_test(what_holds_up_for_a_while_is_passed_over),
        cmocka_unit_test(empty_slots_say_nothing),
        cmocka_unit_test(other_sizes_are_measured_anew),
        cmocka_unit_test(memory_that_ends_is_a_limit),
        cmocka_unit_test(a_number_that_was_asked_for_stays),
        cmocka_unit_test(load_of_a_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
