/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/sched.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define RETRY_MS 1000 /* before the first retry of a replica; doubles */
#define RETRY_MAX_MS 60000
#define PREPARE_RETRY_MS 10000 /* before the input folder is tried again */

/* One step's arguments, handed down. */
struct step {
    struct sched *s;
    int64_t now;
    struct decisions *out;
};

void sched_init(struct sched *s, int nworkers)
{
    assert(nworkers > 0 && nworkers <= 64);
    *s = (struct sched){.nworkers = nworkers, .workers = xcalloc((size_t)nworkers, sizeof *s->workers)};
}

void sched_close(struct sched *s)
{
    for (int i = 0; i < s->nensembles; i++)
        ensemble_free(s->ensembles[i]);
    free(s->ensembles);
    for (int i = 0; i < s->nworkers; i++) {
        free(s->workers[i].running);
        free(s->workers[i].device);
        free(s->workers[i].model);
    }
    free(s->workers);
    *s = (struct sched){0};
}

static void decide(struct step *st, struct decision d)
{
    struct decisions *o = st->out;
    if (o->n == o->cap) {
        o->cap = o->cap ? 2 * o->cap : 16;
        o->item = xrealloc(o->item, (size_t)o->cap, sizeof *o->item);
    }
    o->item[o->n++] = d;
}

static void move_ensemble(struct step *st, struct ensemble *e, enum ensemble_state to)
{
    sm_move(&e->sm, to);
    e->changed = st->now;
    decide(st, (struct decision){.kind = DECIDE_ENSEMBLE, .ensemble = e, .worker = -1, .state = to});
}

static void move_replica(struct step *st, struct replica *r, enum replica_state to)
{
    sm_move(&r->sm, to);
    decide(st, (struct decision){
                   .kind = DECIDE_REPLICA, .ensemble = r->ensemble, .replica = r, .worker = r->worker, .state = to});
}

static void act(struct step *st, enum decision_kind kind, struct ensemble *e, struct replica *r, int worker)
{
    decide(st, (struct decision){.kind = kind, .ensemble = e, .replica = r, .worker = worker});
}

/* ---- slots ---- */

static void start(struct step *st, int worker, struct replica *r)
{
    struct sched_worker *w = &st->s->workers[worker];
    w->running[w->nrunning++] = r;
    r->worker = worker;
    ensemble_string(&r->device, w->device);
    ensemble_string(&r->model, w->model);
    move_replica(st, r, REPLICA_RUNNING);
    if (r->ensemble->sm.state == ENSEMBLE_QUEUED)
        move_ensemble(st, r->ensemble, ENSEMBLE_RUNNING);
    act(st, DECIDE_START, r->ensemble, r, worker);
}

static void fill(struct step *st)
{
    uint64_t full = 0;
    for (int w; (w = pack_worker(st->s, full)) >= 0;) {
        struct replica *r = pack_next(st->s, w, st->now);
        if (r) {
            start(st, w, r);
            full = 0; /* whose turn it is has changed, on the other workers too */
        } else {
            full |= UINT64_C(1) << w;
        }
    }
}

static void leave_slot(struct step *st, struct replica *r)
{
    if (r->worker < 0)
        return;
    struct sched_worker *w = &st->s->workers[r->worker];
    int i = 0;
    while (w->running[i] != r)
        i++;
    memmove(&w->running[i], &w->running[i + 1], (size_t)(w->nrunning - i - 1) * sizeof *w->running);
    w->nrunning--;
    r->worker = -1;
}

static void stop(struct step *st, struct replica *r)
{
    move_replica(st, r, REPLICA_STOPPING);
    act(st, DECIDE_STOP, r->ensemble, r, r->worker);
}

/* Out of its slot without having ended: where it waits depends on what its owner wants. */
static void release(struct step *st, struct replica *r)
{
    leave_slot(st, r);
    r->step = r->saved_step;
    enum replica_state to = REPLICA_QUEUED;
    if (r->ensemble->sm.state == ENSEMBLE_PAUSED)
        to = REPLICA_PAUSED;
    if (r->ensemble->sm.state == ENSEMBLE_CANCELLED)
        to = REPLICA_CANCELLED;
    if (to != REPLICA_QUEUED && !sm_may(&r->sm, to))
        move_replica(st, r, REPLICA_QUEUED);
    move_replica(st, r, to);
}

/* ---- ensembles ---- */

static void prepare(struct step *st, struct ensemble *e)
{
    e->prepared = false;
    if (e->preparing)
        return;
    e->preparing = true;
    act(st, DECIDE_PREPARE, e, NULL, -1);
}

static void estimate(struct step *st, struct ensemble *e)
{
    if (e->estimating)
        return;
    e->estimating = true;
    act(st, DECIDE_ESTIMATE, e, NULL, -1);
}

static void finish_if_ended(struct step *st, struct ensemble *e)
{
    if (ensemble_ended(e) || e->sm.state == ENSEMBLE_FINISHING)
        return;
    if (ensemble_count(e, REPLICA_DONE) + ensemble_count(e, REPLICA_FAILED) < e->nreplicas)
        return;
    move_ensemble(st, e, ENSEMBLE_FINISHING);
    estimate(st, e);
}

/* The sentence an owner reads: how many windows failed, and the first one's reason. */
static char *failure_text(const struct ensemble *e, const char *estimate_message)
{
    struct buf text = {0};
    int failed = ensemble_count(e, REPLICA_FAILED);
    for (int i = 0; i < e->nreplicas && failed; i++) {
        const struct replica *r = &e->replicas[i];
        if (r->sm.state != REPLICA_FAILED)
            continue;
        buf_printf(&text, "%d of %d windows failed; window %d: %s", failed, e->nreplicas, r->window,
                   r->reason ? r->reason : "no reason given");
        break;
    }
    if (estimate_message)
        buf_printf(&text, "%s%s", text.len ? "; " : "", estimate_message);
    return text.data;
}

static void on_estimated(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    e->estimating = false;
    if (e->sm.state != ENSEMBLE_FINISHING)
        return; /* cancelled meanwhile */
    bool good = ev->ok && ensemble_count(e, REPLICA_FAILED) == 0;
    free(e->reason);
    e->reason = good ? NULL : failure_text(e, ev->ok ? NULL : ev->message);
    move_ensemble(st, e, good ? ENSEMBLE_DONE : ENSEMBLE_FAILED);
}

static void on_add(struct step *st, struct ensemble *e)
{
    struct sched *s = st->s;
    if (s->nensembles == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->ensembles = xrealloc(s->ensembles, (size_t)s->cap, sizeof *s->ensembles);
    }
    s->ensembles[s->nensembles++] = e;
    /* One loaded from the database may have had replicas in slots of a service that is no more. */
    for (int i = 0; i < e->nreplicas; i++) {
        uint32_t state = e->replicas[i].sm.state;
        if (state == REPLICA_RUNNING || state == REPLICA_STOPPING)
            release(st, &e->replicas[i]);
    }
    if (e->sm.state == ENSEMBLE_FINISHING)
        estimate(st, e);
    else if (!ensemble_ended(e) && e->sm.state != ENSEMBLE_PAUSED)
        prepare(st, e);
    finish_if_ended(st, e);
}

static void on_prepared(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    e->preparing = false;
    e->prepared = ev->ok;
    if (!ensemble_ended(e))
        ensemble_string(&e->reason, ev->ok ? NULL : ev->message);
    if (!ev->ok)
        e->prepare_after = st->now + PREPARE_RETRY_MS;
}

static void on_tick(struct step *st)
{
    for (int i = 0; i < st->s->nensembles; i++) {
        struct ensemble *e = st->s->ensembles[i];
        bool wants = e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING;
        if (wants && !e->prepared && !e->preparing && e->prepare_after <= st->now)
            prepare(st, e);
    }
}

/* ---- what owners ask for ---- */

static int refuse(const struct ensemble *e, const char *wish, struct err *err)
{
    return err_set(err, ERR_CONFLICT, "ensemble %s is %s: it cannot be %s", e->id, sm_name(&e->sm), wish);
}

/* Running replicas checkpoint and leave; waiting ones move at once. */
static void withdraw(struct step *st, struct ensemble *e, enum replica_state to)
{
    for (int i = 0; i < e->nreplicas; i++) {
        struct replica *r = &e->replicas[i];
        if (r->sm.state == REPLICA_RUNNING)
            stop(st, r);
        else if (r->worker < 0 && sm_may(&r->sm, to))
            move_replica(st, r, to);
    }
}

static int on_pause(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_PAUSED)
        return 0;
    if (!sm_may(&e->sm, ENSEMBLE_PAUSED))
        return refuse(e, "paused", err);
    move_ensemble(st, e, ENSEMBLE_PAUSED);
    withdraw(st, e, REPLICA_PAUSED);
    return 0;
}

static int on_resume(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING)
        return 0;
    if (e->sm.state != ENSEMBLE_PAUSED)
        return refuse(e, "resumed", err);
    move_ensemble(st, e, ENSEMBLE_QUEUED);
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].sm.state == REPLICA_PAUSED)
            move_replica(st, &e->replicas[i], REPLICA_QUEUED);
    prepare(st, e);
    return 0;
}

static int on_cancel(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_CANCELLED)
        return 0;
    if (!sm_may(&e->sm, ENSEMBLE_CANCELLED))
        return refuse(e, "cancelled", err);
    move_ensemble(st, e, ENSEMBLE_CANCELLED);
    withdraw(st, e, REPLICA_CANCELLED);
    return 0;
}

static int on_retry(struct step *st, struct ensemble *e, struct err *err)
{
    bool ended = e->sm.state == ENSEMBLE_FAILED || e->sm.state == ENSEMBLE_CANCELLED;
    bool active = e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING;
    if (!ended && !(active && ensemble_count(e, REPLICA_FAILED)))
        return refuse(e, "retried", err);
    ensemble_string(&e->reason, NULL);
    if (ended)
        move_ensemble(st, e, ENSEMBLE_QUEUED);
    for (int i = 0; i < e->nreplicas; i++) {
        struct replica *r = &e->replicas[i];
        if (r->sm.state != REPLICA_FAILED && r->sm.state != REPLICA_CANCELLED)
            continue;
        r->failures = r->crashes = r->code = 0;
        r->not_before = 0;
        ensemble_string(&r->reason, NULL);
        move_replica(st, r, REPLICA_QUEUED);
    }
    prepare(st, e);
    finish_if_ended(st, e);
    return 0;
}

/* ---- what workers say ---- */

static struct replica *find_running(const struct sched *s, const struct sched_event *ev, struct err *err)
{
    const struct sched_worker *w = &s->workers[ev->worker];
    for (int i = 0; i < w->nrunning; i++)
        if (w->running[i]->number == ev->replica)
            return w->running[i];
    err_set(err, ERR_PROTOCOL, "worker %d speaks of replica %lld, which it does not run", ev->worker,
            (long long)ev->replica);
    return NULL;
}

static void fail_for_good(struct step *st, struct replica *r)
{
    leave_slot(st, r);
    move_replica(st, r, REPLICA_FAILED);
}

static void note_failure(struct replica *r, int code, const char *message)
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

static void on_failed(struct step *st, struct replica *r, const struct sched_event *ev)
{
    note_failure(r, ev->code, ev->message);
    r->failures++;
    if (r->failures > r->ensemble->retries || !worth_retrying(ev->code)) {
        fail_for_good(st, r);
        finish_if_ended(st, r->ensemble);
        return;
    }
    r->not_before = st->now + backoff(r->failures);
    release(st, r);
    /* The folder may have been damaged: make sure of its inputs before the next start. */
    if (r->sm.state == REPLICA_QUEUED && (ev->code == ERR_IO || ev->code == ERR_MISSING_FILE))
        prepare(st, r->ensemble);
}

static void on_done(struct step *st, struct replica *r)
{
    leave_slot(st, r);
    note_failure(r, 0, NULL); /* of an earlier attempt */
    r->crashes = 0;
    r->step = r->saved_step = r->ensemble->steps;
    r->stage = r->ensemble->stages - 1;
    move_replica(st, r, REPLICA_DONE);
    finish_if_ended(st, r->ensemble);
}

static void on_segment(struct step *st, struct replica *r, const struct sched_event *ev)
{
    r->stage = ev->stage;
    r->step = r->saved_step = ev->step;
    r->crashes = 0;
    if (r->sm.state == REPLICA_RUNNING && pack_should_yield(st->s, r, st->now))
        stop(st, r);
}

static int on_replica(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct replica *r = find_running(st->s, ev, err);
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
        r->crashes = 0;
        release(st, r);
    }
    return 0;
}

static int on_worker_up(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct sched_worker *w = &st->s->workers[ev->worker];
    if (w->up || ev->slots < 1)
        return err_set(err, ERR_PROTOCOL, "worker %d: hello %s", ev->worker, w->up ? "twice" : "without slots");
    w->up = w->heard = true;
    w->slots = ev->slots;
    w->running = xrealloc(w->running, (size_t)w->slots, sizeof *w->running);
    ensemble_string(&w->device, ev->device);
    ensemble_string(&w->model, ev->model);
    if (st->s->draining)
        act(st, DECIDE_DRAIN, NULL, NULL, ev->worker);
    return 0;
}

static void blame(struct step *st, struct replica *r, bool alone, const char *message)
{
    struct ensemble *e = r->ensemble;
    r->crashes++;
    note_failure(r, ERR_DEVICE, message);
    if (alone && r->crashes > SCHED_SUSPECT + e->retries) {
        fail_for_good(st, r);
        finish_if_ended(st, e);
    } else {
        release(st, r);
    }
}

static void on_worker_down(struct step *st, const struct sched_event *ev)
{
    struct sched_worker *w = &st->s->workers[ev->worker];
    bool alone = w->nrunning == 1;
    w->up = false;
    while (w->nrunning) {
        struct replica *r = w->running[w->nrunning - 1];
        if (ev->ok)
            release(st, r);
        else
            blame(st, r, alone, ev->message);
    }
}

static void on_drain(struct step *st)
{
    if (st->s->draining)
        return;
    st->s->draining = true;
    for (int w = 0; w < st->s->nworkers; w++)
        if (st->s->workers[w].up)
            act(st, DECIDE_DRAIN, NULL, NULL, w);
}

static int dispatch(struct step *st, const struct sched_event *ev, struct err *err)
{
    switch (ev->kind) {
    case SCHED_ADD:
        on_add(st, ev->ensemble);
        return 0;
    case SCHED_PREPARED:
        on_prepared(st, ev);
        return 0;
    case SCHED_ESTIMATED:
        on_estimated(st, ev);
        return 0;
    case SCHED_PAUSE:
        return on_pause(st, ev->ensemble, err);
    case SCHED_RESUME:
        return on_resume(st, ev->ensemble, err);
    case SCHED_CANCEL:
        return on_cancel(st, ev->ensemble, err);
    case SCHED_RETRY:
        return on_retry(st, ev->ensemble, err);
    case SCHED_WORKER_UP:
        return on_worker_up(st, ev, err);
    case SCHED_WORKER_DOWN:
        on_worker_down(st, ev);
        return 0;
    case SCHED_PROGRESS:
    case SCHED_SEGMENT:
    case SCHED_DONE:
    case SCHED_STOPPED:
    case SCHED_FAILED:
        return on_replica(st, ev, err);
    case SCHED_DRAIN:
        on_drain(st);
        return 0;
    case SCHED_TICK:
        on_tick(st);
        return 0;
    }
    return err_set(err, ERR_INTERNAL, "no such event: %d", (int)ev->kind);
}

int sched_step(struct sched *s, const struct sched_event *ev, struct decisions *out, struct err *e)
{
    struct step st = {s, ev->now, out};
    int rc = dispatch(&st, ev, e);
    if (rc == 0)
        fill(&st);
    return rc;
}

int64_t sched_wake(const struct sched *s, int64_t now)
{
    int64_t wake = INT64_MAX;
    for (int i = 0; i < s->nensembles; i++) {
        const struct ensemble *e = s->ensembles[i];
        if (e->sm.state != ENSEMBLE_QUEUED && e->sm.state != ENSEMBLE_RUNNING)
            continue;
        if (!e->prepared && !e->preparing && e->prepare_after < wake)
            wake = e->prepare_after > now ? e->prepare_after : now;
        for (int k = 0; k < e->nreplicas && e->prepared; k++) {
            const struct replica *r = &e->replicas[k];
            if (r->sm.state == REPLICA_QUEUED && r->not_before > now && r->not_before < wake)
                wake = r->not_before;
        }
    }
    return wake;
}
