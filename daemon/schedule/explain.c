/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a replica waits, its place in the queue and when it may start. Pure functions of the scheduler's state.
 *
 * The place follows from the order of turns (pack.c) as if nothing ended meanwhile: turn after turn the user with the fewest
 * running replicas is served, so before the k-th set of one user every other user gets as many as bring them level. The same
 * holds among the ensembles of a user.
 */
#include "daemon/schedule/internal.h"

#include <stdlib.h>

#include "engine/base/buf.h"

/* Sets of an ensemble that wait; only those whose turn comes before that of `set`, unless NULL. */
static int64_t waiting_sets(const struct ensemble *e, const struct sched_set *set)
{
    int64_t n = 0;
    if (!e->prepared || !ensemble_wants(e) || e->sched->users[e->user].over)
        return 0;
    for (int i = 0; i < e->nsets; i++)
        n += set_waits(&e->sets[i]) && (!set || pack_before(&e->sets[i], set));
    return n;
}

/* How many of `waiting` come before one that is served as the (level + 1)-th: as many as bring the others to that level. */
static int64_t ahead(int64_t waiting, int64_t running, int64_t level, bool first_when_level)
{
    int64_t n = level - running + (first_when_level ? 1 : 0);
    return n < 0 ? 0 : n < waiting ? n : waiting;
}

/* Sets of the same user that come before. */
static int64_t ahead_of_own(const struct sched *s, const struct sched_set *set)
{
    const struct ensemble *e = set->ensemble;
    int64_t own = waiting_sets(e, set), n = own;
    for (int i = 0; i < s->nactive; i++) {
        const struct ensemble *o = s->active[i];
        if (o == e || o->user != e->user)
            continue;
        bool first = o->usage != e->usage ? o->usage < e->usage : o->number < e->number;
        n += ahead(waiting_sets(o, NULL), o->nrunning, e->nrunning + own, first);
    }
    return n;
}

static int64_t place_of(const struct sched *s, const struct sched_set *set)
{
    const struct sched_user *me = &s->users[set->ensemble->user];
    int64_t own = ahead_of_own(s, set), n = own;
    int64_t *waiting = xcalloc((size_t)s->nusers, sizeof *waiting);
    for (int i = 0; i < s->nactive; i++)
        waiting[s->active[i]->user] += waiting_sets(s->active[i], NULL);
    for (int i = 0; i < s->nusers; i++) {
        const struct sched_user *u = &s->users[i];
        bool first = u->usage != me->usage ? u->usage < me->usage : u < me;
        if (u != me)
            n += ahead(waiting[i], u->running, me->running + own, first);
    }
    free(waiting);
    return n + 1;
}

/* Until a running set has ended, as it has gone on so far; -1: not known. */
static int64_t time_left(const struct sched_set *set, int64_t now)
{
    int64_t longest = 0;
    for (int i = 0; i < set->nreplicas; i++) {
        const struct sched_replica *r = &set->replicas[i];
        int64_t done = r->step - set->began_step;
        if (!r->held)
            continue;
        if (set->nreplicas > 1 || done <= 0)
            return -1;
        int64_t left = (int64_t)((double)(now - set->began) / (double)done * (double)(r->steps - r->step));
        longest = left > longest ? left : longest;
    }
    return longest;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* When slots become free for another ensemble's replica: now, at the end of slices, or when what runs there ends. -1: there are
 * no slots, or nothing is known. */
static int64_t expected(const struct sched *s, const struct sched_set *set, int64_t place, int64_t now)
{
    int64_t n = 0, total = 0, slots = 0;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (k->up && !sched_sick(k))
            slots += k->slots > k->nrunning ? k->slots : k->nrunning; /* it may want fewer than it has */
    }
    int64_t *at = xcalloc((size_t)slots, sizeof *at);
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (!k->up || sched_sick(k))
            continue;
        for (int i = 0; i < k->nsets; i++) {
            const struct sched_set *runs = k->sets[i];
            int64_t left = time_left(runs, now), slice = runs->began + (s->slice_ms << runs->fruitless) - now;
            if (left < 0 || (runs->ensemble != set->ensemble && slice < left))
                left = slice > 0 ? slice : 0;
            for (int r = 0; r < runs->nreplicas; r++)
                if (runs->replicas[r].held)
                    at[n++] = left;
        }
        for (int i = k->nrunning; i < k->slots; i++)
            at[n++] = 0;
    }
    qsort(at, (size_t)n, sizeof *at, by_value);
    for (int64_t i = 0; i < n; i++)
        total += at[i];
    int64_t answer =
        n ? at[(place - 1) % n] + (place - 1) / n * (total / n > s->slice_ms ? total / n : s->slice_ms) : -1;
    free(at);
    return answer;
}

/* Of the workers that it may run on: one that is well, one that is put aside, or none. */
static enum wait_kind device_kind(const struct sched *s, const struct sched_set *set)
{
    bool sick = false;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (!k->up || !pack_fits(s, w, set) || pack_shuns(s, w, set))
            continue;
        if (!sched_sick(k))
            return WAIT_TURN;
        sick = true;
    }
    return sick ? WAIT_SICK : WAIT_DEVICE;
}

static enum wait_kind kind_of(const struct sched *s, const struct sched_set *set, int64_t now)
{
    if (s->full)
        return WAIT_SPACE;
    if (s->users[set->ensemble->user].over)
        return WAIT_QUOTA;
    if (!set->ensemble->prepared)
        return WAIT_INPUT;
    if (set->not_before > now)
        return WAIT_PAUSE;
    enum wait_kind kind = device_kind(s, set);
    for (int w = 0; w < s->nworkers && kind == WAIT_TURN; w++)
        if (s->workers[w].up && pack_whose_turn(s, w, now) == set)
            kind = WAIT_ROOM;
    return kind;
}

void sched_explain(const struct sched *s, const struct sched_replica *r, int64_t now, struct sched_wait *out)
{
    const struct sched_set *set = r->set;
    *out = (struct sched_wait){.kind = WAIT_NOT, .expected = -1};
    if (r->sm.state != REPLICA_QUEUED || !ensemble_wants(r->ensemble) || s->draining)
        return;
    out->kind = kind_of(s, set, now);
    if (out->kind == WAIT_PAUSE)
        out->expected = set->not_before - now;
    if (out->kind != WAIT_TURN && out->kind != WAIT_ROOM)
        return;
    int64_t place = place_of(s, set);
    out->place = (int)place;
    out->expected = expected(s, set, place, now);
}

const char *wait_text(enum wait_kind kind)
{
    switch (kind) {
    case WAIT_NOT:
        return NULL;
    case WAIT_INPUT:
        return "its input folder";
    case WAIT_SPACE:
        return "space on the disk";
    case WAIT_QUOTA:
        return "its owner to have less stored";
    case WAIT_PAUSE:
        return "the pause after a failure";
    case WAIT_DEVICE:
        return "a device that it can run on";
    case WAIT_SICK:
        return "a device: those that are up are put aside after crashes";
    case WAIT_ROOM:
        return "others to make room";
    case WAIT_TURN:
        return "its turn";
    }
    return NULL;
}
