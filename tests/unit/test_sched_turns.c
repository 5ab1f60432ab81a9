/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of one ensemble take turns where there are fewer slots (daemon/schedule/turns.c). One step takes one ms.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

#define SECOND 1000

/* Windows in sets of `together`, each of `before` steps that do not produce, then `produce` that do. */
static struct ensemble *make(int replicas, int together, int64_t before, int64_t produce)
{
    struct ensemble *e = play_ensemble(1, replicas, 0);
    e->allocation.before = before;
    e->nsets = 0;
    for (int i = 0; i < replicas; i += together)
        ensemble_add_set(e, together);
    for (int i = 0; i < replicas; i++)
        e->replicas[i].steps = before + produce;
    return e;
}

static void begin(struct play *p, int slots, struct ensemble *e)
{
    play_begin(p, 1);
    play_up(p, 0, slots, "m");
    play_add(p, e);
}

/* Of all replicas the one with fewest steps, of which a checkpoint has it if those are asked for. */
static int64_t least_of(const struct ensemble *e, bool saved)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < e->nreplicas; i++) {
        int64_t step = saved ? e->replicas[i].saved_step : e->replicas[i].step;
        least = step < least ? step : least;
    }
    return least;
}

/* So many windows, in sets of so many, on so many slots. Where every window has to leave for another, a checkpoint has
 * the samples too, without which there is no estimate. */
static void check_a_fifth(int sets, int together, int slots, int64_t produce)
{
    struct play p;
    int64_t before = produce / 20, at_once = slots / together;
    struct ensemble *e = make(sets * together, together, before, produce);
    begin(&p, slots, e);
    p.start_ms = 50;
    play_run(&p, (before + produce) * sets / at_once / 5);
    if (least_of(e, sets >= 2 * at_once) <= before)
        fail_msg("%d sets of %d on %d slots, %lld s of production: one has no samples after a fifth", sets, together,
                 slots, (long long)(produce / SECOND));
    play_end(&p);
}

static void all_windows_have_samples_after_a_fifth_of_the_time(void **state)
{
    static const int sets[] = {3, 8, 13, 40}, together[] = {1, 2, 3}, slots[] = {1, 2, 3, 7};
    static const int64_t produce[] = {120 * SECOND, 600 * SECOND, 3600 * SECOND};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 4; c++)
                for (int d = 0; d < 3; d++)
                    if (slots[c] >= together[b] && slots[c] / together[b] < sets[a])
                        check_a_fifth(sets[a], together[b], slots[c], produce[d]);
}

/* From the first turns on no window is further ahead of another than two turns, and all end within two turns of each
 * other: then nobody waits long. */
static void no_window_is_left_behind(void **state)
{
    enum { WINDOWS = 7, BEFORE = 5 * SECOND, PRODUCE = 200 * SECOND, TURN = PRODUCE / 20 };
    struct play p;
    struct ensemble *e = make(WINDOWS, 1, BEFORE, PRODUCE);
    begin(&p, 2, e);
    play_run(&p, (BEFORE + TURN) * WINDOWS / 2 + TURN);
    for (int64_t t = p.now; ensemble_count(e, REPLICA_DONE) < WINDOWS; t += SECOND) {
        int64_t least = INT64_MAX, most = 0;
        play_run(&p, t);
        for (int i = 0; i < WINDOWS; i++) {
            least = e->replicas[i].step < least ? e->replicas[i].step : least;
            most = e->replicas[i].step > most ? e->replicas[i].step : most;
        }
        assert_in_range(most - least, 0, 2 * TURN);
    }
    assert_in_range(p.now, 0, (BEFORE + PRODUCE) * WINDOWS / 2 + 3 * TURN); /* both slots were at work to the end */
    play_end(&p);
}

/* However long a start takes: all starts but the first of each window are a fiftieth of the time. */
static void starts_cost_little(void **state)
{
    enum { WINDOWS = 8, PRODUCE = 600 * SECOND };
    static const int64_t start_ms[] = {0, 100, 500, 1000};
    for (int i = 0; i < 4; i++) {
        struct play p;
        struct ensemble *e = make(WINDOWS, 1, 0, PRODUCE);
        begin(&p, 2, e);
        p.start_ms = start_ms[i];
        while (ensemble_count(e, REPLICA_DONE) < WINDOWS)
            play_run(&p, p.now + SECOND);
        assert_true(p.starts > 2 * WINDOWS);
        assert_true((p.starts - WINDOWS) * start_ms[i] * 50 <= WINDOWS * PRODUCE);
        play_end(&p);
    }
}

static void equilibration_is_not_interrupted(void **state)
{
    struct play p;
    struct ensemble *e = make(2, 1, 300 * SECOND, 600 * SECOND);
    begin(&p, 1, e);
    play_run(&p, 301 * SECOND);
    assert_int_equal(p.stops, 0);
    play_run(&p, 335 * SECOND);
    assert_int_equal(p.stops, 1); /* a twentieth of production later */
    assert_int_equal(e->replicas[1].sm.state, REPLICA_RUNNING);
    play_end(&p);
}

static void nobody_leaves_where_there_are_slots_for_all(void **state)
{
    struct play p;
    struct ensemble *e = make(8, 1, SECOND, 300 * SECOND);
    begin(&p, 8, e);
    play_run(&p, 310 * SECOND);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 8);
    assert_int_equal(p.starts, 8);
    assert_int_equal(p.stops, 0);
    play_end(&p);
}

/* The other user's part does not depend on how the windows of an ensemble take turns. */
static void turns_take_nothing_from_others(void **state)
{
    struct play p;
    struct ensemble *e = make(8, 1, 0, 3600 * SECOND), *f = play_ensemble(2, 1, 0);
    f->replicas[0].steps = 3600 * SECOND;
    begin(&p, 1, e);
    play_add(&p, f);
    play_run(&p, 1800 * SECOND);
    assert_in_range(p.s.users[e->user].usage, 800 * SECOND, 1000 * SECOND);
    assert_in_range(p.s.users[f->user].usage, 800 * SECOND, 1000 * SECOND);
    assert_true(least_of(e, true) > 0);
    play_end(&p);
}

/* A window that was added is the last to wait for: what the others had sampled is taken up first, at once. */
static void what_was_sampled_is_taken_up_first(void **state)
{
    static const int origin[] = {-1, 0, 1};
    struct play p;
    struct ensemble *e = make(2, 1, SECOND, 100 * SECOND);
    begin(&p, 2, e);
    play_run(&p, 102 * SECOND);
    assert_int_equal(ensemble_count(e, REPLICA_DONE), 2);
    play_feed(&p, (struct sched_event){.kind = SCHED_ESTIMATED, .ensemble = e, .ok = true});
    assert_int_equal(play_feed(&p, (struct sched_event){.kind = SCHED_ADD_WINDOWS,
                                                        .ensemble = e,
                                                        .window = 3,
                                                        .origin = origin,
                                                        .replica = 1 << 20,
                                                        .spec = "x",
                                                        .message = "wider"}),
                     0);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    assert_int_equal(e->replicas[0].sm.state, REPLICA_QUEUED);
    assert_int_equal(e->replicas[1].sm.state, REPLICA_RUNNING);
    assert_int_equal(e->replicas[2].sm.state, REPLICA_RUNNING);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_windows_have_samples_after_a_fifth_of_the_time),
        cmocka_unit_test(no_window_is_left_behind),
        cmocka_unit_test(starts_cost_little),
        cmocka_unit_test(equilibration_is_not_interrupted),
        cmocka_unit_test(nobody_leaves_where_there_are_slots_for_all),
        cmocka_unit_test(turns_take_nothing_from_others),
        cmocka_unit_test(what_was_sampled_is_taken_up_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
