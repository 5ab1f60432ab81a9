/* SPDX-License-Identifier: Apache-2.0
 *
 * What users and their ensembles have used: slots x time, and of devices their parts of the time and the steps that
 * came of it.
 *
 * A user's turn is measured by `usage`, which grows by the slots they have over the weight that counts, so that who
 * gets more by weight falls behind no sooner. Who comes back from being idle does not catch up: they begin where the
 * least served of the others is, and nobody waits longer for it. Nor does anybody fall far behind who has no use for
 * more slots. So usage says who is next, and no more.
 *
 * What was used before is the history, which is halved every half-life and outlives the service. The weight that counts
 * is the user's weight times the part of the slots that it would have given them over the part that they had, of those
 * who want slots now; a factor of FACTOR at most, so that nobody gets nothing for what they used last week. In the long
 * run the parts are as the weights.
 */
#include "daemon/schedule/internal.h"

#include <math.h>

#include "engine/base/buf.h"

#define FACTOR 4.0
/* Of a half-life of all slots, as if used by weight before the history begins: minutes of it mean nothing. */
#define BEFORE 0.02
/* In slices of a slot: how far the one who is furthest on may be ahead, as after a turn of their own; how far somebody
 * may be behind that; and what somebody who comes back may owe. */
#define AHEAD 1.25
#define BEHIND 0.25
#define DEBT 2.0

int user_index(struct sched *s, uint32_t uid)
{
    for (int i = 0; i < s->nusers; i++)
        if (s->users[i].uid == uid)
            return i;
    if (s->nusers == s->users_cap) {
        s->users_cap = s->users_cap ? 2 * s->users_cap : 8;
        s->users = xrealloc(s->users, (size_t)s->users_cap, sizeof *s->users);
    }
    s->users[s->nusers] =
        (struct sched_user){.uid = uid, .most = INT64_MAX, .weight = 1, .counts = 1, .usage = s->usage};
    return s->nusers++;
}

/* ---- the weight that counts ---- */

static double all_slots(const struct sched *s)
{
    double n = 0;
    for (int w = 0; w < s->nworkers; w++)
        n += health_is_up(&s->workers[w].health) ? s->workers[w].slots : 0;
    return n;
}

static void weigh(struct sched *s)
{
    double weights = 0, used = BEFORE * all_slots(s) * (double)s->half_life_ms + 1;
    const double before = used;
    for (int i = 0; i < s->nusers; i++)
        if (s->users[i].wanting) {
            weights += s->users[i].weight;
            used += s->users[i].history;
        }
    for (int i = 0; i < s->nusers; i++) {
        struct sched_user *u = &s->users[i];
        double part = u->wanting ? u->weight / weights : 0;
        double factor = u->wanting ? part * used / (u->history + part * before) : 1;
        u->counts = u->weight * fmin(fmax(factor, 1 / FACTOR), FACTOR);
    }
}

double user_claim(const struct sched *s, const struct sched_user *u, int64_t running)
{
    return u->usage + (double)running * (double)s->slice_ms / u->counts;
}

bool user_comes(const struct sched *s, const struct ensemble *e)
{
    const struct sched_user *u = &s->users[e->user];
    return u->comes && !u->running;
}

bool users_come(const struct sched *s)
{
    for (int i = 0; i < s->nusers; i++)
        if (s->users[i].comes && s->users[i].wanting && !s->users[i].running)
            return true;
    return false;
}

double user_part(const struct sched_user *u, int64_t running)
{
    return (double)running / u->counts;
}

/* ---- usage ---- */

static double slices(const struct sched *s, const struct sched_user *u, double n)
{
    return n * (double)s->slice_ms / u->counts;
}

static bool competes(const struct sched_user *u)
{
    return u->wanting && !u->over;
}

/* Where the least served is now, and nobody is far behind the one who is furthest on. */
static void level(struct sched *s)
{
    const struct sched_user *first = NULL;
    double least = INFINITY;
    for (int i = 0; i < s->nusers; i++) {
        const struct sched_user *u = &s->users[i];
        if (u->running && competes(u) && (!first || u->usage > first->usage))
            first = u;
    }
    for (int i = 0; i < s->nusers; i++) {
        struct sched_user *u = &s->users[i];
        if (first && competes(u))
            u->usage = fmax(u->usage, first->usage - slices(s, first, AHEAD) - slices(s, u, BEHIND));
        if (competes(u))
            least = fmin(least, u->usage);
    }
    if (least < INFINITY)
        s->usage = fmax(s->usage, least);
}

static void come(const struct sched *s, struct sched_user *u)
{
    u->comes = u->usage <= s->usage;
    u->usage = fmin(fmax(u->usage, s->usage), s->usage + slices(s, u, DEBT));
}

static int64_t least_of_ensembles(const struct sched *s, const struct ensemble *e)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < s->nactive; i++) {
        const struct ensemble *o = s->active[i];
        if (o != e && o->user == e->user && ensemble_wants(o) && o->usage < least)
            least = o->usage;
    }
    return least;
}

void user_wants(struct sched *s, struct ensemble *e, bool wants)
{
    struct sched_user *u = &s->users[e->user];
    if (wants) {
        if (!u->wanting)
            come(s, u);
        int64_t least = least_of_ensembles(s, e);
        if (least != INT64_MAX && e->usage < least)
            e->usage = least;
    }
    u->wanting += wants ? 1 : -1;
    weigh(s);
}

void user_over(struct sched *s, int user, bool over)
{
    struct sched_user *u = &s->users[user];
    if (u->over && !over)
        come(s, u);
    u->over = over;
}

void sched_remember(struct sched *s, uint32_t uid, double history, int64_t ago)
{
    int user = user_index(s, uid);
    s->users[user].history = history * exp2(-(double)ago / (double)s->half_life_ms);
}

void account(struct sched *s, int64_t now)
{
    int64_t passed = now - s->accounted;
    s->accounted = now;
    if (passed <= 0)
        return;
    weigh(s);
    for (int w = 0; w < s->nworkers; w++)
        for (int i = 0; i < s->workers[w].nsets; i++) {
            struct sched_set *set = s->workers[w].sets[i];
            int held = 0;
            for (int k = 0; k < set->nreplicas; k++)
                held += set->replicas[k].held;
            const double part = held ? (double)(held * passed) / s->workers[w].nrunning : 0;
            const double device_ms = part * room_cards(&s->workers[w].room); /* a set is spread over all cards */
            set->ensemble->usage += held * passed;
            set->ensemble->device_ms += device_ms;
            set->device_ms += device_ms;
            set->unmetered_ms += part;
        }
    const double kept = exp2(-(double)passed / (double)s->half_life_ms);
    for (int i = 0; i < s->nusers; i++) {
        struct sched_user *u = &s->users[i];
        double used = (double)u->running * (double)passed;
        u->history = u->history * kept + used;
        u->unsaved |= used > 0;
        u->usage += used / u->counts;
    }
    level(s);
}

void claim_energy(struct sched_worker *w, struct sched_set *set)
{
    energy_claim(&w->energy, set->ensemble, set->unmetered_ms);
    set->unmetered_ms = 0;
}

/* Timesteps of switches that came with what is taken as used, for each step of it. */
static double switching_share(const struct sched_replica *r)
{
    const struct ensemble *e = r->ensemble;
    const int64_t from = r->used_step > e->allocation.before ? r->used_step : e->allocation.before;
    const int64_t produced = r->saved_step > from ? r->saved_step - from : 0;
    return ldexp(e->switching, e->doublings) * (double)produced / (double)(r->saved_step - r->used_step);
}

struct sched_use sched_take_use(struct sched_set *set)
{
    struct sched_use use = {.device_ms = set->device_ms};
    set->device_ms = 0;
    for (int i = 0; i < set->nreplicas; i++) {
        struct sched_replica *r = &set->replicas[i];
        if (r->saved_step <= r->used_step)
            continue;
        const double all = 1 + switching_share(r);
        use.steps += llrint(all * (double)(r->saved_step - r->used_step));
        use.ps += all * fmax(r->time_ps - r->used_ps, 0);
        r->used_step = r->saved_step;
        r->used_ps = fmax(r->time_ps, r->used_ps);
    }
    return use;
}
