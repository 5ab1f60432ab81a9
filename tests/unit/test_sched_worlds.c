/* SPDX-License-Identifier: Apache-2.0
 *
 * The scheduler under random events. The test plays a world (workers that do what they are told or crash, owners who
 * change their minds) and holds the scheduler's promises after every event; then it lets everything run to its end.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/base/buf.h"
#include "tests/lib/sched_play.h"

enum { WINDOWS = 8 };               /* of an ensemble at most */
enum { MEMORY = 100, TABLES = 10 }; /* bytes of each device, of each ensemble there; nine tenths may be taken */

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* Of sets of one, two or three replicas; more than three slots has no worker of these worlds. */
static struct ensemble *make_sets(uint32_t owner, int replicas, int retries)
{
    struct ensemble *e = play_ensemble(owner, replicas, retries);
    struct buf sizes = {0};
    buf_printf(&sizes, "[{\"kind\":\"d\",\"limits\":\"1\",\"tables\":%d,\"replica\":%u}]", TABLES, 5 + draw(20));
    device_sizes_read(&e->sizes, sizes.data);
    buf_free(&sizes);
    e->nsets = 0;
    e->stop = (struct stop_rule){.error = draw(3) == 0, .after = 10};
    if (draw(3) == 0)
        play_by_need(e);
    for (int left = replicas, n; left; left -= n) {
        n = 1 + (int)draw(3);
        n = n < left ? n : left;
        ensemble_add_set(e, n);
    }
    return e;
}

struct world {
    struct play p;
    int nensembles;
    struct ensemble *ensembles[12];
    bool prepare[12], estimate[12], look[12]; /* jobs under way */
    bool killer[12][WINDOWS];                 /* this replica crashes its worker */
    bool sick[3];                             /* this device crashes whatever runs there */
    bool killed[3];                           /* to be carried out */
    bool full;                                /* the disk is being watched */
    bool fair;                                /* nobody but killers and sick devices does harm */
    int steps;
};

static int index_of(const struct world *w, const struct ensemble *e)
{
    int i = 0;
    while (w->ensembles[i] != e)
        i++;
    return i;
}

/* What runs on a device has the memory, and its model there. */
static void check_memory(const struct world *w, int worker)
{
    const struct sched_worker *sw = &w->p.s.workers[worker];
    int64_t taken = 0;
    for (int i = 0; i < w->nensembles; i++) {
        const struct ensemble *e = w->ensembles[i];
        int64_t held = 0;
        for (int k = 0; k < e->nreplicas; k++)
            held += e->replicas[k].held && e->replicas[k].set->worker == worker;
        taken += held ? TABLES + held * e->sizes.item->replica : 0;
        assert_true(!held || e->modelled >> worker & 1);
        assert_true(health_is_up(&sw->health) || !(e->modelled >> worker & 1));
    }
    assert_true(taken <= MEMORY / 10 * 9);
}

/* A set of an ensemble that was moved starts where it was moved to, if that is well and it has not crashed there. */
static void check_start(const struct world *w, const struct decision *d)
{
    const int home = d->ensemble->home;
    if (home < 0 || home == d->worker || d->set->crashed >> home & 1)
        return;
    const struct sched_worker *k = &w->p.s.workers[home];
    assert_true(!health_counts(&k->health) || health_is_sick(&k->health) || set_open(d->set) > k->slots);
}

static void check_promises(const struct world *w)
{
    for (int k = 0; k < w->p.s.nworkers; k++)
        check_memory(w, k);
    for (int k = 0; k < w->p.s.nworkers; k++) {
        const struct sched_worker *sw = &w->p.s.workers[k];
        if (sw->nrunning > (health_is_up(&sw->health) ? sw->slots : 0)) { /* a set that is larger than that, alone */
            assert_true(health_is_up(&sw->health));
            assert_int_equal(sw->nsets, 1);
        }
        int held = 0;
        for (int i = 0; i < sw->nsets; i++) {
            const struct sched_set *set = sw->sets[i];
            assert_int_equal(set->worker, k);
            assert_false(set_has_failed(set));
            if (set->crashes >= SCHED_SUSPECT)
                assert_int_equal(sw->nsets, 1);
            for (int r = 0; r < set->nreplicas; r++)
                held += set->replicas[r].held;
        }
        assert_int_equal(held, sw->nrunning);
        /* No slot is left free while something could have it. */
        assert_null(pack_next(&w->p.s, k, w->p.now));
    }
    for (int i = 0; i < w->nensembles; i++) {
        const struct ensemble *e = w->ensembles[i];
        int ended = ensemble_count(e, REPLICA_DONE) + ensemble_count(e, REPLICA_FAILED), waiting = 0;
        for (int k = 0; k < e->nsets; k++) {
            int queued = 0;
            for (int r = 0; r < e->sets[k].nreplicas; r++)
                queued += e->sets[k].replicas[r].sm.state == REPLICA_QUEUED;
            assert_int_equal(e->sets[k].nqueued, queued);
            assert_true(!queued || e->sets[k].not_before <= e->delayed || e->sets[k].not_before <= w->p.now);
            assert_true(!e->sets[k].crashes || e->crashed);
            waiting += queued > 0;
        }
        assert_int_equal(e->nwaiting, waiting);
        if (e->sm.state == ENSEMBLE_DONE)
            assert_int_equal(ensemble_count(e, REPLICA_DONE), e->nreplicas);
        for (int k = 0; k < e->nreplicas; k++)
            if (e->replicas[k].sm.state == REPLICA_DONE && e->replicas[k].set->worker < 0 &&
                e->sm.state != ENSEMBLE_CANCELLED && !set_has_failed(e->replicas[k].set))
                assert_true(e->replicas[k].saved_step >= e->replicas[k].steps);
        if (e->sm.state == ENSEMBLE_FINISHING || e->sm.state == ENSEMBLE_FAILED)
            assert_int_equal(ended, e->nreplicas);
        else if (!ensemble_ended(e))
            assert_true(ended < e->nreplicas || e->looking || e->finish_after);
        if (e->sm.state == ENSEMBLE_FINISHING || e->sm.state == ENSEMBLE_DONE || e->sm.state == ENSEMBLE_FAILED)
            assert_false(allocation_open(e));
        if (e->sm.state == ENSEMBLE_PAUSED || e->sm.state == ENSEMBLE_CANCELLED)
            assert_int_equal(ensemble_count(e, REPLICA_RUNNING) + ensemble_count(e, REPLICA_QUEUED), 0);
        if (w->p.s.users[e->user].over)
            assert_int_equal(ensemble_count(e, REPLICA_RUNNING), 0);
        for (int k = 0; k < e->nsets; k++)
            assert_true(e->sets[k].failures <= e->retries + 1);
    }
}

/* All that wait, counted at once, are those that are told so one by one. */
static void check_waits(const struct world *w)
{
    int64_t counts[WAIT_KINDS], told[WAIT_KINDS] = {0};
    sched_count_waiting(&w->p.s, w->p.now, counts);
    for (int i = 0; i < w->nensembles; i++) {
        struct sched_queue q;
        struct sched_wait wait;
        sched_queue_open(&q, w->ensembles[i], w->p.now);
        for (int k = 0; k < w->ensembles[i]->nreplicas; k++) {
            sched_explain(&q, &w->ensembles[i]->replicas[k], &wait);
            told[wait.kind] += wait.kind != WAIT_NOT;
        }
        sched_queue_close(&q);
    }
    assert_memory_equal(counts, told, sizeof counts);
}

static void world_step(struct world *w, struct sched_event ev)
{
    if (play_feed(&w->p, ev)) {
        assert_int_equal(w->p.d.n, 0); /* refused: nothing happened */
        return;
    }
    for (int i = 0; i < w->p.d.n; i++) {
        const struct decision *d = &w->p.d.item[i];
        if (d->kind == DECIDE_PREPARE)
            w->prepare[index_of(w, d->ensemble)] = true;
        if (d->kind == DECIDE_ESTIMATE)
            w->estimate[index_of(w, d->ensemble)] = true;
        if (d->kind == DECIDE_LOOK)
            w->look[index_of(w, d->ensemble)] = true;
        if (d->kind == DECIDE_KILL)
            w->killed[d->worker] = true;
        if (d->kind == DECIDE_SPACE)
            w->full = true;
        if (d->kind == DECIDE_START || d->kind == DECIDE_STOP || d->kind == DECIDE_KILL)
            assert_true(health_is_up(&w->p.s.workers[d->worker].health));
        if (d->kind == DECIDE_START)
            check_start(w, d);
    }
    check_promises(w);
    if (++w->steps % 32 == 0) /* it takes its time */
        check_waits(w);
}

/* For good, or for want of something that the machine may have again. */
static int draw_failure(bool well)
{
    return well ? ERR_NONE : draw(2) ? ERR_BUSY : ERR_ESTIMATE;
}

static void finish_look(struct world *w, int i, bool well)
{
    struct allocate_window windows[WINDOWS];
    int64_t targets[WINDOWS], budget = sched_production(w->ensembles[i], windows);
    allocate(windows, w->ensembles[i]->windows, 80, budget, 2, NULL, NULL);
    for (int k = 0; k < WINDOWS; k++)
        targets[k] = windows[k].target + (draw(9) == 0);
    w->look[i] = false;
    world_step(w, (struct sched_event){.kind = SCHED_LOOKED,
                                       .ensemble = w->ensembles[i],
                                       .targets = well ? targets : NULL,
                                       .code = draw_failure(well),
                                       .message = "x"});
}

static void finish_job(struct world *w, int i, bool well)
{
    if (w->look[i])
        finish_look(w, i, well);
    if (w->prepare[i]) {
        w->prepare[i] = false;
        world_step(
            w, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = w->ensembles[i], .ok = well, .message = "x"});
    } else if (w->estimate[i]) {
        w->estimate[i] = false;
        world_step(w, (struct sched_event){.kind = SCHED_ESTIMATED,
                                           .ensemble = w->ensembles[i],
                                           .ok = well,
                                           .code = draw_failure(well),
                                           .message = "x"});
    }
}

static void worker_acts(struct world *w, int k, bool calm)
{
    struct sched_worker *sw = &w->p.s.workers[k];
    if (!health_is_up(&sw->health)) {
        world_step(w, (struct sched_event){.kind = SCHED_WORKER_UP,
                                           .worker = k,
                                           .slots = 4 - k,
                                           .device = "d",
                                           .model = "m",
                                           .limits = "1",
                                           .room = {.total = MEMORY, .free = MEMORY}});
        return;
    }
    if (w->killed[k] || (w->sick[k] && sw->nsets && draw(2))) {
        w->killed[k] = false;
        world_step(w, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = k, .message = "signal 11"});
        return;
    }
    const struct sched_replica *all[16];
    int n = 0;
    for (int i = 0; i < sw->nsets; i++)
        for (int m = 0; m < sw->sets[i]->nreplicas; m++)
            if (sw->sets[i]->replicas[m].held)
                all[n++] = &sw->sets[i]->replicas[m];
    for (int i = 0; i < n; i++)
        if (w->killer[index_of(w, all[i]->ensemble)][all[i]->window] && draw(3) == 0) {
            world_step(w, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = k, .message = "signal 11"});
            return;
        }
    if (!n)
        return;
    const struct sched_replica *r = all[draw((uint32_t)n)];
    static const int codes[] = {ERR_NONFINITE, ERR_NO_SPACE, ERR_MEMORY, ERR_IO, ERR_DEVICE, ERR_BUSY};
    struct sched_event ev = {.worker = k, .replica = r->number, .code = codes[draw(6)], .message = "x"};
    if (w->sick[k])
        return; /* nothing comes of it */
    ev.step = r->step < r->told ? r->step + 10 : r->step;
    if (r->sm.state == REPLICA_STOPPING)
        ev.kind = SCHED_STOPPED;
    else if (r->step >= r->told)
        ev.kind = SCHED_DONE;
    else if (!calm && !w->fair && draw(12) == 0)
        ev.kind = SCHED_FAILED;
    else
        ev.kind = draw(2) ? SCHED_SEGMENT : SCHED_PROGRESS;
    if (ev.kind != SCHED_DONE && w->killer[index_of(w, r->ensemble)][r->window])
        ev.step = r->step; /* never gets anywhere */
    if (ev.kind == SCHED_SEGMENT && w->killer[index_of(w, r->ensemble)][r->window])
        ev.kind = SCHED_PROGRESS;
    world_step(w, ev);
}

/* A window more, somewhere in the ladder. */
static void add_windows(struct world *w, int i)
{
    static int64_t number = 1 << 30;
    struct ensemble *e = w->ensembles[i];
    int windows = e->windows, at = (int)draw((uint32_t)windows + 1), origin[WINDOWS];
    bool *killer = w->killer[i];
    if (windows == WINDOWS || e->nsets < windows)
        return;
    for (int k = 0; k <= windows; k++)
        origin[k] = k < at ? k : k == at ? -1 : k - 1;
    world_step(w, (struct sched_event){.kind = SCHED_ADD_WINDOWS,
                                       .ensemble = e,
                                       .window = windows + 1,
                                       .origin = origin,
                                       .replica = number++,
                                       .spec = "x",
                                       .message = "wider"});
    for (int k = windows; k > at && e->windows > windows; k--)
        killer[k] = killer[k - 1];
    killer[at] &= e->windows == windows;
}

static void something_happens(struct world *w)
{
    static const enum sched_kind wishes[] = {SCHED_PAUSE,  SCHED_RESUME, SCHED_CANCEL, SCHED_RETRY,
                                             SCHED_RESUME, SCHED_RETRY,  SCHED_EXTEND, SCHED_LIVE};
    uint32_t what = draw(21);
    w->p.now += draw(2000);
    if (what == 0 && w->nensembles < 12) {
        const uint32_t user = draw(3), replicas = draw(WINDOWS),
                       retries = draw(3); /* one after the other, for any compiler */
        struct ensemble *e = make_sets(user, 1 + (int)replicas, (int)retries);
        for (int i = 0; i < e->nreplicas; i++)
            w->killer[w->nensembles][i] = draw(15) == 0;
        w->ensembles[w->nensembles++] = e;
        world_step(w, (struct sched_event){.kind = SCHED_ADD, .ensemble = e});
    } else if (what < 3 && w->nensembles) {
        struct sched_event ev = {.kind = wishes[draw(8)],
                                 .ensemble = w->ensembles[draw((uint32_t)w->nensembles)],
                                 .ok = true,
                                 .more = true,
                                 .one = draw(2),
                                 .window = (int)draw(4),
                                 .ladder = 1,
                                 .step = 20,
                                 .message = "longer"};
        for (int i = 0; i < ev.ensemble->nreplicas && ev.kind == SCHED_LIVE; i++)
            if (ev.ensemble->replicas[i].saved_step < ev.step)
                ev.step = ev.ensemble->replicas[i].saved_step;
        world_step(w, ev);
    } else if (what < 6 && w->nensembles) {
        finish_job(w, (int)draw((uint32_t)w->nensembles), draw(4) != 0);
    } else if (what == 10 && w->nensembles && draw(3) == 0) {
        world_step(w, (struct sched_event){.kind = SCHED_MOVE,
                                           .ensemble = w->ensembles[draw((uint32_t)w->nensembles)],
                                           .worker = (int)draw((uint32_t)w->p.s.nworkers + 1) - 1,
                                           .device = "d"});
    } else if (what == 6) {
        world_step(w, (struct sched_event){.kind = SCHED_TICK});
    } else if (what == 9 && w->nensembles && draw(4) == 0) {
        world_step(w, (struct sched_event){.kind = SCHED_STORED,
                                           .ensemble = w->ensembles[draw((uint32_t)w->nensembles)],
                                           .ok = draw(2),
                                           .message = "too much"});
    } else if (what == 20 && w->nensembles) {
        add_windows(w, (int)draw((uint32_t)w->nensembles));
    } else if (what == 8 && w->full) {
        w->full = false;
        world_step(w, (struct sched_event){.kind = SCHED_SPACE});
    } else if (what == 7 && !w->fair && health_is_up(&w->p.s.workers[0].health) && draw(10) == 0) {
        world_step(w, (struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = 0, .message = "killed"});
    } else {
        worker_acts(w, (int)draw((uint32_t)w->p.s.nworkers), false);
    }
}

/* No more surprises: everything that nobody paused must come to its end. */
static void settle(struct world *w)
{
    for (int round = 0; round < 40000; round++) {
        bool all = true;
        w->p.now += 500;
        for (int i = 0; i < w->nensembles; i++) {
            finish_job(w, i, true);
            if (w->p.s.users[w->ensembles[i]->user].over)
                world_step(w, (struct sched_event){.kind = SCHED_STORED, .ensemble = w->ensembles[i], .ok = true});
            if (w->ensembles[i]->sm.state == ENSEMBLE_PAUSED)
                world_step(w, (struct sched_event){.kind = SCHED_RESUME, .ensemble = w->ensembles[i]});
            all = all && ensemble_ended(w->ensembles[i]);
        }
        if (all)
            return;
        if (w->full) {
            w->full = false;
            world_step(w, (struct sched_event){.kind = SCHED_SPACE});
        }
        world_step(w, (struct sched_event){.kind = SCHED_TICK});
        worker_acts(w, (int)draw((uint32_t)w->p.s.nworkers), true);
    }
    fail_msg("seed led to a world that never settles");
}

static bool has_killer(const struct world *w, int i, const struct sched_set *set)
{
    for (int k = 0; k < set->nreplicas; k++)
        if (w->killer[i][set->replicas[k].window])
            return true;
    return false;
}

/* Whatever killers and sick devices there were: sets without a killer are done, or were cancelled. */
static void nobody_else_pays(const struct world *w)
{
    for (int i = 0; i < w->nensembles; i++)
        for (int k = 0; k < w->ensembles[i]->nsets; k++) {
            const struct sched_set *set = &w->ensembles[i]->sets[k];
            for (int r = 0; r < set->nreplicas && !has_killer(w, i, set); r++)
                assert_int_not_equal(set->replicas[r].sm.state, REPLICA_FAILED);
        }
}

static void promises_hold_in_random_worlds(void **state)
{
    for (int k = 0; k < 1000; k++) {
        struct world *w = xcalloc(1, sizeof *w);
        seed = (uint64_t)k * UINT64_C(0x9e3779b97f4a7c15) + 1;
        play_begin(&w->p, 1 + (int)draw(3));
        w->fair = k % 2;
        w->p.s.slice_ms = 5000;
        w->p.s.stall_ms = 200000;
        for (int i = 0; i < w->p.s.nworkers && k % 4 == 1; i++)
            w->sick[i] = i != w->p.s.nworkers / 2; /* one is well */
        for (int i = 0; i < 400; i++)
            something_happens(w);
        settle(w);
        if (w->fair)
            nobody_else_pays(w);
        for (int i = 0; i < w->nensembles; i++)
            for (int r = 0; r < w->ensembles[i]->nreplicas; r++)
                if (w->killer[i][r])
                    assert_int_not_equal(w->ensembles[i]->replicas[r].sm.state, REPLICA_DONE);
        play_end(&w->p);
        free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_hold_in_random_worlds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
