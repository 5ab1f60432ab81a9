/* SPDX-License-Identifier: Apache-2.0
 *
 * Which set gets free slots. Pure functions of the scheduler's state; see the rules in sched.h.
 *
 * A set that has crashed workers is suspect: it goes first among its ensemble's, but only onto an empty worker. While the turn
 * is that of a set for which there is no room, nothing else is started there and the others leave at their next checkpoint, so
 * that the room comes within a segment. After one checkpoint of its own a set is no longer suspect and company is welcome.
 */
#include <stddef.h>
#include <string.h>

#include "daemon/schedule/internal.h"

static bool is_suspect(const struct sched_set *set)
{
    return set->crashes >= SCHED_SUSPECT;
}

static int owner_running(const struct sched *s, uint32_t owner)
{
    int n = 0;
    for (int w = 0; w < s->nworkers; w++)
        for (int i = 0; i < s->workers[w].nsets; i++)
            if (s->workers[w].sets[i]->ensemble->owner == owner)
                n += set_open(s->workers[w].sets[i]);
    return n;
}

static int ensemble_running(const struct ensemble *e)
{
    return ensemble_count(e, REPLICA_RUNNING) + ensemble_count(e, REPLICA_STOPPING);
}

/* A set goes on where its model of device is, for its bits depend on it, unless no worker has that model. */
static bool fits(const struct sched *s, int worker, const struct sched_set *set)
{
    if (set_open(set) > s->workers[worker].slots)
        return false;
    if (!set->model || strcmp(set->model, s->workers[worker].model) == 0)
        return true;
    for (int w = 0; w < s->nworkers; w++)
        if (!s->workers[w].heard || strcmp(set->model, s->workers[w].model) == 0)
            return false;
    return true;
}

static bool runs_ensembles(const struct ensemble *e)
{
    return e->prepared && (e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING);
}

static bool waits(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].sm.state == REPLICA_QUEUED)
            return true;
    return false;
}

static struct sched_set *first_waiting(const struct sched *s, struct ensemble *e, int worker, int64_t now)
{
    struct sched_set *first = NULL;
    for (int i = 0; i < e->nsets; i++) {
        struct sched_set *set = &e->sets[i];
        if (!waits(set) || set->not_before > now || !fits(s, worker, set))
            continue;
        if (is_suspect(set))
            return set;
        if (!first)
            first = set;
    }
    return first;
}

/* The set whose turn it is on this worker, whether or not the worker can take it now. */
static struct sched_set *whose_turn(const struct sched *s, int worker, int64_t now)
{
    struct sched_set *best = NULL;
    int best_owner = 0, best_ensemble = 0;
    for (int i = 0; i < s->nensembles; i++) {
        struct ensemble *e = s->ensembles[i];
        struct sched_set *set = runs_ensembles(e) ? first_waiting(s, e, worker, now) : NULL;
        if (!set)
            continue;
        int owner = owner_running(s, e->owner), running = ensemble_running(e);
        if (!best || owner < best_owner || (owner == best_owner && running < best_ensemble)) {
            best = set;
            best_owner = owner;
            best_ensemble = running;
        }
    }
    return best;
}

static bool has_room(const struct sched_worker *w, const struct sched_set *set)
{
    return is_suspect(set) ? w->nsets == 0 : set_open(set) <= w->slots - w->nrunning;
}

/* A suspect that runs keeps its worker to itself. */
static bool taken_alone(const struct sched_worker *w)
{
    return w->nsets == 1 && is_suspect(w->sets[0]);
}

struct sched_set *pack_next(const struct sched *s, int worker, int64_t now)
{
    const struct sched_worker *w = &s->workers[worker];
    if (s->draining || !w->up || w->nrunning >= w->slots || taken_alone(w))
        return NULL;
    struct sched_set *set = whose_turn(s, worker, now);
    return set && has_room(w, set) ? set : NULL;
}

bool pack_should_yield(const struct sched *s, const struct sched_set *set, int64_t now)
{
    if (s->draining)
        return false;
    const struct sched_worker *w = &s->workers[set->worker];
    const struct sched_set *next = whose_turn(s, set->worker, now);
    if (!next)
        return false;
    if (is_suspect(next) || set_open(next) > 1)
        return !has_room(w, next);
    return next->ensemble->owner != set->ensemble->owner &&
           owner_running(s, set->ensemble->owner) - owner_running(s, next->ensemble->owner) >= 2;
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
