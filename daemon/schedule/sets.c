/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of replicas in and out of slots. A set holds its worker from its start until each of its replicas that the worker got
 * has told how it ended; only then is it decided what becomes of the set.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/schedule/internal.h"

#define RETRY_MS 1000 /* before the first retry of a set; doubles */
#define RETRY_MAX_MS 60000

/* ---- in ---- */

static void start(struct step *st, int worker, struct sched_set *set)
{
    struct sched_worker *w = &st->s->workers[worker];
    w->sets[w->nsets++] = set;
    set->worker = worker;
    set->failing = false;
    ensemble_string(&set->device, w->device);
    ensemble_string(&set->model, w->model);
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->sm.state != REPLICA_QUEUED)
            continue;
        r->held = true;
        w->nrunning++;
        move_replica(st, r, REPLICA_RUNNING);
    }
    if (set->ensemble->sm.state == ENSEMBLE_QUEUED)
        move_ensemble(st, set->ensemble, ENSEMBLE_RUNNING);
    decide(st, (struct decision){.kind = DECIDE_START, .ensemble = set->ensemble, .set = set, .worker = worker});
}

void fill_slots(struct step *st)
{
    uint64_t full = 0;
    for (int w; (w = pack_worker(st->s, full)) >= 0;) {
        struct sched_set *set = pack_next(st->s, w, st->now);
        if (set) {
            start(st, w, set);
            full = 0; /* whose turn it is has changed, on the other workers too */
        } else {
            full |= UINT64_C(1) << w;
        }
    }
}

/* ---- out ---- */

void stop_set(struct step *st, struct sched_set *set)
{
    bool any = false;
    for (int i = 0; i < set->nreplicas; i++) {
        if (set->replicas[i].sm.state != REPLICA_RUNNING)
            continue;
        move_replica(st, &set->replicas[i], REPLICA_STOPPING);
        any |= set->replicas[i].held;
    }
    if (any)
        decide(st,
               (struct decision){.kind = DECIDE_STOP, .ensemble = set->ensemble, .set = set, .worker = set->worker});
}

static void let_go(struct step *st, struct sched_replica *r)
{
    if (!r->held)
        return;
    r->held = false;
    st->s->workers[r->set->worker].nrunning--;
}

static bool is_held(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].held)
            return true;
    return false;
}

static void leave_worker(struct step *st, struct sched_set *set)
{
    if (set->worker < 0)
        return;
    struct sched_worker *w = &st->s->workers[set->worker];
    int i = 0;
    while (w->sets[i] != set)
        i++;
    memmove(&w->sets[i], &w->sets[i + 1], (size_t)(w->nsets - i - 1) * sizeof *w->sets);
    w->nsets--;
    for (int k = 0; k < set->nreplicas; k++)
        let_go(st, &set->replicas[k]);
    set->worker = -1;
}

static enum replica_state waiting_state(const struct ensemble *e)
{
    if (e->sm.state == ENSEMBLE_PAUSED)
        return REPLICA_PAUSED;
    return e->sm.state == ENSEMBLE_CANCELLED ? REPLICA_CANCELLED : REPLICA_QUEUED;
}

void release_set(struct step *st, struct sched_set *set)
{
    enum replica_state to = waiting_state(set->ensemble);
    leave_worker(st, set);
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->sm.state != REPLICA_RUNNING && r->sm.state != REPLICA_STOPPING)
            continue;
        r->step = r->saved_step;
        if (to != REPLICA_QUEUED && !sm_may(&r->sm, to))
            move_replica(st, r, REPLICA_QUEUED);
        move_replica(st, r, to);
    }
}

/* ---- what becomes of it ---- */

static void fail_for_good(struct step *st, struct sched_set *set)
{
    leave_worker(st, set);
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->sm.state != REPLICA_RUNNING && r->sm.state != REPLICA_STOPPING)
            continue;
        if (!r->reason)
            ensemble_string(&r->reason, "a replica that it runs with failed");
        move_replica(st, r, REPLICA_FAILED);
    }
    finish_if_ended(st, set->ensemble);
}

static void note_failure(struct sched_replica *r, int code, const char *message)
{
    r->code = code;
    ensemble_string(&r->reason, message);
}

/* Whether trying again could end otherwise. Inputs do not change by themselves. */
static bool worth_retrying(int code)
{
    return code != ERR_SPEC && code != ERR_TOPOLOGY && code != ERR_COORDINATES && code != ERR_UNSUPPORTED;
}

static int64_t backoff(int failures)
{
    int64_t ms = RETRY_MS;
    for (int i = 1; i < failures && ms < RETRY_MAX_MS; i++)
        ms *= 2;
    return ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS;
}

/* The code of the replica that failed first. */
static int code_of(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].code)
            return set->replicas[i].code;
    return ERR_INTERNAL;
}

static void set_failed(struct step *st, struct sched_set *set)
{
    int code = code_of(set);
    set->failures++;
    if (set->failures > set->ensemble->retries || !worth_retrying(code)) {
        fail_for_good(st, set);
        return;
    }
    set->not_before = st->now + backoff(set->failures);
    release_set(st, set);
    /* The folder may have been damaged: make sure of its inputs before the next start. */
    if (waiting_state(set->ensemble) == REPLICA_QUEUED && (code == ERR_IO || code == ERR_MISSING_FILE))
        prepare(st, set->ensemble);
}

/* After one of its replicas told how it ended: once all have, the set leaves. */
static void settle(struct step *st, struct sched_set *set)
{
    if (is_held(set))
        return;
    if (set->failing)
        set_failed(st, set);
    else
        release_set(st, set);
    set->failing = false;
    finish_if_ended(st, set->ensemble);
}

/* ---- what workers say ---- */

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

static void on_done(struct step *st, struct sched_replica *r)
{
    note_failure(r, 0, NULL); /* of an earlier attempt */
    r->set->crashes = 0;
    r->step = r->saved_step = r->steps;
    r->stage = r->ensemble->stages - 1;
    let_go(st, r);
    if (!is_held(r->set) && !r->set->failing)
        leave_worker(st, r->set);
    move_replica(st, r, REPLICA_DONE);
    settle(st, r->set);
}

static void on_failed(struct step *st, struct sched_replica *r, const struct sched_event *ev)
{
    note_failure(r, ev->code, ev->message);
    r->failed_step = ev->step;
    let_go(st, r);
    r->set->failing = true;
    if (is_held(r->set))
        stop_set(st, r->set);
    settle(st, r->set);
}

static void on_segment(struct step *st, struct sched_replica *r, const struct sched_event *ev)
{
    r->stage = ev->stage;
    r->step = r->saved_step = ev->step;
    r->set->crashes = 0;
    if (r->sm.state == REPLICA_RUNNING && pack_should_yield(st->s, r->set, st->now))
        stop_set(st, r->set);
}

int on_replica(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct sched_replica *r = find_running(st->s, ev, err);
    if (!r)
        return -ERR_PROTOCOL;
    if (ev->kind == SCHED_PROGRESS) {
        r->stage = ev->stage;
        r->step = ev->step;
        r->time_ps = ev->time_ps;
    } else if (ev->kind == SCHED_SEGMENT) {
        on_segment(st, r, ev);
    } else if (ev->kind == SCHED_DONE) {
        on_done(st, r);
    } else if (ev->kind == SCHED_FAILED) {
        on_failed(st, r, ev);
    } else {
        r->step = r->saved_step = ev->step; /* stopped: it has checkpointed */
        r->set->crashes = 0;
        let_go(st, r);
        settle(st, r->set);
    }
    return 0;
}

static void blame(struct step *st, struct sched_set *set, bool alone, const char *message)
{
    set->crashes++;
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].held)
            note_failure(&set->replicas[i], ERR_DEVICE, message);
    if (alone && set->crashes > SCHED_SUSPECT + set->ensemble->retries)
        fail_for_good(st, set);
    else
        release_set(st, set);
}

void on_worker_down(struct step *st, const struct sched_event *ev)
{
    struct sched_worker *w = &st->s->workers[ev->worker];
    bool alone = w->nsets == 1;
    w->up = false;
    while (w->nsets) {
        struct sched_set *set = w->sets[w->nsets - 1];
        if (ev->ok)
            release_set(st, set);
        else
            blame(st, set, alone, ev->message);
        finish_if_ended(st, set->ensemble);
    }
}
