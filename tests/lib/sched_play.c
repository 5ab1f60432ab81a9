/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/lib/sched_play.h"

void play_begin(struct play *p, int workers)
{
    *p = (struct play){0};
    sched_init(&p->s, workers);
    p->s.stall_ms = INT64_MAX / 4; /* nobody is stuck for saying nothing */
}

void play_end(struct play *p)
{
    sched_close(&p->s);
    decisions_free(&p->d);
}

struct ensemble *play_ensemble(uint32_t owner, int windows, int retries)
{
    static int64_t next_replica = 1, next_number = 1;
    struct ensemble *e = ensemble_of_windows(windows, 1, false, next_replica, PLAY_STEPS);
    next_replica += windows;
    e->number = next_number++;
    snprintf(e->id, sizeof e->id, "e%lld", (long long)e->number);
    e->owner = owner;
    e->retries = retries;
    e->stages = 1;
    return e;
}

void play_by_need(struct ensemble *e)
{
    e->allocation = (struct allocation){.share = 80, .before = 20, .every = 2};
    for (int i = 0; i < e->nreplicas; i++)
        e->replicas[i].steps = 40;
}

int play_feed(struct play *p, struct sched_event ev)
{
    decisions_clear(&p->d);
    p->err = (struct err){0};
    ev.now = p->now;
    int rc = sched_step(&p->s, &ev, &p->d, &p->err);
    p->starts += play_count(p, DECIDE_START);
    p->stops += play_count(p, DECIDE_STOP);
    return rc;
}

int play_count(const struct play *p, enum decision_kind kind)
{
    int n = 0;
    for (int i = 0; i < p->d.n; i++)
        n += p->d.item[i].kind == kind;
    return n;
}

void play_up(struct play *p, int worker, int slots, const char *model)
{
    struct sched_event ev = {
        .kind = SCHED_WORKER_UP, .worker = worker, .slots = slots, .device = "cpu", .model = model};
    assert_int_equal(play_feed(p, ev), 0);
}

void play_down(struct play *p, int worker, const char *message)
{
    struct sched_event ev = {.kind = SCHED_WORKER_DOWN, .worker = worker, .message = message};
    assert_int_equal(play_feed(p, ev), 0);
}

void play_add(struct play *p, struct ensemble *e)
{
    assert_int_equal(play_feed(p, (struct sched_event){.kind = SCHED_ADD, .ensemble = e}), 0);
    assert_int_equal(play_feed(p, (struct sched_event){.kind = SCHED_PREPARED, .ensemble = e, .ok = true}), 0);
}

void play_endless(struct ensemble *e)
{
    for (int i = 0; i < e->nreplicas; i++)
        e->replicas[i].steps = INT64_MAX / 2;
}

struct ensemble *play_add_endless(struct play *p, uint32_t owner, int windows)
{
    struct ensemble *e = play_ensemble(owner, windows, 0);
    play_endless(e);
    play_add(p, e);
    return e;
}

int play_drain(struct play *p, int worker)
{
    static const struct hold fan = {.by = "ann", .reason = "the fan", .since = 7};
    return play_feed(p, (struct sched_event){.kind = SCHED_DRAINED, .worker = worker, .hold = &fan});
}

void play_undrain(struct play *p, int worker)
{
    assert_int_equal(play_feed(p, (struct sched_event){.kind = SCHED_UNDRAINED, .worker = worker}), 0);
}

int play_about(struct play *p, enum sched_kind kind, const struct sched_replica *r)
{
    struct sched_event ev = {.kind = kind,
                             .worker = r->set->worker,
                             .replica = r->number,
                             .code = ERR_NONFINITE,
                             .message = "it blew up",
                             .step = r->step + (kind == SCHED_SEGMENT ? 10 : 0)};
    return play_feed(p, ev);
}

int play_failed(struct play *p, const struct sched_replica *r, int code, int64_t step)
{
    struct sched_event ev = {.kind = SCHED_FAILED,
                             .worker = r->set->worker,
                             .replica = r->number,
                             .code = code,
                             .message = "no good",
                             .step = step};
    return play_feed(p, ev);
}

int play_wish(struct play *p, enum sched_kind kind, struct ensemble *e)
{
    return play_feed(p, (struct sched_event){.kind = kind, .ensemble = e});
}

void play_explain(const struct play *p, const struct sched_replica *r, struct sched_wait *out)
{
    struct sched_queue q;
    sched_queue_open(&q, r->ensemble, p->now);
    sched_explain(&q, r, out);
    sched_queue_close(&q);
}

static struct sched_replica *stopping(const struct sched *s)
{
    for (int w = 0; w < s->nworkers; w++)
        for (int i = 0; i < s->workers[w].nsets; i++)
            for (int k = 0; k < s->workers[w].sets[i]->nreplicas; k++) {
                struct sched_replica *r = &s->workers[w].sets[i]->replicas[k];
                if (r->held && r->sm.state == REPLICA_STOPPING)
                    return r;
            }
    return NULL;
}

/* How far a replica is that makes a step each ms. */
static int64_t step_at(const struct play *p, const struct sched_replica *r)
{
    int64_t ran = p->now - r->set->began - p->start_ms, step = r->saved_step + (ran > 0 ? ran : 0);
    return step < r->told ? step : r->told;
}

static void tell(struct play *p, enum sched_kind kind, const struct sched_replica *r)
{
    struct sched_event ev = {.kind = kind, .worker = r->set->worker, .replica = r->number, .step = step_at(p, r)};
    assert_int_equal(play_feed(p, ev), 0);
}

/* What the k-th replica in slots has to tell, counted over all workers. Whether there is one. */
static bool tell_of(struct play *p, int k)
{
    for (int w = 0; w < p->s.nworkers; w++)
        for (int i = 0; i < p->s.workers[w].nsets; i++)
            for (int j = 0; j < p->s.workers[w].sets[i]->nreplicas; j++) {
                const struct sched_replica *r = &p->s.workers[w].sets[i]->replicas[j];
                if (!r->held || k--)
                    continue;
                bool done = step_at(p, r) >= r->told;
                tell(p, r->sm.state == REPLICA_STOPPING ? SCHED_STOPPED : done ? SCHED_DONE : SCHED_PROGRESS, r);
                return true;
            }
    return false;
}

void play_run(struct play *p, int64_t end)
{
    for (; p->now < end; p->now += PLAY_TELLS_MS) {
        play_feed(p, (struct sched_event){.kind = SCHED_TICK});
        for (int k = 0; tell_of(p, k); k++)
            ;
        while (stopping(&p->s))
            tell(p, SCHED_STOPPED, stopping(&p->s));
    }
}

void play_until(struct play *p, int64_t now, int64_t further)
{
    while (p->now < now) {
        int64_t wake = sched_wake(&p->s, p->now);
        p->now = wake < now ? (wake > p->now ? wake : p->now + 1) : now;
        play_feed(p, (struct sched_event){.kind = SCHED_TICK});
        for (struct sched_replica *r; (r = stopping(&p->s));) {
            struct sched_event ev = {
                .kind = SCHED_STOPPED, .worker = r->set->worker, .replica = r->number, .step = r->saved_step + further};
            assert_int_equal(play_feed(p, ev), 0);
        }
    }
}
