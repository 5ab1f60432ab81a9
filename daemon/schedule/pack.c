/* SPDX-License-Identifier: Apache-2.0
 *
 * Which set gets free slots. Pure functions of the scheduler's state; see the rules in sched.h.
 *
 * A set that has crashed workers is suspect: it goes first among its ensemble's, but only onto an empty worker. If the
 * next set in turn does not fit on a worker, nothing else is started there and running sets leave: for a suspect set at
 * their next checkpoint, else at the end of their slices. A suspect set runs alone until its first checkpoint; then
 * others may share the worker again.
 *
 * So it is with memory: what is predicted for all that runs on a device (memory/device_sizes.h) stays within what it
 * has, and the set whose turn it is waits until others have left.
 */
#include <stddef.h>
#include <string.h>

#include "daemon/schedule/internal.h"

static bool is_suspect(const struct sched_set *set)
{
    return set->crashes >= SCHED_SUSPECT;
}

/* Whether a set that no worker has slots enough for would have more of them elsewhere. */
static bool has_larger(const struct sched *s, int worker, const struct sched_set *set)
{
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (health_counts(&k->health) && k->slots > s->workers[worker].slots &&
            (!set->model || !strcmp(set->model, k->model)))
            return true;
    }
    return false;
}

/* A set goes on where its model of device is, for its bits depend on it, unless no worker has that model. */
static bool serves_model(const struct sched *s, int worker, const struct sched_set *set)
{
    if (!set->model || strcmp(set->model, s->workers[worker].model) == 0)
        return true;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (health_counts(&k->health) && (k->health.life.state == LIFE_NEW || strcmp(set->model, k->model) == 0))
            return false;
    }
    return true;
}

/* ---- memory ---- */

static const struct device_size *size_on(const struct sched_worker *w, const struct ensemble *e)
{
    return device_sizes_on(&e->sizes, w->device, w->limits);
}

/* Replicas of the ensemble in slots of the worker, in sets from the first-th on. */
static int held_of(const struct sched_worker *w, const struct ensemble *e, int first)
{
    int n = 0;
    for (int i = first; i < w->nsets; i++)
        for (int k = 0; k < w->sets[i]->nreplicas && w->sets[i]->ensemble == e; k++)
            n += w->sets[i]->replicas[k].held;
    return n;
}

static bool is_first_of_ensemble(const struct sched_worker *w, int i)
{
    for (int k = 0; k < i; k++)
        if (w->sets[k]->ensemble == w->sets[i]->ensemble)
            return false;
    return true;
}

/* Bytes that all that runs there is predicted to take. */
static int64_t taken(const struct sched_worker *w)
{
    int64_t bytes = 0;
    for (int i = 0; i < w->nsets; i++)
        if (is_first_of_ensemble(w, i))
            bytes += device_size_taken(size_on(w, w->sets[i]->ensemble), &w->room, held_of(w, w->sets[i]->ensemble, i));
    return bytes;
}

static int64_t alone_in(const struct sched_worker *w, const struct room *room, const struct sched_set *set)
{
    return device_size_taken(size_on(w, set->ensemble), room, set_open(set));
}

int64_t pack_alone(const struct sched *s, int worker, const struct sched_set *set)
{
    struct room whole = s->workers[worker].room;
    whole.cards = whole.joined;
    return alone_in(&s->workers[worker], &whole, set);
}

struct pack_memory pack_memory(const struct sched *s, int worker, const struct sched_set *set)
{
    const struct sched_worker *w = &s->workers[worker];
    const struct device_size *size = size_on(w, set->ensemble);
    const int held = held_of(w, set->ensemble, 0);
    const int64_t left = room_usable(w->room.free) - taken(w);
    return (struct pack_memory){.needs = device_size_taken(size, &w->room, held + set_open(set)) -
                                         device_size_taken(size, &w->room, held),
                                .free = left > 0 ? left : 0};
}

/* Whether it holds the set when nothing else is there, on the cards that are open; true where that is not known. */
static bool holds(const struct sched *s, int worker, const struct sched_set *set)
{
    const struct sched_worker *w = &s->workers[worker];
    return alone_in(w, &w->room, set) <= room_usable(w->room.total);
}

/* Cards that are not open may be another time. */
bool pack_too_large(const struct sched *s, const struct sched_set *set)
{
    for (int w = 0; w < s->nworkers; w++)
        if (pack_alone(s, w, set) <= room_usable(s->workers[w].room.total))
            return false;
    return true;
}

/* ---- which worker ---- */

enum pack_refusal pack_refusal(const struct sched *s, int worker, const struct sched_set *set)
{
    if (set_open(set) > s->workers[worker].slots && has_larger(s, worker, set))
        return PACK_SLOTS;
    if (!holds(s, worker, set))
        return PACK_MEMORY;
    return serves_model(s, worker, set) ? PACK_FITS : PACK_MODEL;
}

/* Whether the set stays on the device that its ensemble was moved to: while that can be counted on, has not crashed
 * with the set and could take it. */
static bool is_at_home(const struct sched *s, const struct sched_set *set)
{
    const int home = set->ensemble->home;
    if (home < 0 || set->crashed >> home & 1)
        return false;
    const struct device_health *h = &s->workers[home].health;
    return health_counts(h) && !health_is_sick(h) &&
           (h->life.state == LIFE_NEW || pack_refusal(s, home, set) == PACK_FITS);
}

bool pack_fits(const struct sched *s, int worker, const struct sched_set *set)
{
    return pack_refusal(s, worker, set) == PACK_FITS && (set->ensemble->home == worker || !is_at_home(s, set));
}

/* One that has not said hello yet may turn out to fit. */
bool pack_has_other(const struct sched *s, const struct sched_set *set, uint64_t tried)
{
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        if (!(tried >> w & 1) && health_counts(&k->health) &&
            (k->health.life.state == LIFE_NEW || pack_fits(s, w, set)))
            return true;
    }
    return false;
}

/* Where it crashed it is not tried again while there is another device; alone least of all. */
bool pack_shuns(const struct sched *s, int worker, const struct sched_set *set)
{
    uint64_t bit = UINT64_C(1) << worker;
    if (set->crashed & bit && pack_has_other(s, set, set->crashed))
        return true;
    return set->alone & bit && pack_has_other(s, set, set->alone);
}

int64_t pack_slice(const struct sched *s, const struct sched_set *set)
{
    return s->slice_ms << set->fruitless;
}

bool pack_before(const struct sched_set *a, const struct sched_set *b)
{
    double by = turn_behind(a, b);
    return by > 0 || (by == 0 && a < b);
}

/* Whether none of its ensemble can come before it but one of earlier windows. */
static bool is_last(const struct sched_set *set)
{
    const struct ensemble *e = set->ensemble;
    return !e->crashed && !e->allocation.share && e->ladder == 1 && turn_share(set) <= 0;
}

static struct sched_set *first_waiting(const struct sched *s, struct ensemble *e, int worker, int64_t now)
{
    struct sched_set *first = NULL;
    for (int i = 0; i < e->nsets && !(first && is_last(first)); i++) {
        struct sched_set *set = &e->sets[i];
        if (!set_waits(set) || set->not_before > now || !pack_fits(s, worker, set) || pack_shuns(s, worker, set))
            continue;
        if (is_suspect(set))
            return set;
        if (!first || pack_before(set, first))
            first = set;
    }
    return first;
}

/* Who has less, by what runs now, then by what was used. */
static int less(int64_t running_a, int64_t usage_a, int64_t running_b, int64_t usage_b)
{
    if (running_a != running_b)
        return running_a < running_b ? 1 : -1;
    return usage_a == usage_b ? 0 : usage_a < usage_b ? 1 : -1;
}

static bool comes_before(const struct sched *s, const struct ensemble *a, const struct ensemble *b)
{
    const struct sched_user *ua = &s->users[a->user], *ub = &s->users[b->user];
    if (ensemble_is_urgent(a) != ensemble_is_urgent(b))
        return ensemble_is_urgent(a);
    if (ua == ub && a->priority != b->priority)
        return a->priority > b->priority;
    if (ua == ub)
        return less(a->nrunning, a->usage, b->nrunning, b->usage) > 0;
    if (user_comes(s, a) != user_comes(s, b))
        return user_comes(s, a);
    double by = user_claim(s, ub, ub->running) - user_claim(s, ua, ua->running);
    return by > 0 || (by == 0 && ua < ub);
}

/* Whether sets of it may be started anywhere, once its user may have more slots. */
static bool may_start(const struct sched *s, const struct ensemble *e)
{
    return e->nwaiting && e->prepared && ensemble_wants(e) && !s->users[e->user].over;
}

/* Whether its user has as many replicas running as they may. What is urgent is not held to that. */
static bool has_all(const struct sched *s, const struct ensemble *e)
{
    const struct sched_user *u = &s->users[e->user];
    return u->running >= u->most && !ensemble_is_urgent(e);
}

/* Among those of one user, whether or not they may have more slots; -1: of all who may. */
static struct sched_set *whose_turn(const struct sched *s, int user, int worker, int64_t now)
{
    struct sched_set *best = NULL;
    for (int i = 0; i < s->nactive; i++) {
        struct ensemble *e = s->active[i];
        if ((user >= 0 ? e->user != user : has_all(s, e)) || !may_start(s, e) ||
            (best && !comes_before(s, e, best->ensemble)))
            continue;
        struct sched_set *set = first_waiting(s, e, worker, now);
        if (set)
            best = set;
    }
    return best;
}

struct sched_set *pack_whose_turn(const struct sched *s, int worker, int64_t now)
{
    return whose_turn(s, -1, worker, now);
}

static int free_slots(const struct sched_worker *w)
{
    return w->slots - w->nrunning;
}

static bool has_slots(const struct sched_worker *w, const struct sched_set *set)
{
    bool alone = is_suspect(set) || set_open(set) > w->slots;
    return alone ? w->nsets == 0 : set_open(set) <= free_slots(w);
}

static bool lacks_memory(const struct sched *s, int worker, const struct sched_set *set)
{
    const struct pack_memory m = pack_memory(s, worker, set);
    return m.needs > m.free;
}

bool pack_lacks_memory(const struct sched *s, int worker, const struct sched_set *set)
{
    return has_slots(&s->workers[worker], set) && lacks_memory(s, worker, set);
}

/* Whether there are slots and memory for it now. */
static bool has_room(const struct sched *s, int worker, const struct sched_set *set)
{
    return has_slots(&s->workers[worker], set) && !lacks_memory(s, worker, set);
}

/* A suspect that runs keeps its worker to itself, and so does whatever is tried on a sick device. */
static bool takes_nothing(const struct sched_worker *w, int64_t now)
{
    if (w->health.life.state != LIFE_UP || w->nrunning >= w->slots || health_is_drained(&w->health))
        return true;
    if (health_is_sick(&w->health) && (w->nsets || w->health.probe_at > now))
        return true;
    return w->nsets == 1 && is_suspect(w->sets[0]);
}

struct sched_set *pack_next(const struct sched *s, int worker, int64_t now)
{
    const struct sched_worker *w = &s->workers[worker];
    if (s->draining || s->full || takes_nothing(w, now))
        return NULL;
    struct sched_set *set = pack_whose_turn(s, worker, now);
    return set && has_room(s, worker, set) ? set : NULL;
}

/* Whether sets of another ensemble wait for slots. */
static bool others_wait(const struct sched *s, const struct ensemble *e)
{
    for (int i = 0; i < s->nactive; i++)
        if (s->active[i] != e && may_start(s, s->active[i]) && !has_all(s, s->active[i]))
            return true;
    return false;
}

/* What speaks for a worker that could start a set of the ensemble. Its model is there: no memory and no time is spent
 * on another one. But no device stays idle for that while nobody else waits for it. */
static int merit(const struct sched *s, int worker, const struct ensemble *e)
{
    if (health_is_sick(&s->workers[worker].health))
        return 0;
    if (!s->workers[worker].nsets && !others_wait(s, e))
        return 2;
    return e->modelled >> worker & 1;
}

int pack_place(const struct sched *s, int worker, struct sched_set *set, int64_t now)
{
    int best = worker;
    for (int w = 0; w < s->nworkers; w++) {
        const int more = merit(s, w, set->ensemble) - merit(s, best, set->ensemble);
        const bool freer = free_slots(&s->workers[w]) > free_slots(&s->workers[best]);
        if ((more > 0 || (more == 0 && freer)) && pack_next(s, w, now) == set)
            best = w;
    }
    return best;
}

/* Whether `next` would have less than the one that runs even after that has left. */
static bool deserves(const struct sched *s, const struct sched_set *next_set, const struct sched_set *set)
{
    const struct ensemble *next = next_set->ensemble, *runs = set->ensemble;
    int slots = set_open(set);
    if (next == runs)
        return false; /* its windows take turns (pack_gives_way) */
    const struct sched_user *un = &s->users[next->user], *ur = &s->users[runs->user];
    if (ensemble_is_urgent(next) != ensemble_is_urgent(runs))
        return ensemble_is_urgent(next);
    if (un != ur)
        return user_claim(s, un, un->running) < user_claim(s, ur, ur->running - slots);
    if (next->priority != runs->priority)
        return next->priority > runs->priority;
    return less(next->nrunning, next->usage, runs->nrunning - slots, runs->usage) > 0;
}

const struct sched_set *pack_claimant(const struct sched *s, int worker, int64_t now)
{
    const struct sched_worker *w = &s->workers[worker];
    if (s->draining || s->full || health_is_drained(&w->health) ||
        (health_is_sick(&w->health) && w->health.probe_at > now))
        return NULL;
    return pack_whose_turn(s, worker, now);
}

/* Whether the slot would go to another ensemble of the same user, since the user whose turn it is has no less. Without
 * this, users with equal parts would keep what runs until it ends. */
static bool turns_over(const struct sched *s, const struct sched_set *set, const struct sched_set *next, int64_t now)
{
    int user = set->ensemble->user;
    if (next->ensemble->user == user)
        return false;
    const struct sched_set *own = whose_turn(s, user, set->worker, now);
    return own && deserves(s, own, set);
}

bool pack_passes_on(const struct sched *s, const struct sched_set *set, int64_t now)
{
    const struct sched_worker *w = &s->workers[set->worker];
    if (s->draining || s->full || health_is_sick(&w->health) || !has_all(s, set->ensemble))
        return false;
    const struct sched_set *own = whose_turn(s, set->ensemble->user, set->worker, now);
    return own && own->ensemble != set->ensemble && deserves(s, own, set);
}

bool pack_should_yield(const struct sched *s, const struct sched_set *set, const struct sched_set *next, bool sliced,
                       int64_t now)
{
    if (!next)
        return false;
    if (ensemble_is_urgent(next->ensemble) != ensemble_is_urgent(set->ensemble))
        return ensemble_is_urgent(next->ensemble) && !has_room(s, set->worker, next);
    if (is_suspect(next))
        return !has_room(s, set->worker, next);
    if (sliced)
        return !has_room(s, set->worker, next) && ((set_open(next) > 1 && next->ensemble != set->ensemble) ||
                                                   deserves(s, next, set) || turns_over(s, set, next, now));
    const struct sched_user *un = &s->users[next->ensemble->user], *ur = &s->users[set->ensemble->user];
    return un != ur && user_part(un, un->running + 1) <= user_part(ur, ur->running - 1);
}

/* Whether there were slots for `next` if the set had left. One leaves after the other: what one gives way to is found
 * anew. */
static bool has_room_after(const struct sched_worker *w, const struct sched_set *set, const struct sched_set *next)
{
    for (int i = 0; i < w->nsets; i++)
        if (w->sets[i]->yielding && w->sets[i]->ensemble == set->ensemble)
            return false;
    if (set_open(next) > w->slots)
        return w->nsets == 1;
    return set_open(next) <= w->slots - w->nrunning + set_open(set);
}

bool pack_gives_way(const struct sched *s, const struct sched_set *set, int64_t now)
{
    const struct sched_worker *w = &s->workers[set->worker];
    if (s->draining || s->full || health_is_sick(&w->health) || !may_start(s, set->ensemble) ||
        !turn_ended(s, set, now))
        return false;
    const struct sched_set *next = first_waiting(s, set->ensemble, set->worker, now);
    return next && !is_suspect(next) && turn_behind(next, set) > 0 && has_room_after(w, set, next);
}

int pack_worker(const struct sched *s, uint64_t skip)
{
    int best = -1, best_free = 0;
    bool best_sick = true;
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        int free = free_slots(k);
        if (skip >> w & 1 || !health_is_up(&k->health) || free < 1)
            continue;
        if (best >= 0 && (health_is_sick(&k->health) != best_sick ? health_is_sick(&k->health) : free <= best_free))
            continue;
        best = w;
        best_free = free;
        best_sick = health_is_sick(&k->health);
    }
    return best;
}
