/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of one ensemble take turns, where there are fewer slots than windows. Pure functions of the scheduler's
 * state.
 *
 * 1. The window that has made the smallest share of its production has the turn. Where production is handed out by
 * need (allocation.c) it is the window with most steps left, because the ensemble waits for the last.
 * 2. The turn of a window begins with its first step of production: equilibration is not interrupted for another window
 * of the ensemble. So every window has samples after one turn of each.
 * 3. A turn lasts until the window has made a twentieth of its production, but no longer than a slice. Windows of an
 * ensemble that may end before its time share one slice. In any case a turn lasts a twelfth of a slice and fifty times
 * as long as the start took, up to a slice: starts cost two percent of the time.
 */
#include "daemon/schedule/internal.h"

#define TURN_SHARE 0.05 /* of a window's production */
#define TURN_PARTS 12   /* of a slice */
#define TURN_STARTS 50

double turn_share(const struct sched_set *set)
{
    const int64_t before = set->ensemble->allocation.before;
    double made = 0, all = 0;
    if (set->replicas->origin >= 0 && !set->replicas->step)
        return -1; /* its samples of before the last ladder count once it has taken them up, which is done at once */
    for (int i = 0; i < set->nreplicas; i++) {
        const struct sched_replica *r = &set->replicas[i];
        made += r->step > before ? (double)(r->step - before) : 0;
        all += r->steps > before ? (double)(r->steps - before) : 0;
    }
    return all > 0 ? made / all : 0;
}

double turn_behind(const struct sched_set *a, const struct sched_set *b)
{
    if (a->ensemble->allocation.share)
        return (double)(set_left(a) - set_left(b));
    return turn_share(b) - turn_share(a);
}

static bool produces(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].held && set->replicas[i].step < set->ensemble->allocation.before)
            return false;
    return true;
}

void turn_begin(struct sched_set *set, int64_t now)
{
    if (set->turning || !produces(set))
        return;
    set->turning = true;
    set->turn_began = now;
    set->turn_from = turn_share(set);
}

/* The shortest turn, ms. */
static int64_t least(const struct sched *s, const struct sched_set *set)
{
    int64_t part = s->slice_ms / TURN_PARTS, starts = TURN_STARTS * set->start_ms, ms = part > starts ? part : starts;
    return (set->start_ms && ms < s->slice_ms ? ms : s->slice_ms) << set->fruitless;
}

/* The longest turn, ms. */
static int64_t most(const struct sched *s, const struct sched_set *set)
{
    const struct ensemble *e = set->ensemble;
    int64_t parts = e->stop.error > 0 && !e->stopped ? 1 + e->nwaiting : 1, shortest = least(s, set);
    int64_t ms = s->slice_ms / parts << set->fruitless;
    return ms > shortest ? ms : shortest;
}

bool turn_ended(const struct sched *s, const struct sched_set *set, int64_t now)
{
    int64_t ran = now - set->turn_began;
    if (!set->turning || ran < least(s, set))
        return false;
    return ran >= most(s, set) || turn_share(set) - set->turn_from >= TURN_SHARE;
}

int64_t turn_wake(const struct sched *s, const struct sched_set *set, int64_t now)
{
    int64_t first = set->turn_began + least(s, set), last = set->turn_began + most(s, set);
    if (!set->turning || now >= last)
        return INT64_MAX;
    return now < first ? first : last;
}

int64_t turn_length(const struct sched *s, const struct sched_set *set, int64_t now)
{
    double made = turn_share(set) - set->turn_from;
    if (!set->turning || made <= 0)
        return most(s, set);
    double ms = TURN_SHARE / made * (double)(now - set->turn_began);
    ms = ms > (double)least(s, set) ? ms : (double)least(s, set);
    return ms < (double)most(s, set) ? (int64_t)ms : most(s, set);
}
