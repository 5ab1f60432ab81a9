/* SPDX-License-Identifier: Apache-2.0
 *
 * Why the replicas of an ensemble wait, their places in the queue and when they may start. Functions of the scheduler's
 * state.
 *
 * The place follows from the order of turns (pack.c) as if nothing ended meanwhile: turn after turn the user with the
 * least claim is served, so before the k-th set of one user every other user gets as many as bring them level. The same
 * holds among the ensembles of a user. So how many sets of others come before a set depends only on its place among its
 * own, and the queue of an ensemble costs a pass over the ensembles, and over the users for each of its sets, however
 * many sets the others have.
 */
#include "daemon/schedule/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define LEVEL 1e-6 /* claims that differ by less, in slices, are equal */

/* Sets of an ensemble that take turns. */
static int64_t waiting_sets(const struct ensemble *e)
{
    return e->prepared && ensemble_wants(e) && !e->sched->users[e->user].over ? e->nwaiting : 0;
}

/* ---- how many of others come before the first, second, .. of one's own ---- */

struct waiting_ahead {
    int64_t n;     /* of one's own */
    int64_t first; /* before the first of them */
    int64_t *bend; /* [n]: from one to the next the number grows by a slope, which changes by so much here */
};

/* Adds one that has so many waiting. Before the k-th of one's own (from 0) it gets k - `level` of them: as many as
 * bring it level. */
static void add_other(struct waiting_ahead *a, int64_t waiting, int64_t level)
{
    int64_t from = level > 0 ? level : 0, to = level + waiting;
    if (level < 0)
        a->first += waiting < -level ? waiting : -level;
    if (from >= to)
        return;
    if (from + 1 < a->n)
        a->bend[from + 1]++;
    if (to + 1 < a->n)
        a->bend[to + 1]--;
}

/* What was added becomes the numbers themselves. */
static void sum_up(struct waiting_ahead *a)
{
    int64_t slope = 0;
    for (int64_t k = 0; k < a->n; k++) {
        slope += a->bend[k];
        a->bend[k] = k ? a->bend[k - 1] + slope : a->first;
    }
}

/* Of the other ensembles of the user. */
static struct waiting_ahead ahead_of_own(const struct sched *s, const struct ensemble *e)
{
    struct waiting_ahead a = {.n = waiting_sets(e)};
    a.bend = xcalloc((size_t)a.n + 1, sizeof *a.bend);
    for (int i = 0; i < s->nactive; i++) {
        const struct ensemble *o = s->active[i];
        bool first = o->usage != e->usage ? o->usage < e->usage : o->number < e->number;
        if (o == e || o->user != e->user || o->priority < e->priority)
            continue;
        if (o->priority > e->priority)
            a.first += waiting_sets(o);
        else
            add_other(&a, waiting_sets(o), o->nrunning - e->nrunning - first);
    }
    sum_up(&a);
    return a;
}

/* How many sets of another user come before one of the user `me`, when `before` of their own have. */
static int64_t of_user(const struct sched *s, const struct sched_user *u, const struct sched_user *me, int64_t waiting,
                       int64_t before)
{
    double claim = user_claim(s, me, me->running + before);
    double level = (claim - u->usage) / (double)s->slice_ms * u->counts - u->running, same = round(level);
    /* Of equal claims the one of the first user is served first. */
    int64_t n = fabs(level - same) < LEVEL ? (int64_t)same + (u < me) : (int64_t)ceil(level);
    int64_t most = u->most > u->running ? u->most - u->running : 0;
    most = most < waiting ? most : waiting;
    return n < 0 ? 0 : n < most ? n : most;
}

/* Sets of each user that wait and are as urgent as the ensemble; the caller frees. *first: those of other users that
 * are more so. */
static int64_t *waiting_of_users(const struct sched *s, const struct ensemble *e, int64_t *first)
{
    int64_t *waiting = xcalloc((size_t)s->nusers, sizeof *waiting);
    *first = 0;
    for (int i = 0; i < s->nactive; i++) {
        const struct ensemble *o = s->active[i];
        if (ensemble_is_urgent(o) == ensemble_is_urgent(e))
            waiting[o->user] += waiting_sets(o);
        else if (ensemble_is_urgent(o) && o->user != e->user)
            *first += waiting_sets(o);
    }
    return waiting;
}

static int64_t ahead_of_user(const struct sched *s, int me, const int64_t *waiting, int64_t before)
{
    int64_t n = 0;
    for (int i = 0; i < s->nusers; i++)
        if (i != me && waiting[i])
            n += of_user(s, &s->users[i], &s->users[me], waiting[i], before);
    return n;
}

static int by_turn(const void *a, const void *b)
{
    const struct sched_set *x = *(const struct sched_set *const *)a, *y = *(const struct sched_set *const *)b;
    return pack_before(y, x) - pack_before(x, y);
}

/* Its own sets that wait, in the order of their turns; the caller frees. */
static const struct sched_set **in_turn(const struct ensemble *e)
{
    const struct sched_set **sets = xcalloc((size_t)e->nwaiting + 1, sizeof *sets);
    int n = 0;
    for (int i = 0; i < e->nsets; i++)
        if (set_waits(&e->sets[i]))
            sets[n++] = &e->sets[i];
    qsort(sets, (size_t)n, sizeof *sets, by_turn);
    return sets;
}

static void find_places(struct sched_queue *q)
{
    const struct ensemble *e = q->ensemble;
    struct waiting_ahead own = ahead_of_own(q->s, e);
    if (own.n) {
        int64_t first, *waiting = waiting_of_users(q->s, e, &first);
        const struct sched_set **sets = in_turn(e);
        for (int64_t k = 0; k < own.n; k++) {
            int64_t mine = k + own.bend[k];
            q->place[sets[k] - e->sets] = (int)(first + mine + ahead_of_user(q->s, e->user, waiting, mine) + 1);
        }
        free(sets);
        free(waiting);
    }
    free(own.bend);
}

/* ---- when slots become free ---- */

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

static bool counts(const struct sched_worker *k)
{
    return health_is_up(&k->health) && !health_is_sick(&k->health) && !health_is_drained(&k->health);
}

/* Of its turn among its ensemble's, or of its slice. */
static int64_t turn_start(const struct sched_set *runs, bool own)
{
    return own && runs->turning ? runs->turn_began : runs->began;
}

/* For the ensemble: now, at the end of slices, or when what runs there ends. A slot is free again after as long as
 * those that run hold theirs, in the mean. */
static void find_slots(struct sched_queue *q)
{
    const struct sched *s = q->s;
    int64_t slots = 0, held = 0, busy = 0;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (counts(k))
            slots += k->slots > k->nrunning ? k->slots : k->nrunning; /* it may want fewer than it has */
    }
    q->free_at = xcalloc((size_t)slots + 1, sizeof *q->free_at);
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        for (int i = 0; i < k->nsets && counts(k); i++) {
            const struct sched_set *runs = k->sets[i];
            bool own = runs->ensemble == q->ensemble;
            int64_t length = own ? turn_length(s, runs, q->now) : pack_slice(s, runs);
            int64_t since = q->now - turn_start(runs, own), left = time_left(runs, q->now);
            if (left < 0 || length - since < left)
                left = length > since ? length - since : 0;
            for (int r = 0; r < runs->nreplicas; r++)
                if (runs->replicas[r].held) {
                    q->free_at[q->nslots++] = left;
                    held += since + left < length ? since + left : length;
                    busy++;
                }
        }
        for (int i = k->nrunning; i < k->slots && counts(k); i++)
            q->free_at[q->nslots++] = 0;
    }
    qsort(q->free_at, (size_t)q->nslots, sizeof *q->free_at, by_value);
    q->round_ms = busy ? held / busy : s->slice_ms;
}

/* -1: there are no slots. */
static int64_t expected(const struct sched_queue *q, int64_t place)
{
    if (!q->nslots)
        return -1;
    return q->free_at[(place - 1) % q->nslots] + (place - 1) / q->nslots * q->round_ms;
}

/* ---- why ---- */

/* Of the workers that it may run on: one that is well, one that is put aside, one that is drained (out->drained), or
 * none. */
static enum wait_kind device_kind(const struct sched *s, const struct sched_set *set, struct sched_wait *out)
{
    bool sick = false;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (!health_is_up(&k->health) || !pack_fits(s, w, set) || pack_shuns(s, w, set))
            continue;
        if (health_is_drained(&k->health))
            out->drained = k;
        else if (!health_is_sick(&k->health))
            return WAIT_TURN;
        else
            sick = true;
    }
    return sick ? WAIT_SICK : out->drained ? WAIT_DRAIN : WAIT_DEVICE;
}

/* Its turn has come on the worker. */
static enum wait_kind room_kind(const struct sched *s, int worker, const struct sched_set *set, struct sched_wait *out)
{
    if (!pack_lacks_memory(s, worker, set))
        return WAIT_ROOM;
    const struct pack_memory m = pack_memory(s, worker, set);
    out->full = &s->workers[worker];
    out->needs = m.needs;
    out->free = m.free;
    return WAIT_MEMORY;
}

/* *out: what belongs to the kind. */
static enum wait_kind kind_of(const struct sched_queue *q, const struct sched_set *set, struct sched_wait *out)
{
    const struct sched *s = q->s;
    if (s->full)
        return WAIT_SPACE;
    if (s->users[set->ensemble->user].over)
        return WAIT_QUOTA;
    if (s->users[set->ensemble->user].running >= s->users[set->ensemble->user].most &&
        !ensemble_is_urgent(set->ensemble))
        return WAIT_LIMIT;
    if (!set->ensemble->prepared)
        return WAIT_INPUT;
    if (set->not_before > q->now)
        return WAIT_PAUSE;
    enum wait_kind kind = device_kind(s, set, out);
    for (int w = 0; w < s->nworkers && kind == WAIT_TURN; w++)
        if (q->turn[w] == set)
            kind = room_kind(s, w, set, out);
    return kind;
}

static void find_turns(struct sched_queue *q)
{
    for (int w = 0; w < q->s->nworkers; w++)
        if (health_is_up(&q->s->workers[w].health))
            q->turn[w] = pack_whose_turn(q->s, w, q->now);
}

void sched_queue_open(struct sched_queue *q, const struct ensemble *e, int64_t now)
{
    const struct sched *s = e->sched;
    *q = (struct sched_queue){.s = s, .ensemble = e, .now = now};
    q->place = xcalloc((size_t)e->nsets, sizeof *q->place);
    if (e->nwaiting)
        find_turns(q);
    find_places(q);
    find_slots(q);
}

void sched_queue_close(struct sched_queue *q)
{
    free(q->place);
    free(q->free_at);
    *q = (struct sched_queue){0};
}

void sched_explain(const struct sched_queue *q, const struct sched_replica *r, struct sched_wait *out)
{
    const struct sched_set *set = r->set;
    *out = (struct sched_wait){.kind = WAIT_NOT, .expected = -1};
    if (r->sm.state != REPLICA_QUEUED || !ensemble_wants(r->ensemble) || q->s->draining)
        return;
    out->kind = kind_of(q, set, out);
    if (out->kind == WAIT_PAUSE)
        out->expected = set->not_before - q->now;
    int place = q->place[set - r->ensemble->sets];
    if ((out->kind != WAIT_TURN && out->kind != WAIT_ROOM) || !place)
        return;
    out->place = place;
    out->expected = expected(q, place);
}

void sched_count_waiting(const struct sched *s, int64_t now, int64_t counts[WAIT_KINDS])
{
    struct sched_queue q = {.s = s, .now = now};
    memset(counts, 0, WAIT_KINDS * sizeof *counts);
    find_turns(&q);
    for (int i = 0; i < s->nactive && !s->draining; i++) {
        const struct ensemble *e = s->active[i];
        for (int k = 0; k < e->nsets && e->nwaiting && ensemble_wants(e); k++)
            if (set_waits(&e->sets[k])) {
                struct sched_wait what = {0};
                counts[kind_of(&q, &e->sets[k], &what)] += e->sets[k].nqueued;
            }
    }
}

const char *wait_name(enum wait_kind kind)
{
    static const char *const names[WAIT_KINDS] = {
        [WAIT_NOT] = "nothing",   [WAIT_INPUT] = "input", [WAIT_SPACE] = "disk",    [WAIT_QUOTA] = "quota",
        [WAIT_LIMIT] = "limit",   [WAIT_PAUSE] = "pause", [WAIT_DEVICE] = "device", [WAIT_SICK] = "sick",
        [WAIT_DRAIN] = "drained", [WAIT_ROOM] = "room",   [WAIT_MEMORY] = "memory", [WAIT_TURN] = "turn"};
    return names[kind];
}

const char *wait_text(enum wait_kind kind)
{
    switch (kind) {
    case WAIT_NOT:
    case WAIT_KINDS:
        return NULL;
    case WAIT_INPUT:
        return "its input folder";
    case WAIT_SPACE:
        return "space on the disk";
    case WAIT_QUOTA:
        return "space in its owner's quota (shoal du, shoal rm)";
    case WAIT_LIMIT:
        return "its owner's limit of replicas that run at once";
    case WAIT_PAUSE:
        return "the pause after a failure";
    case WAIT_DEVICE:
        return "a device that it can run on";
    case WAIT_SICK:
        return "a device: every device it could use is put aside after crashes";
    case WAIT_DRAIN:
        return "an administrator to put a device back into use";
    case WAIT_ROOM:
        return "others to make room";
    case WAIT_MEMORY:
        return "memory on a device";
    case WAIT_TURN:
        return "its turn";
    }
    return NULL;
}
