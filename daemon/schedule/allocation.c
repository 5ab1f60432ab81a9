/* SPDX-License-Identifier: Apache-2.0
 *
 * Production handed out window by window, where the spec says allocate: adaptive. What windows need the estimator says,
 * by engine/base/statistics/allocate.h; here are the rounds.
 *
 * 1. Every replica first gets a floor, a quarter of an even share. Then production goes in rounds: when all replicas
 * have reached their targets the ensemble is looked at, all of its samples, and the next part of the whole is handed
 * out.
 * 2. What is handed out is the replicas' targets: they are committed, and a service that starts looks again where all
 * are reached. So a round is a function of the samples alone, however often anything was interrupted, and so are all
 * bytes.
 * 3. Replicas of one window have one target.
 * 4. A look that comes to nothing hands out alike: the ensemble gets its steps in any case.
 * 5. A window that is added later (add_windows.c) brings an even share of its own, and begins with the floor as the
 *    others did.
 *
 * Walkers whose switches may become longer (switch.longest) have two rounds. Their first targets are those of the first
 * switches; once all have reached them, the ensemble is looked at for how long later switches are to be, and the whole
 * of production is handed out. From then on there is nothing that waits, and no share.
 */
#include <math.h>
#include <stdlib.h>

#include "daemon/schedule/internal.h"
#include "engine/base/buf.h"

/* Of the whole, what has been handed out after each look. */
static const double parts[] = {0.5, 1};
enum { PARTS = sizeof parts / sizeof *parts };

/* Production of the replicas that have not failed: as handed out, and as even sampling has it. */
struct step_sums {
    int64_t handed, whole;
};

static struct step_sums sums_of(const struct ensemble *e)
{
    struct step_sums s = {0};
    for (int i = 0; i < e->nreplicas; i++) {
        const struct sched_replica *r = &e->replicas[i];
        if (r->sm.state == REPLICA_FAILED)
            continue;
        s.handed += r->steps - e->allocation.before;
        s.whole += e->allocation.share;
    }
    return s;
}

int64_t allocation_share(const struct ensemble *e)
{
    int64_t sum = 0;
    for (int i = 0; i < e->nreplicas; i++)
        sum += e->replicas[i].steps - e->allocation.before;
    return ensemble_stopping(e) ? sum / e->nreplicas : e->allocation.share;
}

int64_t allocation_first(const struct ensemble *e)
{
    const struct allocation *a = &e->allocation;
    int64_t first = a->before + allocate_first(a->share, a->every);
    return e->stop.error > 0 && first < e->stop.after ? e->stop.after : first;
}

/* Whether so much is left of a budget that a window can get something of it. */
static bool is_left(const struct ensemble *e, int64_t budget, int64_t handed)
{
    return budget - handed >= e->allocation.every * e->repeats;
}

bool allocation_open(const struct ensemble *e)
{
    struct step_sums s = sums_of(e);
    return e->allocation.share && !ensemble_stopping(e) && is_left(e, s.whole, s.handed);
}

/* What is to have been handed out after the next look. */
static int64_t next_budget(const struct ensemble *e)
{
    struct step_sums s = sums_of(e);
    for (int i = 0; i < PARTS - 1; i++) {
        int64_t budget = (int64_t)(parts[i] * (double)s.whole);
        if (is_left(e, budget, s.handed))
            return budget;
    }
    return s.whole;
}

int64_t sched_production(const struct ensemble *e, struct allocate_window *w)
{
    for (int k = 0; k < e->windows; k++)
        w[k] = (struct allocate_window){0};
    for (int i = 0; i < e->nreplicas; i++) {
        const struct sched_replica *r = &e->replicas[i];
        struct allocate_window *of = &w[r->window];
        int64_t steps = r->steps - e->allocation.before;
        if (r->sm.state == REPLICA_FAILED)
            continue;
        of->replicas++;
        of->steps = steps > of->steps ? steps : of->steps;
    }
    return next_budget(e);
}

/* What the look says, where that can be done; else alike. Whether it could. */
static bool find_targets(const struct ensemble *e, const int64_t *targets, struct allocate_window *w)
{
    int64_t budget = sched_production(e, w), sum = 0;
    bool good = targets != NULL;
    for (int k = 0; k < e->windows && good; k++) {
        sum += targets[k] * w[k].replicas;
        good = !w[k].replicas || (targets[k] >= w[k].steps && sum <= budget);
    }
    good = good && !is_left(e, budget, sum);
    for (int k = 0; k < e->windows && good; k++)
        w[k].target = targets[k];
    if (!good)
        allocate(w, e->windows, e->allocation.share, budget, e->allocation.every, NULL, NULL);
    return good;
}

static void note_shares(struct step *st, struct ensemble *e, const struct allocate_window *w, const char *trouble)
{
    double share = (double)e->allocation.share, least = INFINITY, most = 0;
    struct step_sums s = sums_of(e);
    for (int k = 0; k < e->windows; k++) {
        if (!w[k].replicas)
            continue;
        least = fmin(least, (double)w[k].target);
        most = fmax(most, (double)w[k].target);
    }
    note_ensemble(st, e, "allocate", "%.0f %% of production handed out: windows get %.2f to %.2f of an even share%s%s",
                  100 * (double)s.handed / (double)s.whole, least / share, most / share,
                  trouble ? "; what comes goes to all alike, for nobody knows what they need: " : "",
                  trouble ? trouble : "");
}

/* Its target, where that is a later one: so many steps of production. */
static void give_target(struct step *st, struct sched_replica *r, int64_t production)
{
    struct ensemble *e = r->ensemble;
    const int64_t target = e->allocation.before + production;
    if (target <= r->steps)
        return;
    r->steps = target;
    decide(st, (struct decision){.kind = DECIDE_TARGET, .ensemble = e, .replica = r, .worker = -1});
}

static void note_length(struct step *st, struct ensemble *e, const struct sched_event *ev)
{
    if (e->doublings)
        note_ensemble(st, e, "switch", "switches are %d times as long from now on: that cuts the error more",
                      1 << e->doublings);
    else if (ev->doublings < 0)
        note_ensemble(st, e, "switch",
                      "switches stay as long as they are, for nobody knows whether longer ones would cut the error "
                      "more: %s",
                      ev->message);
    else
        note_ensemble(st, e, "switch", "switches stay as long as they are: longer ones would not cut the error more");
}

/* Their production, and how long the switches are that come with it: also of a walker that has failed, which may be
 * retried when nothing is handed out any more. */
static void hand_out_to_walkers(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    e->doublings = ev->doublings > 0 ? ev->doublings : 0;
    for (int i = 0; i < e->nreplicas; i++)
        give_target(st, &e->replicas[i], e->allocation.share);
    e->allocation.share = 0;
    decide(st, (struct decision){.kind = DECIDE_REASON, .ensemble = e, .worker = -1});
    note_length(st, e, ev);
}

static void hand_out_to_windows(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    struct allocate_window *w = xcalloc((size_t)e->windows, sizeof *w);
    bool good = find_targets(e, ev->targets, w);
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].sm.state != REPLICA_FAILED)
            give_target(st, &e->replicas[i], w[e->replicas[i].window].target);
    note_shares(st, e, w, good ? NULL : ev->message);
    free(w);
}

void hand_out_production(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    if (e->walkers)
        hand_out_to_walkers(st, ev);
    else
        hand_out_to_windows(st, ev);
    for (int i = 0; i < e->nsets; i++)
        reopen_set(st, &e->sets[i]);
}

void look_at_samples(struct step *st, struct ensemble *e)
{
    if (e->looking)
        return;
    e->looking = true;
    e->finish_after = 0;
    decide(st, (struct decision){.kind = DECIDE_LOOK, .ensemble = e, .worker = -1});
}
