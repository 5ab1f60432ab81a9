/* SPDX-License-Identifier: Apache-2.0
 *
 * Device time goes as the weights of users: in random worlds of users with weights, who come, go, and restart the
 * service, over ten half-lives, within 5 % of all device time. And what an administrator says of single users.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

#define SLICE SCHED_SLICE_MS
#define HALF_LIFE (100 * (int64_t)SLICE)
#define LOOK (SLICE / 12) /* between two looks at who has slots */

enum { USERS = 6, WINDOWS = 20, WORLDS = 20 };

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

static void set_user(struct play *p, uint32_t uid, double weight, int64_t most)
{
    struct sched_event ev = {.kind = SCHED_USER, .uid = uid, .weight = weight, .most = most};
    assert_int_equal(play_feed(p, ev), 0);
}

static struct ensemble *add(struct play *p, uint32_t uid)
{
    return play_add_endless(p, uid, WINDOWS);
}

/* Users who want all slots while they are not idle; what they had since they were last asked is in `had`. */
struct world {
    struct play p;
    int nusers, slots, workers;
    double weight[USERS], had[USERS];
    struct ensemble *e[USERS];
    bool idle[USERS];
};

static void begin(struct world *w, int64_t now, const double *history)
{
    play_begin(&w->p, w->workers);
    w->p.now = w->p.s.accounted = now;
    w->p.s.half_life_ms = HALF_LIFE;
    for (int u = 0; u < w->nusers; u++) {
        sched_remember(&w->p.s, (uint32_t)u, history[u], 0);
        set_user(&w->p, (uint32_t)u, w->weight[u], INT64_MAX);
        w->e[u] = w->idle[u] ? NULL : add(&w->p, (uint32_t)u);
    }
    for (int k = 0; k < w->workers; k++)
        play_up(&w->p, k, w->slots, "m");
}

/* Only the histories are kept. */
static void restart(struct world *w)
{
    double history[USERS] = {0};
    int64_t now = w->p.now;
    for (int i = 0; i < w->p.s.nusers; i++)
        history[w->p.s.users[i].uid] = w->p.s.users[i].history;
    play_end(&w->p);
    begin(w, now, history);
}

static void turn_idle(struct world *w, int u)
{
    w->idle[u] = !w->idle[u];
    if (w->idle[u]) {
        play_wish(&w->p, SCHED_PAUSE, w->e[u]);
    } else if (!w->e[u]) {
        w->e[u] = add(&w->p, (uint32_t)u);
    } else {
        play_wish(&w->p, SCHED_RESUME, w->e[u]);
        play_feed(&w->p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = w->e[u], .ok = true});
    }
}

static void run(struct world *w, int64_t ms)
{
    for (int64_t end = w->p.now + ms; w->p.now < end;) {
        for (int i = 0; i < w->p.s.nusers; i++)
            w->had[w->p.s.users[i].uid] += (double)w->p.s.users[i].running * LOOK;
        play_until(&w->p, w->p.now + LOOK, 1);
    }
}

/* Of those who were never away: the part of what they had together that each had, and should have had. */
static void check(const struct world *w, const bool *away, const char *what)
{
    double weights = 0, had = 0;
    for (int u = 0; u < w->nusers; u++)
        if (!away[u]) {
            weights += w->weight[u];
            had += w->had[u];
        }
    for (int u = 0; u < w->nusers; u++)
        if (!away[u] && fabs(w->had[u] / had - w->weight[u] / weights) > 0.05)
            fail_msg("%s: user %d of %d, %d slots: %.3f, by weight %.3f", what, u, w->nusers, w->slots * w->workers,
                     w->had[u] / had, w->weight[u] / weights);
}

static const double nothing[USERS];
static const bool nobody[USERS];

static void make(struct world *w, int k)
{
    static const double weights[] = {1, 1, 0.5, 2, 3, 1};
    seed = (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15) + 1;
    *w = (struct world){.nusers = 2};
    w->nusers += (int)draw(USERS - 1);
    w->slots = 1 + (int)draw(8);
    w->workers = 1 + (int)draw(2);
    for (int u = 0; u < w->nusers; u++)
        w->weight[u] = weights[draw(6)];
}

static void time_goes_as_the_weights(void **state)
{
    for (int k = 0; k < WORLDS; k++) {
        struct world w;
        make(&w, k);
        begin(&w, 0, nothing);
        run(&w, 10 * HALF_LIFE);
        check(&w, nobody, "steady");
        play_end(&w.p);
    }
}

/* Some come and go; the others share by weight. Now and then the service starts again. */
static void whoever_is_idle_takes_nothing_from_the_rest(void **state)
{
    for (int k = 0; k < WORLDS; k++) {
        struct world w;
        bool away[USERS] = {0};
        make(&w, k);
        for (int u = 2; u < w.nusers; u++)
            away[u] = w.idle[u] = true;
        begin(&w, 0, nothing);
        for (int part = 0; part < 40; part++) {
            run(&w, HALF_LIFE / 4);
            for (int u = 2; u < w.nusers; u++)
                if (draw(3) == 0)
                    turn_idle(&w, u);
            if (draw(5) == 0)
                restart(&w);
        }
        check(&w, away, "others come and go");
        play_end(&w.p);
    }
}

/* One has been away for long, or a weight is changed: over the ten half-lives that follow all goes as the weights. */
static void changes_are_caught_up_with(void **state)
{
    for (int k = 0; k < WORLDS; k++) {
        struct world w;
        make(&w, k);
        w.idle[0] = k % 2;
        begin(&w, 0, nothing);
        run(&w, 5 * HALF_LIFE);
        if (w.idle[0])
            turn_idle(&w, 0);
        else
            set_user(&w.p, 0, w.weight[0] = 4, INT64_MAX);
        memset(w.had, 0, sizeof w.had);
        for (int part = 0; part < 5; part++) {
            run(&w, 2 * HALF_LIFE);
            restart(&w);
        }
        check(&w, nobody, k % 2 ? "one comes back" : "a weight is changed");
        play_end(&w.p);
    }
}

/* The history counts after a restart: who had all the time before gets less than the other, and not nothing. */
static void history_outlives_the_service(void **state)
{
    struct world w = {.nusers = 2, .slots = 10, .workers = 1, .weight = {1, 1}, .idle = {false, true}};
    begin(&w, 0, nothing);
    run(&w, 3 * HALF_LIFE);
    restart(&w);
    turn_idle(&w, 1);
    run(&w, 2 * SLICE);
    memset(w.had, 0, sizeof w.had);
    run(&w, HALF_LIFE / 10);
    assert_true(w.had[1] > 3 * w.had[0]);
    assert_true(w.had[0] > 0.05 * w.had[1]);
    play_end(&w.p);
}

static void a_limit_of_replicas_that_run(void **state)
{
    struct play p;
    struct ensemble *e, *f, *g;
    struct sched_wait wait;
    play_begin(&p, 1);
    set_user(&p, 1, 1, 2);
    play_up(&p, 0, 6, "m");
    e = add(&p, 1);
    f = add(&p, 1);
    assert_int_equal(e->nrunning + f->nrunning, 2);
    play_explain(&p, &f->replicas[WINDOWS - 1], &wait);
    assert_int_equal(wait.kind, WAIT_LIMIT);
    assert_int_equal(wait.expected, -1);
    play_until(&p, 3 * SLICE, 1);
    assert_int_equal(e->nrunning, 1); /* its ensembles take turns within the limit */
    assert_int_equal(f->nrunning, 1);
    g = add(&p, 2);
    assert_int_equal(g->nrunning, 4);
    set_user(&p, 1, 1, 3);
    play_until(&p, 6 * SLICE, 1);
    assert_int_equal(e->nrunning + f->nrunning, 3);
    set_user(&p, 1, 1, 1); /* at once */
    assert_int_equal(play_count(&p, DECIDE_STOP), 2);
    play_until(&p, p.now + 1, 1);
    assert_int_equal(e->nrunning + f->nrunning, 1);
    assert_int_equal(g->nrunning, 5);
    play_end(&p);
}

/* Of one user's ensembles those of higher priority have the slots, at the end of slices; another user's part is what it
 * was. */
static void priorities_order_what_is_ones_own(void **state)
{
    struct play p;
    struct ensemble *e[3], *other;
    struct sched_wait wait;
    play_begin(&p, 1);
    for (int i = 0; i < 3; i++)
        e[i] = add(&p, 1);
    other = add(&p, 2);
    play_up(&p, 0, 12, "m");
    play_until(&p, 3 * SLICE, 1);
    assert_int_equal(e[0]->nrunning, 2);
    assert_int_equal(other->nrunning, 6);
    struct sched_event high = {.kind = SCHED_PRIORITY, .ensemble = e[2], .priority = 1};
    assert_int_equal(play_feed(&p, high), 0);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 1);
    assert_int_equal(play_feed(&p, high), 0);
    assert_int_equal(play_count(&p, DECIDE_NOTE), 0); /* it has it */
    play_explain(&p, &e[2]->replicas[WINDOWS - 1], &wait);
    const int last = wait.place;
    play_explain(&p, &e[0]->replicas[WINDOWS - 1], &wait);
    assert_in_range(last, 1, wait.place - 1);
    play_until(&p, 6 * SLICE, 1);
    assert_int_equal(e[2]->nrunning, 6);
    assert_int_equal(e[0]->nrunning + e[1]->nrunning, 0);
    assert_int_equal(other->nrunning, 6);
    play_feed(&p, (struct sched_event){.kind = SCHED_PRIORITY, .ensemble = e[2], .priority = -1});
    play_until(&p, 9 * SLICE, 1);
    assert_int_equal(e[2]->nrunning, 0);
    assert_int_equal(e[0]->nrunning + e[1]->nrunning, 6);
    assert_int_equal(other->nrunning, 6);
    play_wish(&p, SCHED_CANCEL, e[2]);
    assert_int_equal(play_feed(&p, high), -ERR_CONFLICT);
    play_end(&p);
}

/* Others have all slots, and turns behind them: whoever comes has something running within 15 s, on one device, and
 * only one set left. */
static void whoever_comes_runs_soon(void **state)
{
    struct play p;
    play_begin(&p, 2);
    for (int k = 0; k < 2; k++)
        play_up(&p, k, 4, "m");
    for (uint32_t u = 1; u <= 12; u++)
        add(&p, u);
    play_until(&p, 20 * SLICE + 17000, 1);
    for (uint32_t u = 20; u < 24; u++) {
        const int64_t came = p.now, stops = p.stops;
        struct ensemble *e = add(&p, u);
        int64_t turns = 0;
        while (!e->nrunning && p.now < came + SLICE) {
            play_until(&p, p.now + 1000, 1);
            turns = p.stops - stops;
        }
        assert_in_range(p.now - came, 0, 15000);
        assert_in_range(turns, 1, 8); /* slices of others end meanwhile, too */
        play_until(&p, p.now + 7000, 1);
    }
    play_end(&p);
}

/* A set of several waits for as many to leave, of those who have most. */
static void several_leave_for_a_set(void **state)
{
    struct play p;
    play_begin(&p, 1);
    struct ensemble *e = add(&p, 1), *few = play_ensemble(2, 1, 0);
    few->replicas[0].steps = INT64_MAX / 2;
    play_add(&p, few);
    play_up(&p, 0, 8, "m");
    play_until(&p, SLICE / 4, 1);
    assert_int_equal(e->nrunning, 7);
    assert_int_equal(few->nrunning, 1);
    struct ensemble *set = ensemble_of_windows(3, 1, true, 1 << 20, INT64_MAX / 2);
    const int stops = p.stops;
    set->number = 1 << 20;
    set->owner = 3;
    set->stages = 1;
    play_add(&p, set);
    play_until(&p, p.now + 1, 1);
    assert_int_equal(set->nrunning, 3);
    assert_int_equal(p.stops - stops, 3);
    assert_int_equal(few->nrunning, 1);
    play_end(&p);
}

/* Slices last for those who are no newcomers, and for whoever comes back at once. */
static void coming_back_is_not_coming(void **state)
{
    struct play p;
    play_begin(&p, 1);
    play_up(&p, 0, 1, "m");
    struct ensemble *a = add(&p, 1), *b = add(&p, 2);
    play_until(&p, SLICE + 1000, 1);
    assert_int_equal(b->nrunning, 1); /* within ten seconds, and then for a slice */
    play_until(&p, 2 * SLICE, 1);
    const struct ensemble *waits = a->nrunning ? b : a;
    assert_int_equal(a->nrunning + b->nrunning, 1);
    const int stops = p.stops;
    play_wish(&p, SCHED_PAUSE, (struct ensemble *)waits);
    play_wish(&p, SCHED_RESUME, (struct ensemble *)waits);
    play_feed(&p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = (struct ensemble *)waits, .ok = true});
    play_until(&p, p.now + 5000, 1);
    assert_int_equal(p.stops, stops);
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_as_the_weights),     cmocka_unit_test(whoever_is_idle_takes_nothing_from_the_rest),
        cmocka_unit_test(changes_are_caught_up_with),   cmocka_unit_test(history_outlives_the_service),
        cmocka_unit_test(a_limit_of_replicas_that_run), cmocka_unit_test(priorities_order_what_is_ones_own),
        cmocka_unit_test(whoever_comes_runs_soon),      cmocka_unit_test(several_leave_for_a_set),
        cmocka_unit_test(coming_back_is_not_coming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
