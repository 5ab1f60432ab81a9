/* SPDX-License-Identifier: Apache-2.0
 *
 * Which replica gets a slot. Pure functions of the scheduler's state; see the rules in sched.h.
 *
 * A replica that has crashed workers is suspect: it goes first among its ensemble's, but only onto an empty worker. While its
 * turn has come and the worker is not empty, nothing else is started there and the others leave at their next checkpoint, so
 * the worker empties within a segment. After one checkpoint of its own it is no longer suspect and company is welcome.
 */
#include <stddef.h>

#include "daemon/schedule/sched.h"

static bool is_suspect(const struct replica *r)
{
    return r->crashes >= SCHED_SUSPECT;
}

static int owner_running(const struct sched *s, uint32_t owner)
{
    int n = 0;
    for (int w = 0; w < s->nworkers; w++)
        for (int i = 0; i < s->workers[w].nrunning; i++)
            n += s->workers[w].running[i]->ensemble->owner == owner;
    return n;
}

static int ensemble_running(const struct ensemble *e)
{
    return ensemble_count(e, REPLICA_RUNNING) + ensemble_count(e, REPLICA_STOPPING);
}

static bool same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* A replica goes on where its model of device is, for its bits depend on it, unless no worker has that model. */
static bool fits(const struct sched *s, int worker, const struct replica *r)
{
    if (!r->model || same_text(r->model, s->workers[worker].model))
        return true;
    for (int w = 0; w < s->nworkers; w++)
        if (!s->workers[w].heard || same_text(r->model, s->workers[w].model))
            return false;
    return true;
}

static bool runs_ensembles(const struct ensemble *e)
{
    return e->prepared && (e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING);
}

static struct replica *first_waiting(const struct sched *s, struct ensemble *e, int worker, int64_t now)
{
    struct replica *first = NULL;
    for (int i = 0; i < e->nreplicas; i++) {
        struct replica *r = &e->replicas[i];
        if (r->sm.state != REPLICA_QUEUED || r->not_before > now || !fits(s, worker, r))
            continue;
        if (is_suspect(r))
            return r;
        if (!first)
            first = r;
    }
    return first;
}

/* The replica whose turn it is on this worker, whether or not the worker can take it now. */
static struct replica *whose_turn(const struct sched *s, int worker, int64_t now)
{
    struct replica *best = NULL;
    int best_owner = 0, best_ensemble = 0;
    for (int i = 0; i < s->nensembles; i++) {
        struct ensemble *e = s->ensembles[i];
        struct replica *r = runs_ensembles(e) ? first_waiting(s, e, worker, now) : NULL;
        if (!r)
            continue;
        int owner = owner_running(s, e->owner), running = ensemble_running(e);
        if (!best || owner < best_owner || (owner == best_owner && running < best_ensemble)) {
            best = r;
            best_owner = owner;
            best_ensemble = running;
        }
    }
    return best;
}

/* A suspect that runs keeps its worker to itself. */
static bool taken_alone(const struct sched_worker *w)
{
    return w->nrunning == 1 && is_suspect(w->running[0]);
}

struct replica *pack_next(const struct sched *s, int worker, int64_t now)
{
    const struct sched_worker *w = &s->workers[worker];
    if (s->draining || !w->up || w->nrunning >= w->slots || taken_alone(w))
        return NULL;
    struct replica *r = whose_turn(s, worker, now);
    return r && is_suspect(r) && w->nrunning > 0 ? NULL : r;
}

bool pack_should_yield(const struct sched *s, const struct replica *r, int64_t now)
{
    if (s->draining)
        return false;
    const struct replica *next = whose_turn(s, r->worker, now);
    if (!next)
        return false;
    if (is_suspect(next))
        return s->workers[r->worker].nrunning > 0;
    return next->ensemble->owner != r->ensemble->owner &&
           owner_running(s, r->ensemble->owner) - owner_running(s, next->ensemble->owner) >= 2;
}

int pack_worker(const struct sched *s, uint64_t skip)
{
    int best = -1, best_free = 0;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (skip >> w & 1 || !k->up || k->slots - k->nrunning <= best_free)
            continue;
        best = w;
        best_free = k->slots - k->nrunning;
    }
    return best;
}
