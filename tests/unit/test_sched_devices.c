/* SPDX-License-Identifier: Apache-2.0
 *
 * Several devices: where sets start, what memory they wait for, and ensembles that are moved.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

#define SLICE SCHED_SLICE_MS

static int count_on(const struct ensemble *e, int worker)
{
    int n = 0;
    for (int i = 0; i < e->nsets; i++)
        n += e->sets[i].worker == worker;
    return n;
}

/* ---- placement ---- */

/* Of ensembles that may start at the same time each has its windows on one device. */
static void ensembles_stay_together(void **state)
{
    struct play p;
    play_begin(&p, 2);
    play_up(&p, 0, 6, "m");
    play_up(&p, 1, 6, "m");
    p.s.full = true;
    struct ensemble *e[] = {play_add_endless(&p, 1, 3), play_add_endless(&p, 2, 3), play_add_endless(&p, 3, 3)};
    play_feed(&p, (struct sched_event){.kind = SCHED_SPACE});
    for (int i = 0; i < 3; i++)
        assert_int_equal(count_on(e[i], count_on(e[i], 0) ? 0 : 1), 3);
    assert_true(p.s.workers[0].nrunning && p.s.workers[1].nrunning);
    play_end(&p);
}

/* The model is worth less than a slot: what finds none beside its like goes elsewhere. */
static void a_free_slot_counts_more_than_a_model(void **state)
{
    struct play p;
    play_begin(&p, 2);
    play_up(&p, 0, 2, "m");
    play_up(&p, 1, 4, "m");
    p.s.full = true;
    struct ensemble *a = play_add_endless(&p, 1, 3), *b = play_add_endless(&p, 2, 3);
    play_feed(&p, (struct sched_event){.kind = SCHED_SPACE});
    assert_int_equal(a->nrunning + b->nrunning, 6);
    play_end(&p);
}

/* One alone has all devices; none is idle for its model's sake. */
static void no_device_is_idle_for_a_model(void **state)
{
    struct play p;
    play_begin(&p, 2);
    play_up(&p, 0, 4, "m");
    play_up(&p, 1, 4, "m");
    struct ensemble *e = play_add_endless(&p, 1, 4);
    assert_int_equal(count_on(e, 0), 2);
    assert_int_equal(count_on(e, 1), 2);
    play_end(&p);
}

/* Nor is a device that was put aside tried for it, while there is another one. */
static void a_sick_device_has_no_merit(void **state)
{
    struct play p;
    play_begin(&p, 2);
    play_up(&p, 0, 4, "m");
    play_up(&p, 1, 4, "m");
    for (int i = 0; i < HEALTH_STRIKES; i++)
        health_strike(&p.s.workers[1].health, p.now, "signal 11");
    p.now += health_pause(&p.s.workers[1].health) + 1;
    struct ensemble *e = play_add_endless(&p, 1, 3);
    assert_int_equal(count_on(e, 0), 3);
    play_end(&p);
}

/* Of devices that have the model the one with most free slots. */
static void the_freest_that_has_the_model(void **state)
{
    struct play p;
    play_begin(&p, 3);
    play_up(&p, 0, 8, "m");
    play_up(&p, 1, 4, "m");
    play_up(&p, 2, 6, "m");
    p.s.full = true;
    struct ensemble *a = play_add_endless(&p, 1, 1);
    play_add_endless(&p, 2, 1);
    p.s.full = false;
    assert_int_equal(pack_place(&p.s, 0, a->sets, p.now), 0);
    a->modelled = 1 << 1 | 1 << 2;
    assert_int_equal(pack_place(&p.s, 0, a->sets, p.now), 2);
    play_end(&p);
}

/* A model that nobody uses is there until another one is made, or the worker ends. */
static void a_model_is_there_until_another_is_made(void **state)
{
    struct play p;
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    struct ensemble *a = play_ensemble(1, 1, 0), *b = play_ensemble(1, 1, 0), *c = play_ensemble(1, 1, 0);
    play_add(&p, a);
    assert_int_equal(a->modelled, 1);
    play_about(&p, SCHED_SEGMENT, a->replicas);
    play_about(&p, SCHED_DONE, a->replicas);
    assert_int_equal(a->modelled, 1);
    play_add(&p, b);
    play_add(&p, c);
    assert_int_equal(a->modelled, 0);
    assert_int_equal(b->modelled & c->modelled, 1);
    play_down(&p, 0, "signal 11");
    assert_int_equal(b->modelled | c->modelled, 0);
    play_end(&p);
}

/* ---- memory ---- */

/* 100 bytes of tables and 50 of a replica, on a card with the limits "1". */
#define SIZES "[{\"kind\":\"cuda\",\"limits\":\"1\",\"tables\":100,\"replica\":50}]"

static int room_joined(struct play *p, int worker, const char *device, int64_t each, int cards, int joined)
{
    return play_feed(p, (struct sched_event){.kind = SCHED_WORKER_UP,
                                             .worker = worker,
                                             .slots = 8,
                                             .device = device,
                                             .model = "m",
                                             .limits = "1",
                                             .room = {.total = each, .free = each, .cards = cards, .joined = joined}});
}

static void up_with(struct play *p, int worker, int slots, const char *device, int64_t total, int64_t free)
{
    struct sched_event ev = {.kind = SCHED_WORKER_UP,
                             .worker = worker,
                             .slots = slots,
                             .device = device,
                             .model = "m",
                             .limits = "1",
                             .room = {.total = total, .free = free}};
    assert_int_equal(play_feed(p, ev), 0);
}

static int room_is(struct play *p, int worker, int64_t total, int64_t free)
{
    return play_feed(p, (struct sched_event){.kind = SCHED_SLOTS,
                                             .worker = worker,
                                             .slots = p->s.workers[worker].slots,
                                             .room = {.total = total, .free = free}});
}

static struct ensemble *add_sized(struct play *p, uint32_t uid, int windows)
{
    struct ensemble *e = play_ensemble(uid, windows, 0);
    device_sizes_read(&e->sizes, SIZES);
    play_endless(e);
    play_add(p, e);
    return e;
}

static struct sched_wait wait_of(struct play *p, const struct sched_replica *r)
{
    struct sched_wait wait;
    play_explain(p, r, &wait);
    return wait;
}

/* Of 300 bytes 270 may be taken: tables and three replicas. Another ensemble would have tables of its own. */
static void a_start_waits_for_memory(void **state)
{
    struct play p;
    play_begin(&p, 1);
    up_with(&p, 0, 8, "cuda:0", 1000, 300);
    struct ensemble *e = add_sized(&p, 1, 4);
    assert_int_equal(e->nrunning, 3);
    struct sched_wait wait = wait_of(&p, &e->replicas[3]);
    assert_int_equal(wait.kind, WAIT_MEMORY);
    assert_string_equal(wait.full->device, "cuda:0");
    assert_int_equal(wait.needs, 50);
    assert_int_equal(wait.free, 20);
    assert_int_equal(wait.expected, -1);
    assert_int_equal(room_is(&p, 0, 1000, 330), 0); /* 297: not yet */
    assert_int_equal(e->nrunning, 3);
    assert_int_equal(room_is(&p, 0, 1000, 340), 0);
    assert_int_equal(e->nrunning, 4);
    struct ensemble *other = add_sized(&p, 1, 1);
    wait = wait_of(&p, other->replicas);
    assert_int_equal(wait.kind, WAIT_MEMORY);
    assert_int_equal(wait.needs, 150);
    assert_int_equal(wait.free, 6);
    assert_int_equal(room_is(&p, 0, 1000, 510), 0);
    assert_int_equal(other->nrunning, 1);
    play_end(&p);
}

/* Also on a device on which nothing of ours runs; and what is not predicted waits for nothing. */
static void others_memory_is_waited_for(void **state)
{
    struct play p;
    play_begin(&p, 1);
    up_with(&p, 0, 8, "cuda:0", 1000, 100);
    struct ensemble *e = add_sized(&p, 1, 1);
    assert_int_equal(e->nrunning, 0);
    assert_int_equal(wait_of(&p, e->replicas).kind, WAIT_MEMORY);
    assert_int_equal(room_is(&p, 0, 1000, 170), 0);
    assert_int_equal(e->nrunning, 1);
    struct ensemble *unknown = play_add_endless(&p, 1, 2);
    assert_int_equal(unknown->nrunning, 2);
    play_end(&p);
}

/* It goes to the device that has the memory, whichever has more slots. */
static void memory_decides_between_devices(void **state)
{
    struct play p;
    play_begin(&p, 2);
    up_with(&p, 0, 8, "cuda:0", 160, 160); /* 144 may be taken: never */
    up_with(&p, 1, 2, "cuda:1", 1000, 1000);
    struct ensemble *e = add_sized(&p, 1, 4);
    assert_int_equal(count_on(e, 0), 0);
    assert_int_equal(count_on(e, 1), 2);
    assert_int_not_equal(wait_of(&p, &e->replicas[3]).kind, WAIT_MEMORY);
    play_end(&p);
}

/* Not before all devices are known; then at once, with the numbers. */
static void what_no_device_holds_fails(void **state)
{
    struct play p;
    play_begin(&p, 2);
    struct ensemble *e = add_sized(&p, 1, 2);
    up_with(&p, 0, 8, "cuda:0", 160, 160);
    assert_int_equal(e->sm.state, ENSEMBLE_QUEUED);
    assert_int_equal(wait_of(&p, e->replicas).kind, WAIT_DEVICE);
    up_with(&p, 1, 8, "cuda:1", 120, 120);
    assert_int_equal(ensemble_count(e, REPLICA_FAILED), 2);
    assert_int_equal(e->sm.state, ENSEMBLE_FINISHING);
    assert_string_equal(e->replicas[1].reason,
                        "no device has memory for it: cuda:0: it needs 150 B, of 144 B; cuda:1: "
                        "it needs 150 B, of 108 B");
    struct ensemble *later = add_sized(&p, 1, 1);
    assert_int_equal(later->sm.state, ENSEMBLE_FINISHING);
    play_end(&p);
}

/* Windows that exchange, a set of 4: each of two cards has tables and two of them. */
static void a_set_is_spread_over_joined_cards(void **state)
{
    struct play p;
    play_begin(&p, 2);
    assert_int_equal(room_joined(&p, 0, "cuda:0+cuda:1", 230, 2, 2), 0); /* 207 may be taken of each */
    assert_int_equal(room_joined(&p, 1, "cuda:2", 230, 0, 0), 0);
    struct ensemble *e = ensemble_of_windows(4, 1, true, 1, 0);
    device_sizes_read(&e->sizes, SIZES);
    play_endless(e);
    play_add(&p, e);
    assert_int_equal(count_on(e, 0), 1); /* the set */
    assert_int_equal(e->nrunning, 4);
    struct ensemble *other = add_sized(&p, 1, 2);
    assert_int_equal(count_on(other, 0), 0); /* 7 bytes are left there */
    assert_int_equal(count_on(other, 1), 2);
    play_end(&p);
}

/* Whichever of its devices a name has, and however many. */
static void sizes_are_of_a_kind(void **state)
{
    static const char *const names[] = {"cuda:0", "cuda:0+cuda:1", "cuda+cuda", "cuda"};
    struct device_sizes sizes = {0};
    device_sizes_read(&sizes, SIZES);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(device_sizes_on(&sizes, names[i], "1"));
    assert_null(device_sizes_on(&sizes, "cud+cuda", "1"));
    assert_null(device_sizes_on(&sizes, "cpu+cuda:0", "1"));
    device_sizes_free(&sizes);
}

/* It waits for the card, as for a device; what all of them would not hold fails. */
static void a_card_is_missing(void **state)
{
    struct play p;
    play_begin(&p, 1);
    struct ensemble *e = ensemble_of_windows(4, 1, true, 1, 0), *larger = ensemble_of_windows(6, 1, true, 101, 0);
    device_sizes_read(&e->sizes, SIZES);
    device_sizes_read(&larger->sizes, SIZES);
    play_add(&p, e);
    play_add(&p, larger);
    assert_int_equal(room_joined(&p, 0, "cuda:0+cuda:1", 230, 1, 2), 0);
    assert_int_equal(e->nrunning, 0);
    assert_int_equal(wait_of(&p, e->replicas).kind, WAIT_DEVICE);
    assert_int_equal(larger->sm.state, ENSEMBLE_FINISHING);
    assert_string_equal(larger->replicas[0].reason,
                        "no device has memory for it: cuda:0+cuda:1: it needs 250 B, of 207 B on each of 2 cards");
    play_down(&p, 0, "signal 9");
    p.now += 60000;
    assert_int_equal(room_joined(&p, 0, "cuda:0+cuda:1", 230, 2, 2), 0);
    assert_int_equal(e->nrunning, 4);
    play_end(&p);
}

/* ---- moves ---- */

static int move(struct play *p, struct ensemble *e, int worker, const char *device)
{
    return play_feed(p, (struct sched_event){.kind = SCHED_MOVE, .ensemble = e, .worker = worker, .device = device});
}

static void begin_two(struct play *p, const char *second)
{
    play_begin(p, 2);
    play_up(p, 0, 2, "m");
    play_up(p, 1, 4, second);
}

/* What runs elsewhere stops; all of it goes on there, and stays there whatever has room. */
static void a_moved_ensemble_goes_on_there(void **state)
{
    struct play p;
    begin_two(&p, "m");
    struct ensemble *e = play_add_endless(&p, 1, 4);
    const int elsewhere = count_on(e, 1);
    assert_true(elsewhere > 0 && elsewhere < 4);
    assert_int_equal(move(&p, e, 0, "cuda:0"), 0);
    assert_int_equal(play_count(&p, DECIDE_STOP), elsewhere);
    assert_int_equal(play_count(&p, DECIDE_REASON), 1);
    assert_string_equal(p.d.item[0].note, "move");
    assert_string_equal(p.d.item[0].text, "moved to cuda:0 by its owner");
    play_until(&p, SLICE / 2, 1);
    assert_int_equal(count_on(e, 0), 2);
    assert_int_equal(count_on(e, 1), 0); /* it has room, and is not meant */
    assert_int_equal(move(&p, e, 1, "cuda:1"), 0);
    play_until(&p, SLICE, 1);
    assert_int_equal(count_on(e, 1), 4);
    assert_int_equal(move(&p, e, -1, "any"), 0);
    assert_null(e->moved_to);
    assert_int_equal(play_count(&p, DECIDE_STOP), 0);
    play_end(&p);
}

/* It is not bound to a device that cannot be counted on. */
static void a_device_out_of_use_binds_nobody(void **state)
{
    struct play p;
    begin_two(&p, "m");
    struct ensemble *e = play_add_endless(&p, 1, 2);
    assert_int_equal(move(&p, e, 1, "cuda:1"), 0);
    play_until(&p, SLICE, 1);
    assert_int_equal(count_on(e, 1), 2);
    play_drain(&p, 1);
    play_until(&p, 2 * SLICE, 1);
    assert_int_equal(count_on(e, 0), 2);
    play_undrain(&p, 1);
    assert_string_equal(e->moved_to, "cuda:1");
    play_down(&p, 0, "signal 11"); /* it goes back when it starts again */
    play_until(&p, 4 * SLICE, 1);
    assert_int_equal(count_on(e, 1), 2);
    for (int i = 0; i < 2; i++)
        play_about(&p, SCHED_SEGMENT, &e->replicas[i]);
    play_up(&p, 0, 2, "m");
    play_down(&p, 1, "signal 11"); /* with both, there: the other is tried */
    play_up(&p, 1, 4, "m");
    play_until(&p, 8 * SLICE, 1);
    assert_int_equal(count_on(e, 0), 2);
    play_end(&p);
}

/* Another model would change bits: refused while there is one like that of the checkpoints. */
static void another_model_is_refused(void **state)
{
    struct play p;
    begin_two(&p, "n");
    play_drain(&p, 1);
    struct ensemble *e = play_add_endless(&p, 1, 2);
    assert_int_equal(move(&p, e, 1, "cuda:1"), -ERR_CONFLICT);
    assert_non_null(strstr(p.err.msg, "drained by the administrator ann"));
    play_undrain(&p, 1);
    assert_int_equal(move(&p, e, 1, "cuda:1"), -ERR_CONFLICT);
    assert_non_null(strstr(p.err.msg, "cannot be moved to cpu (n): window 0 goes on from a checkpoint of cpu (m)"));
    assert_int_equal(p.d.n, 0);
    assert_null(e->moved_to);
    play_drain(&p, 0);
    assert_int_equal(move(&p, e, 1, "cuda:1"), 0); /* nobody else is left: as any restart would do it */
    play_until(&p, SLICE, 1);
    assert_int_equal(count_on(e, 1), 2);
    play_end(&p);
}

/* What has no checkpoint has no bits to lose. */
static void what_has_not_begun_goes_anywhere(void **state)
{
    struct play p;
    begin_two(&p, "n");
    struct ensemble *e = play_add_endless(&p, 1, 2);
    for (int i = 0; i < 2; i++)
        play_failed(&p, &e->replicas[i], ERR_BUSY, 0); /* it leaves without a checkpoint */
    assert_int_equal(count_on(e, 0) + count_on(e, 1), 0);
    assert_int_equal(move(&p, e, 0, "cuda:0"), 0);
    play_until(&p, SLICE, 1);
    assert_int_equal(count_on(e, 0), 2);
    play_end(&p);
}

static void a_move_needs_a_device_and_an_open_ensemble(void **state)
{
    struct play p;
    play_begin(&p, 2);
    play_up(&p, 0, 2, "m");
    struct ensemble *e = play_add_endless(&p, 1, 2);
    assert_int_equal(move(&p, e, 1, "cuda:1"), -ERR_BUSY);
    for (int i = 0; i < HEALTH_STRIKES; i++)
        health_strike(&p.s.workers[0].health, p.now, "signal 11");
    assert_int_equal(move(&p, e, 0, "cuda:0"), -ERR_CONFLICT);
    assert_non_null(strstr(p.err.msg, "put aside after crashes"));
    health_undrain(&p.s.workers[0].health);
    assert_int_equal(move(&p, e, 0, "cuda:0"), 0);
    assert_int_equal(play_wish(&p, SCHED_CANCEL, e), 0);
    assert_int_equal(move(&p, e, 0, "cuda:0"), -ERR_CONFLICT);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ensembles_stay_together),
        cmocka_unit_test(a_free_slot_counts_more_than_a_model),
        cmocka_unit_test(no_device_is_idle_for_a_model),
        cmocka_unit_test(a_sick_device_has_no_merit),
        cmocka_unit_test(the_freest_that_has_the_model),
        cmocka_unit_test(a_model_is_there_until_another_is_made),
        cmocka_unit_test(a_start_waits_for_memory),
        cmocka_unit_test(others_memory_is_waited_for),
        cmocka_unit_test(memory_decides_between_devices),
        cmocka_unit_test(what_no_device_holds_fails),
        cmocka_unit_test(a_set_is_spread_over_joined_cards),
        cmocka_unit_test(a_card_is_missing),
        cmocka_unit_test(sizes_are_of_a_kind),
        cmocka_unit_test(a_moved_ensemble_goes_on_there),
        cmocka_unit_test(a_device_out_of_use_binds_nobody),
        cmocka_unit_test(another_model_is_refused),
        cmocka_unit_test(what_has_not_begun_goes_anywhere),
        cmocka_unit_test(a_move_needs_a_device_and_an_open_ensemble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
