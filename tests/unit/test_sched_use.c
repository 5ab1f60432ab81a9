/* SPDX-License-Identifier: Apache-2.0
 *
 * What is taken as used: the time of a device is shared by what runs there and by nothing else, and steps count once.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

enum { WORKERS = 2, ENSEMBLES = 6, WORLDS = 20, CARDS = 3 /* of the second worker */ };

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* What was taken so far, as the service takes it: whenever a set leaves, and at checkpoints. */
struct sums {
    double device_ms[WORKERS];
    int64_t steps[ENSEMBLES];
};

static void take_from(struct sums *sums, struct sched_set *set, int worker, struct ensemble *const *e)
{
    const struct sched_use use = sched_take_use(set);
    sums->device_ms[worker] += use.device_ms;
    for (int i = 0; i < ENSEMBLES; i++)
        sums->steps[i] += e[i] == set->ensemble ? use.steps : 0;
}

static void take_left(struct play *p, struct sums *sums, struct ensemble *const *e)
{
    for (int i = 0; i < p->d.n; i++)
        if (p->d.item[i].kind == DECIDE_ACCOUNT)
            take_from(sums, p->d.item[i].set, p->d.item[i].worker, e);
}

/* Some replica that is in a slot; NULL: none is. */
static struct sched_replica *any_running(struct play *p)
{
    struct sched_worker *w = &p->s.workers[draw(WORKERS)];
    return w->nsets ? w->sets[draw((uint32_t)w->nsets)]->replicas : NULL;
}

static void something_happens(struct play *p, struct sums *sums, struct ensemble *const *e)
{
    struct sched_replica *r = any_running(p);
    const uint32_t what = draw(12);
    struct ensemble *some = e[draw(ENSEMBLES)];
    if (what < 6 && r) {
        play_about(p, r->sm.state == REPLICA_STOPPING ? SCHED_STOPPED : SCHED_SEGMENT, r);
    } else if (what == 6) {
        play_wish(p, SCHED_PAUSE, some);
    } else if (what == 7) {
        play_wish(p, SCHED_RESUME, some);
        take_left(p, sums, e);
        play_feed(p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = some, .ok = true});
    } else if (what == 8) {
        const int w = (int)draw(WORKERS);
        play_feed(p,
                  (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = w, .ok = draw(2), .message = "signal 9"});
        take_left(p, sums, e);
        play_up(p, w, 3, "m");
        p->s.workers[w].room.cards = w ? CARDS : 0;
    } else {
        play_feed(p, (struct sched_event){.kind = SCHED_TICK});
    }
    take_left(p, sums, e);
}

static void check(const struct play *p, const struct sums *sums, const double *busy, struct ensemble *const *e)
{
    double all = 0, of_ensembles = 0;
    for (int w = 0; w < WORKERS; w++) {
        assert_true(fabs(sums->device_ms[w] - busy[w]) <= 1e-6 * busy[w]);
        all += busy[w];
    }
    for (int i = 0; i < ENSEMBLES; i++) {
        int64_t furthest = 0;
        for (int k = 0; k < e[i]->nreplicas; k++)
            furthest += e[i]->replicas[k].used_step;
        assert_int_equal(sums->steps[i], furthest);
        of_ensembles += e[i]->device_ms;
    }
    assert_true(all > 0 && fabs(of_ensembles - all) <= 1e-6 * all);
}

/* In random worlds of pauses, crashes and stops: device time is the time in which anything had a slot there, and steps
 * are those that checkpoints hold. */
static void device_time_is_what_devices_were_busy(void **state)
{
    for (int k = 0; k < WORLDS; k++) {
        struct play p;
        struct ensemble *e[ENSEMBLES];
        struct sums sums = {0};
        double busy[WORKERS] = {0};
        seed = (uint64_t)k + 1;
        play_begin(&p, WORKERS);
        for (int i = 0; i < ENSEMBLES; i++) {
            e[i] = play_ensemble((uint32_t)i % 3, 3, 1000);
            play_endless(e[i]);
            play_add(&p, e[i]);
        }
        for (int w = 0; w < WORKERS; w++) {
            play_up(&p, w, 3, "m");
            p.s.workers[w].room.cards = w ? CARDS : 0;
        }
        for (int i = 0; i < 2000; i++) {
            const int64_t passes = draw(500);
            for (int w = 0; w < WORKERS; w++)
                busy[w] += p.s.workers[w].nrunning ? (double)passes * (w ? CARDS : 1) : 0;
            p.now += passes;
            something_happens(&p, &sums, e);
        }
        for (int w = 0; w < WORKERS; w++)
            for (int i = 0; i < p.s.workers[w].nsets; i++)
                take_from(&sums, p.s.workers[w].sets[i], w, e);
        check(&p, &sums, busy, e);
        play_end(&p);
    }
}

/* From an older checkpoint on, steps and time are made again: they count once. */
static void what_is_made_again_counts_once(void **state)
{
    struct play p;
    play_begin(&p, 1);
    struct ensemble *e = play_ensemble(1, 1, 3);
    e->replicas[0].steps = 1000;
    play_add(&p, e);
    play_up(&p, 0, 1, "m");
    struct sched_event at = {.kind = SCHED_SEGMENT, .replica = e->replicas[0].number, .step = 50, .time_ps = 0.1};
    play_feed(&p, at);
    struct sched_use use = sched_take_use(&e->sets[0]);
    assert_int_equal(use.steps, 50);
    assert_true(use.ps == 0.1);
    at.step = 30;
    at.time_ps = 0.06;
    play_feed(&p, at);
    use = sched_take_use(&e->sets[0]);
    assert_int_equal(use.steps, 0);
    assert_true(use.ps == 0);
    at.step = 80;
    at.time_ps = 0.16;
    play_feed(&p, at);
    use = sched_take_use(&e->sets[0]);
    assert_int_equal(use.steps, 30);
    assert_true(fabs(use.ps - 0.06) < 1e-12);
    play_end(&p);
}

/* What a set took on several cards, and of their energy; what counters of other cards say is no difference. */
static void cards_count(void **state)
{
    struct play p;
    play_begin(&p, 1);
    struct sched_event up = {.kind = SCHED_WORKER_UP, .slots = 4, .device = "d+d", .model = "m", .millijoules = 5000};
    up.room = (struct room){.cards = 2, .joined = 2};
    struct ensemble *e = ensemble_of_windows(4, 1, true, 1, 0);
    play_endless(e);
    play_add(&p, e);
    play_feed(&p, up);
    p.now += 1000;
    struct sched_event load = {.kind = SCHED_SLOTS, .slots = 4, .millijoules = 9000, .room = up.room};
    play_feed(&p, load);
    assert_true(sched_take_use(&e->sets[0]).device_ms == 2000);
    assert_true(energy_take(&p.s.workers[0].energy, e) == 4);
    play_feed(&p, (struct sched_event){.kind = SCHED_WORKER_DOWN, .ok = true, .message = ""});
    up.room.cards = 1;
    up.millijoules = 90000;
    play_feed(&p, up);
    assert_true(p.s.workers[0].energy.joules == 4);
    p.now += 1000;
    load.room = up.room;
    load.millijoules = 91000;
    play_feed(&p, load);
    assert_true(sched_take_use(&e->sets[0]).device_ms == 1000);
    assert_true(energy_take(&p.s.workers[0].energy, e) == 1);
    play_end(&p);
}

/* Timesteps of switches come with those of production, of which there are none before step 100. */
static void switches_count(void **state)
{
    struct play p;
    play_begin(&p, 1);
    struct ensemble *e = play_ensemble(1, 1, 3);
    e->replicas[0].steps = 1000;
    e->allocation.before = 100;
    e->switching = 0.5;
    play_add(&p, e);
    play_up(&p, 0, 1, "m");
    struct sched_event at = {.kind = SCHED_SEGMENT, .replica = e->replicas[0].number, .step = 100, .time_ps = 0.2};
    play_feed(&p, at);
    assert_int_equal(sched_take_use(&e->sets[0]).steps, 100);
    at.step = 300;
    at.time_ps = 0.6;
    play_feed(&p, at);
    struct sched_use use = sched_take_use(&e->sets[0]);
    assert_int_equal(use.steps, 300);
    assert_true(fabs(use.ps - 0.6) < 1e-12);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switches_count),
        cmocka_unit_test(cards_count),
        cmocka_unit_test(device_time_is_what_devices_were_busy),
        cmocka_unit_test(what_is_made_again_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
