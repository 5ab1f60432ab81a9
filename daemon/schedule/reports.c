/* SPDX-License-Identifier: Apache-2.0
 *
 * What workers say of their replicas: progress, checkpoints, how they ended.
 */
#include "daemon/schedule/internal.h"

/* After one of its replicas told how it ended: once all have, the set leaves. */
static void settle(struct step *st, struct sched_set *set)
{
    if (set_is_held(set))
        return;
    bool alone = set->worker >= 0 && st->s->workers[set->worker].nsets == 1;
    if (set->failing)
        set_failed(st, set, alone);
    else
        release_set(st, set);
    set->failing = false;
    finish_if_ended(st, set->ensemble);
}

static struct sched_replica *find_running(const struct sched *s, const struct sched_event *ev, struct err *err)
{
    const struct sched_worker *w = &s->workers[ev->worker];
    for (int i = 0; i < w->nsets; i++)
        for (int k = 0; k < w->sets[i]->nreplicas; k++)
            if (w->sets[i]->replicas[k].number == ev->replica && w->sets[i]->replicas[k].held)
                return &w->sets[i]->replicas[k];
    err_set(err, ERR_PROTOCOL, "worker %d speaks of replica %lld, which it does not run", ev->worker,
            (long long)ev->replica);
    return NULL;
}

/* A checkpoint is there: the set and its device are well. */
static void has_saved(struct step *st, struct sched_replica *r, int64_t step, int64_t switched)
{
    bool further = step > r->saved_step || switched > r->saved_switched;
    r->step = r->saved_step = step;
    r->switched = r->saved_switched = switched;
    if (!further)
        return;
    forgive_progress(r->set);
    health_checkpoint(&st->s->workers[r->set->worker].health);
}

/* A step later than the target, where a checkpoint was made there before that was known. */
static void reached(struct step *st, struct sched_replica *r, int64_t step)
{
    has_saved(st, r, step > r->told ? step : r->told, r->switched);
    if (r->saved_step <= r->steps)
        return;
    r->steps = r->saved_step;
    decide(st, (struct decision){.kind = DECIDE_TARGET, .ensemble = r->ensemble, .replica = r, .worker = -1});
}

static void on_done(struct step *st, struct sched_replica *r, int64_t step)
{
    note_failure(r, 0, NULL); /* of an earlier attempt */
    r->failed_from = -1;
    reached(st, r, step);
    r->stage = r->ensemble->stages - 1;
    let_go(st, r);
    if (r->saved_step < r->steps) { /* it has got a later target meanwhile */
        settle(st, r->set);
        return;
    }
    if (!set_is_held(r->set) && !r->set->failing)
        leave_worker(st, r->set);
    move_replica(st, r, REPLICA_DONE);
    settle(st, r->set);
}

static void on_failed(struct step *st, struct sched_replica *r, const struct sched_event *ev)
{
    bool again = r->code == ev->code && r->failed_step == ev->step && r->failed_from == r->saved_step;
    note_failure(r, ev->code, ev->message);
    r->failed_step = ev->step;
    r->failed_from = r->saved_step;
    r->failed_alike = again;
    let_go(st, r);
    r->set->failing = true;
    if (set_is_held(r->set))
        stop_set(st, r->set);
    settle(st, r->set);
}

/* It told of a step: its start is over, and its turn may begin. */
static void has_stepped(struct step *st, struct sched_set *set)
{
    int64_t took = st->now - set->began;
    if (!set->start_ms)
        set->start_ms = took > 1 ? took : 1;
    turn_begin(set, st->now);
}

static void on_progress(struct step *st, struct sched_replica *r, const struct sched_event *ev)
{
    bool further = ev->step != r->step || ev->switched != r->switched;
    if (further || ev->stage != r->stage)
        r->moved = st->now;
    r->stage = ev->stage;
    r->step = ev->step;
    r->switched = ev->switched;
    r->time_ps = ev->time_ps;
    if (further)
        has_stepped(st, r->set);
}

static void on_segment(struct step *st, struct sched_replica *r, const struct sched_event *ev)
{
    r->stage = ev->stage;
    if (ev->step > r->saved_step || ev->switched > r->saved_switched)
        r->moved = st->now;
    if (ev->time_ps > r->time_ps)
        r->time_ps = ev->time_ps;
    has_saved(st, r, ev->step, ev->switched);
    has_stepped(st, r->set);
    const struct sched_set *next = r->sm.state == REPLICA_RUNNING ? pack_claimant(st->s, ev->worker, st->now) : NULL;
    if (pack_should_yield(st->s, r->set, next, false, st->now))
        stop_set(st, r->set);
}

int on_replica(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct sched_replica *r = find_running(st->s, ev, err);
    if (!r)
        return -ERR_PROTOCOL;
    if (ev->kind == SCHED_PROGRESS) {
        on_progress(st, r, ev);
    } else if (ev->kind == SCHED_SEGMENT) {
        on_segment(st, r, ev);
    } else if (ev->kind == SCHED_DONE) {
        on_done(st, r, ev->step);
    } else if (ev->kind == SCHED_FAILED) {
        on_failed(st, r, ev);
    } else {
        has_saved(st, r, ev->step, r->switched); /* stopped: it has checkpointed */
        let_go(st, r);
        settle(st, r->set);
    }
    return 0;
}
