/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of replicas in and out of slots. A set holds its worker from its start until each of its replicas that the
 * worker got has told how it ended; only then is it decided what becomes of the set.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/schedule/internal.h"

#define SLICE_GROWTH 10 /* doublings at most of a slice that ends without a checkpoint */

/* ---- models of ensembles on devices ---- */

static bool runs_on(const struct sched_worker *w, const struct ensemble *e)
{
    for (int i = 0; i < w->nsets; i++)
        if (w->sets[i]->ensemble == e)
            return true;
    return false;
}

void forget_models(struct sched *s, int worker)
{
    for (int i = 0; i < s->nensembles; i++)
        if (!runs_on(&s->workers[worker], s->ensembles[i]))
            s->ensembles[i]->modelled &= ~(UINT64_C(1) << worker);
}

/* As the worker does it: what nobody uses is kept until another model is made (daemon/worker/device/models.h). */
static void keep_model(struct sched *s, int worker, struct ensemble *e)
{
    const uint64_t bit = UINT64_C(1) << worker;
    if (!(e->modelled & bit))
        forget_models(s, worker);
    e->modelled |= bit;
}

/* ---- in ---- */

static void take_slots(struct step *st, struct sched_set *set, int n)
{
    st->s->workers[set->worker].nrunning += n;
    st->s->users[set->ensemble->user].running += n;
    st->s->users[set->ensemble->user].comes = false;
    set->ensemble->nrunning += n;
}

static void tell_of_move(struct step *st, struct sched_set *set, const struct sched_worker *w)
{
    if (set->model && strcmp(set->model, w->model) != 0 && set_saved(set) > 0)
        note(st, set->replicas, "model", "goes on on %s (%s) after %s (%s): its numbers differ in their last bits",
             w->device, w->model, set->device, set->model);
}

/* Within a switch a walker has no later step. */
static int64_t saved_switched(const struct sched_set *set)
{
    int64_t sum = 0;
    for (int i = 0; i < set->nreplicas; i++)
        sum += set->replicas[i].saved_switched;
    return sum;
}

static void start(struct step *st, int worker, struct sched_set *set)
{
    struct sched_worker *w = &st->s->workers[worker];
    tell_of_move(st, set, w);
    keep_model(st->s, worker, set->ensemble);
    w->sets[w->nsets++] = set;
    health_set_starts(&w->health);
    set->worker = worker;
    set->failing = set->stuck = set->yielding = false;
    set->began = st->now;
    set->began_step = set_saved(set);
    set->began_switched = saved_switched(set);
    set->start_ms = 0;
    set->turning = false;
    ensemble_string(&set->device, w->device);
    ensemble_string(&set->model, w->model);
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->sm.state != REPLICA_QUEUED)
            continue;
        r->held = true;
        r->told = r->steps;
        r->moved = st->now;
        take_slots(st, set, 1);
        move_replica(st, r, REPLICA_RUNNING);
    }
    turn_begin(set, st->now);
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
            start(st, pack_place(st->s, w, set, st->now), set);
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
        struct sched_replica *r = &set->replicas[i];
        if (r->sm.state != REPLICA_RUNNING)
            continue;
        move_replica(st, r, REPLICA_STOPPING);
        r->moved = st->now;
        any |= r->held;
    }
    if (any)
        decide(st,
               (struct decision){.kind = DECIDE_STOP, .ensemble = set->ensemble, .set = set, .worker = set->worker});
}

static bool is_running(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].sm.state == REPLICA_STOPPING)
            return false;
    return true;
}

static void yield(struct step *st, struct sched_set *set)
{
    set->yielding = true;
    stop_set(st, set);
}

/* Slots of a worker that are free, or will be when the sets leave that make room. */
static int slots_to_come(const struct sched_worker *w)
{
    int n = w->slots - w->nrunning;
    for (int i = 0; i < w->nsets; i++)
        n += w->sets[i]->yielding ? set_open(w->sets[i]) : 0;
    return n;
}

/* The worker that needs fewest sets to leave for the first set of a user who comes; *next: that set. -1: none, or they
 * leave already. */
static int worker_for_first(const struct step *st, const struct sched_set **next)
{
    int best = -1;
    for (int w = 0; w < st->s->nworkers; w++) {
        const struct sched_worker *k = &st->s->workers[w];
        const struct sched_set *first =
            k->health.life.state == LIFE_UP && !health_is_sick(&k->health) ? pack_claimant(st->s, w, st->now) : NULL;
        if (!first || !user_comes(st->s, first->ensemble) || set_open(first) > k->slots)
            continue;
        if (slots_to_come(k) >= set_open(first))
            return -1;
        if (best < 0 || slots_to_come(k) > slots_to_come(&st->s->workers[best])) {
            best = w;
            *next = first;
        }
    }
    return best;
}

/* Of the user with the largest claim; nothing urgent. */
static struct sched_set *who_leaves(const struct step *st, int worker)
{
    const struct sched *s = st->s;
    struct sched_set *best = NULL;
    double most = 0;
    for (int i = 0; i < s->workers[worker].nsets; i++) {
        struct sched_set *set = s->workers[worker].sets[i];
        const struct sched_user *u = &s->users[set->ensemble->user];
        if (!is_running(set) || ensemble_is_urgent(set->ensemble) || st->now - set->began < SCHED_FIRST_MS)
            continue;
        if (!best || user_claim(s, u, u->running) > most) {
            best = set;
            most = user_claim(s, u, u->running);
        }
    }
    return best;
}

/* Who comes has something running before slices end. */
static void make_first_room(struct step *st)
{
    const struct sched_set *next = NULL;
    const int w = users_come(st->s) ? worker_for_first(st, &next) : -1;
    for (struct sched_set *set; w >= 0 && slots_to_come(&st->s->workers[w]) < set_open(next);) {
        if (!(set = who_leaves(st, w)))
            return;
        yield(st, set);
    }
}

void end_slices(struct step *st)
{
    make_first_room(st);
    const struct sched *s = st->s;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_set *next = NULL;
        bool asked = false;
        for (int i = 0; i < s->workers[w].nsets; i++) {
            struct sched_set *set = s->workers[w].sets[i];
            if (!is_running(set))
                continue;
            if (pack_gives_way(s, set, st->now)) {
                yield(st, set);
                break;
            }
            if (st->now - set->began < pack_slice(s, set))
                continue;
            next = asked ? next : pack_claimant(s, w, st->now);
            asked = true;
            if (pack_should_yield(s, set, next, true, st->now) || pack_passes_on(s, set, st->now)) {
                yield(st, set);
                break; /* one at a time: whose turn it is may change when it has left */
            }
        }
    }
}

void let_go(struct step *st, struct sched_replica *r)
{
    if (!r->held)
        return;
    r->held = false;
    take_slots(st, r->set, -1);
}

bool set_is_held(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].held)
            return true;
    return false;
}

void leave_worker(struct step *st, struct sched_set *set)
{
    if (set->worker < 0)
        return;
    struct sched_worker *w = &st->s->workers[set->worker];
    decide(st, (struct decision){.kind = DECIDE_ACCOUNT, .ensemble = set->ensemble, .set = set, .worker = set->worker});
    claim_energy(w, set);
    int i = 0;
    while (w->sets[i] != set)
        i++;
    memmove(&w->sets[i], &w->sets[i + 1], (size_t)(w->nsets - i - 1) * sizeof *w->sets);
    w->nsets--;
    health_set_left(&w->health);
    for (int k = 0; k < set->nreplicas; k++)
        let_go(st, &set->replicas[k]);
    set->worker = -1;
    /* A slice that yields nothing is given up: the next is longer, so that something is kept of it. */
    if (set_saved(set) > set->began_step || saved_switched(set) > set->began_switched)
        set->fruitless = 0;
    else if (set->yielding && set->fruitless < SLICE_GROWTH)
        set->fruitless++;
}

enum replica_state waiting_state(const struct ensemble *e)
{
    if (e->sm.state == ENSEMBLE_PAUSED)
        return REPLICA_PAUSED;
    return e->sm.state == ENSEMBLE_CANCELLED ? REPLICA_CANCELLED : REPLICA_QUEUED;
}

static bool was_running(const struct sched_replica *r)
{
    return r->sm.state == REPLICA_RUNNING || r->sm.state == REPLICA_STOPPING;
}

void end_here(struct step *st, struct sched_replica *r)
{
    int64_t after = r->ensemble->stop.after, saved = set_furthest(r->set), target = saved > after ? saved : after;
    if (r->steps <= target) /* it may have been taken back to an older checkpoint meanwhile */
        return;
    r->steps = target;
    decide(st, (struct decision){.kind = DECIDE_TARGET, .ensemble = r->ensemble, .replica = r, .worker = -1});
}

/* To where the ensemble's replicas wait. */
static void put_to_wait(struct step *st, struct sched_replica *r)
{
    enum replica_state to = waiting_state(r->ensemble);
    if (ensemble_stopping(r->ensemble))
        end_here(st, r);
    if (to != REPLICA_QUEUED && !sm_may(&r->sm, to))
        move_replica(st, r, REPLICA_QUEUED);
    move_replica(st, r, to);
}

void reopen_set(struct step *st, struct sched_set *set)
{
    if (set->worker >= 0 || ensemble_ended(set->ensemble) || set_has_failed(set))
        return;
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->sm.state == REPLICA_DONE && r->saved_step < r->steps)
            put_to_wait(st, r);
    }
}

int64_t retry_pause(int64_t first, int64_t most, int failures)
{
    int64_t ms = first;
    for (int i = 1; i < failures && ms < most; i++)
        ms *= 2;
    return ms < most ? ms : most;
}

void release_set(struct step *st, struct sched_set *set)
{
    leave_worker(st, set);
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (!was_running(r))
            continue;
        r->step = r->saved_step;
        r->switched = r->saved_switched;
        put_to_wait(st, r);
    }
    reopen_set(st, set);
}

void fail_set(struct step *st, struct sched_set *set)
{
    leave_worker(st, set);
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (!was_running(r))
            continue;
        if (!r->reason)
            ensemble_string(&r->reason, "a replica that it runs with failed");
        move_replica(st, r, REPLICA_FAILED);
    }
    reopen_set(st, set);
}
