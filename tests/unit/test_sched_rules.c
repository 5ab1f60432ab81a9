/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler's rules about turns and waiting (sched.h), each by itself.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

#define SLICE SCHED_SLICE_MS

/* ---- turns ---- */

static int64_t used(const struct play *p, uint32_t uid)
{
    for (int i = 0; i < p->s.nusers; i++)
        if (p->s.users[i].uid == uid)
            return (int64_t)p->s.users[i].usage;
    return 0;
}

/* Nobody ever makes a checkpoint by themselves; five share two slots. */
static void everybody_gets_a_share(void **state)
{
    struct play p;
    struct ensemble *e[5];
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    for (uint32_t u = 0; u < 5; u++)
        play_add(&p, e[u] = play_ensemble(u, 1 + (int)u, 0));
    play_until(&p, 4 * SLICE, 1);
    for (int u = 0; u < 5; u++)
        assert_true(set_saved(&e[u]->sets[0]) > 0 || e[u]->nrunning);
    play_until(&p, 50 * SLICE, 1);
    for (uint32_t u = 0; u < 5; u++)
        assert_in_range(used(&p, u), 16 * SLICE, 24 * SLICE);
    play_end(&p);
}

/* Who was away does not catch up: the two take turns from then on. */
static void idleness_is_no_credit(void **state)
{
    struct play p;
    struct ensemble *a = play_ensemble(1, 1, 0), *b = play_ensemble(2, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, a);
    play_until(&p, 100 * SLICE, 1);
    play_add(&p, b);
    int64_t before = used(&p, 1);
    play_until(&p, 120 * SLICE, 1);
    assert_in_range(used(&p, 1) - before, 8 * SLICE, 12 * SLICE);
    play_end(&p);
}

static void a_short_ensemble_does_not_wait_for_a_long_one(void **state)
{
    struct play p;
    struct ensemble *lng = play_ensemble(1, 8, 0), *brief = play_ensemble(1, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, lng);
    play_add(&p, brief);
    play_until(&p, 2 * SLICE, 1);
    assert_true(brief->nrunning == 1 || set_saved(&brief->sets[0]) > 0);
    /* Within an ensemble there are no turns: its first windows go on. */
    play_about(&p, SCHED_DONE, &brief->replicas[0]);
    int64_t first = set_saved(&lng->sets[0]);
    play_until(&p, 20 * SLICE, 1);
    assert_int_equal(set_saved(&lng->sets[0]), first);
    assert_int_equal(lng->nrunning, 2);
    play_end(&p);
}

/* A slice that ends in the middle of work that cannot be kept is given again, longer each time. */
static void slices_grow_until_something_is_kept(void **state)
{
    struct play p;
    struct ensemble *a = play_ensemble(1, 1, 0), *b = play_ensemble(2, 1, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, a);
    play_add(&p, b);
    play_until(&p, 20 * SLICE, 0);
    assert_true(a->sets[0].fruitless > 1 && b->sets[0].fruitless > 1);
    play_until(&p, 100 * SLICE, 1);
    assert_int_equal(a->sets[0].fruitless, 0);
    play_end(&p);
}

/* ---- why one waits ---- */

/* Where replicas end long before their slice does, those that wait start as soon as their runs say, not a slice each
 * later. */
static void short_runs_are_waited_for_briefly(void **state)
{
    enum { WINDOWS = 10, RUN = 5000 };
    struct play p;
    struct sched_wait w;
    struct ensemble *e = play_ensemble(1, WINDOWS, 0);
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    play_add(&p, e);
    play_explain(&p, &e->replicas[WINDOWS - 1], &w);
    assert_int_equal(w.expected, (WINDOWS - 1) * SLICE);
    p.now += RUN / 10;
    play_about(&p, SCHED_SEGMENT, &e->replicas[0]); /* a tenth of its steps */
    play_explain(&p, &e->replicas[WINDOWS - 1], &w);
    assert_int_equal(w.place, WINDOWS - 1);
    assert_int_equal(w.expected, (WINDOWS - 1) * RUN - RUN / 10);
    play_end(&p);
}

/* The places in the queue are the order in which slots are given when they come all at once. */
static void the_queue_is_the_order_of_starts(void **state)
{
    static const struct {
        uint32_t owner;
        int windows;
    } submitted[] = {{1, 4}, {2, 2}, {1, 3}, {3, 5}, {2, 2}, {1, 1}};
    struct play p;
    struct ensemble *e[6];
    int64_t place[17][2];
    int n = 0;
    play_begin(&p, 2);
    play_up(&p, 0, 3, "m");
    for (int i = 0; i < 6; i++) {
        play_add(&p, e[i] = play_ensemble(submitted[i].owner, submitted[i].windows, 0));
        p.now += 1000;
    }
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < e[i]->nreplicas; k++) {
            struct sched_wait w;
            play_explain(&p, &e[i]->replicas[k], &w);
            if (e[i]->replicas[k].sm.state == REPLICA_RUNNING) {
                assert_int_equal(w.kind, WAIT_NOT);
                continue;
            }
            assert_true(w.kind == WAIT_TURN || w.kind == WAIT_ROOM);
            assert_in_range(w.expected, 0, 20 * SLICE);
            place[n][0] = w.place;
            place[n++][1] = e[i]->replicas[k].number;
        }
    assert_int_equal(n, 14);
    play_up(&p, 1, 20, "m");
    int started = 0;
    for (int i = 0; i < p.d.n; i++) {
        if (p.d.item[i].kind != DECIDE_START)
            continue;
        started++;
        for (int k = 0; k < n; k++)
            if (place[k][1] == p.d.item[i].set->number)
                assert_int_equal(place[k][0], started);
    }
    assert_int_equal(started, n);
    play_end(&p);
}

static int64_t processor_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What all replicas of an ensemble wait for costs no walk over those of others, nor does a turn of the scheduler: with
 * 100,000 queued by 100 users, one walk for each replica would take minutes. */
static void a_long_queue_is_explained_at_once(void **state)
{
    enum { USERS = 100, WINDOWS = 1000 };
    struct play p;
    struct ensemble *e[USERS];
    struct sched_queue q;
    struct sched_wait w;
    play_begin(&p, 1);
    play_up(&p, 0, 4, "m");
    for (int i = 0; i < USERS; i++)
        play_add(&p, e[i] = play_ensemble((uint32_t)i + 1, WINDOWS, 0));
    int64_t began = processor_ms();
    for (int i = 0; i < USERS; i++) {
        sched_queue_open(&q, e[i], p.now);
        for (int k = 0; k < WINDOWS; k++) {
            sched_explain(&q, &e[i]->replicas[k], &w);
            assert_int_equal(w.kind, i == 0 && k < 4 ? WAIT_NOT : i == 1 && k == 0 ? WAIT_ROOM : WAIT_TURN);
        }
        sched_queue_close(&q);
        /* The last one's place: all of the first user's 996, of the users before all, of those behind all but their
         * last. */
        assert_int_equal(w.place, i ? 996 + 1000 * i + 999 * (USERS - 1 - i) : 996 + 999 * (USERS - 1));
    }
    for (int i = 0; i < 1000; i++) {
        p.now = sched_wake(&p.s, p.now + 1);
        play_feed(&p, (struct sched_event){.kind = SCHED_TICK});
    }
    assert_in_range(processor_ms() - began, 0, 2000);
    play_end(&p);
}

static enum wait_kind why(const struct play *p, const struct sched_replica *r)
{
    struct sched_wait w;
    play_explain(p, r, &w);
    assert_int_equal(w.kind == WAIT_NOT, wait_text(w.kind) == NULL);
    return w.kind;
}

static void every_reason_to_wait_is_told(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 3);
    const struct sched_replica *r = &e->replicas[0];
    play_begin(&p, 1);
    play_feed(&p, (struct sched_event){.kind = SCHED_ADD, .ensemble = e});
    assert_int_equal(why(&p, r), WAIT_INPUT);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true});
    assert_int_equal(why(&p, r), WAIT_DEVICE);
    play_up(&p, 0, 1, "m");
    assert_int_equal(why(&p, r), WAIT_NOT);
    assert_int_equal(why(&p, &e->replicas[1]), WAIT_ROOM);
    play_failed(&p, r, ERR_NONFINITE, 5);
    assert_int_equal(why(&p, r), WAIT_PAUSE);
    play_failed(&p, &e->replicas[1], ERR_NO_SPACE, 5);
    assert_int_equal(why(&p, r), WAIT_SPACE);
    play_feed(&p, (struct sched_event){.kind = SCHED_SPACE});
    play_wish(&p, SCHED_PAUSE, e);
    assert_int_equal(why(&p, r), WAIT_NOT);
    play_end(&p);
}

static void who_has_too_much_stored_waits_alone(void **state)
{
    struct play p;
    struct ensemble *e = play_ensemble(1, 2, 0), *f = play_ensemble(2, 2, 0), *g = play_ensemble(1, 1, 0);
    const struct sched_event over = {.kind = SCHED_STORED, .ensemble = e, .message = "9 of 5"};
    play_begin(&p, 1);
    play_up(&p, 0, 2, "m");
    play_add(&p, e);
    play_add(&p, f);
    play_add(&p, g);
    assert_int_equal(e->nrunning, 2);
    play_feed(&p, over);
    assert_int_equal(play_count(&p, DECIDE_STOP), 2);
    assert_int_equal(play_count(&p, DECIDE_REASON), 2);
    assert_string_equal(e->reason, "waits for space: 9 of 5");
    assert_string_equal(g->reason, e->reason);
    assert_null(f->reason);
    play_feed(&p, over);
    assert_int_equal(p.d.n, 0); /* said once */
    for (int i = 0; i < 2; i++)
        play_about(&p, SCHED_STOPPED, &e->replicas[i]);
    assert_int_equal(f->nrunning, 2);
    assert_int_equal(why(&p, &e->replicas[0]), WAIT_QUOTA);
    play_wish(&p, SCHED_PAUSE, g);
    assert_null(g->reason); /* its owner's wish now */
    play_wish(&p, SCHED_RESUME, g);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = g, .ok = true});
    play_feed(&p, over);
    assert_string_equal(g->reason, e->reason);
    play_about(&p, SCHED_DONE, &f->replicas[0]);
    play_feed(&p, (struct sched_event){.kind = SCHED_SPACE}); /* the disk is not what they wait for */
    play_until(&p, 1000000, 1);
    assert_int_equal(e->nrunning + g->nrunning, 0);
    assert_non_null(e->reason);
    play_feed(&p, (struct sched_event){.kind = SCHED_STORED, .ensemble = g, .ok = true});
    assert_int_equal(e->nrunning + g->nrunning, 1);
    assert_null(e->reason);
    assert_null(g->reason);
    assert_int_equal(e->sets[0].failures, 0);
    assert_true(p.s.users[e->user].usage >= p.s.users[f->user].usage); /* it does not catch up */
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_gets_a_share),
        cmocka_unit_test(idleness_is_no_credit),
        cmocka_unit_test(a_short_ensemble_does_not_wait_for_a_long_one),
        cmocka_unit_test(slices_grow_until_something_is_kept),
        cmocka_unit_test(short_runs_are_waited_for_briefly),
        cmocka_unit_test(the_queue_is_the_order_of_starts),
        cmocka_unit_test(a_long_queue_is_explained_at_once),
        cmocka_unit_test(every_reason_to_wait_is_told),
        cmocka_unit_test(who_has_too_much_stored_waits_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
