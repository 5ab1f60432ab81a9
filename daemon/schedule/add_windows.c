/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows added to an ensemble that has sampled others: its next revision.
 *
 * 1. Nothing of it may run or be written meanwhile: its folders change their places (service/prepare.c) and its
 *    replicas their windows.
 * 2. Replicas are in the order of the ladder again afterwards. They keep their numbers, and the streams of their random
 * numbers, by which no two windows of an ensemble have ever had the same noise.
 * 3. What a window has sampled is taken up by its replica when it runs: done ones run once more, though they make no
 * step. Until all have done so no more windows are added: an origin is one revision back, not a chain of them.
 * 4. Replicas that exchange windows stay one set. They go on from one step, which all have come to, and the spec says
 * that nobody exchanges before it: until then new windows are alone, and the others wait.
 */
#include <assert.h>
#include <stdlib.h>

#include "daemon/schedule/internal.h"
#include "engine/base/buf.h"

/* By need as far as the others went at first, else as far as the furthest of its repeat. */
static int64_t target_of_new(const struct ensemble *e, int repeat)
{
    int64_t steps = 0;
    if (e->allocation.share)
        return allocation_first(e);
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].repeat == repeat && e->replicas[i].steps > steps)
            steps = e->replicas[i].steps;
    return steps;
}

/* The next number of a stream in a repeat. */
static int next_stream(const struct ensemble *e)
{
    int most = -1;
    for (int i = 0; i < e->nreplicas; i++)
        most = e->replicas[i].stream > most ? e->replicas[i].stream : most;
    return most + 1;
}

/* A replica that was there, in its new place. */
static void move_over(struct sched_replica *to, const struct sched_replica *from)
{
    *to = *from;
    sm_init(&to->sm, &replica_states, to, from->sm.state);
    to->origin = from->saved_step > 0 ? from->window : -1;
    to->step = to->saved_step = 0;
    to->stage = 0;
    to->time_ps = 0;
    to->failed_from = -1;
    to->failed_alike = false;
}

static void make_new(struct ensemble *e, struct sched_replica *r, int repeat, int stream, int64_t number, int64_t steps)
{
    *r = (struct sched_replica){.number = number,
                                .ensemble = e,
                                .repeat = repeat,
                                .stream = stream,
                                .origin = -1,
                                .steps = steps,
                                .failed_from = -1};
    enum replica_state state = waiting_state(e);
    sm_init(&r->sm, &replica_states, r, state);
    r->shown.state = state;
}

/* As ensemble_add_set makes it of n replicas, with what the set was told before. */
static void make_set(struct sched_set *set, struct sched_replica *r, int n)
{
    if (r->set)
        *set = *r->set;
    else
        *set = (struct sched_set){.number = r->number, .ensemble = r->ensemble, .worker = -1};
    assert(set->worker < 0);
    set->nreplicas = n;
    set->replicas = r;
    for (int i = 0; i < n; i++)
        r[i].set = set;
}

void ensemble_add_windows(struct ensemble *e, int windows, const int *origin, int64_t first)
{
    int n = windows * e->repeats, stream = next_stream(e), together = e->sets[0].nreplicas > 1 ? windows : 1;
    struct sched_replica *replicas = xcalloc((size_t)n, sizeof *replicas);
    struct sched_set *sets = xcalloc((size_t)(n / together), sizeof *sets);
    for (int i = 0; i < n; i++) {
        int repeat = i / windows, k = i % windows;
        int before = 0; /* new windows that come before this one */
        for (int j = 0; j < k; j++)
            before += origin[j] < 0;
        if (origin[k] >= 0)
            move_over(&replicas[i], &e->replicas[repeat * e->windows + origin[k]]);
        else
            make_new(e, &replicas[i], repeat, stream + before, first++, target_of_new(e, repeat));
        replicas[i].window = k;
    }
    for (int i = 0; i < n; i += together)
        make_set(&sets[i / together], &replicas[i], together);
    free(e->replicas);
    free(e->sets);
    e->replicas = replicas;
    e->sets = sets;
    e->nreplicas = n;
    e->nsets = n / together;
    e->windows = windows;
    ensemble_count_waiting(e);
    e->live_steps = 0;
    e->stop_held = 0;
}

/* Replicas that exchange windows and are not at one step have not met yet, or their worker died while they made a
 * checkpoint. */
static int check_steps(const struct ensemble *e, struct err *err)
{
    for (int i = 0; i < e->nsets; i++)
        for (int k = 1; k < e->sets[i].nreplicas; k++) {
            const struct sched_replica *r = e->sets[i].replicas;
            if (r[k].saved_step != r[0].saved_step)
                return err_set(err, ERR_CONFLICT,
                               "ensemble %s: windows %d and %d, which exchange replicas, are at steps %lld and %lld: "
                               "go on with it until all have come to their next exchange, then pause it",
                               e->id, r[0].window, r[k].window, (long long)r[0].saved_step, (long long)r[k].saved_step);
        }
    return 0;
}

static int check(const struct ensemble *e, struct err *err)
{
    if (e->pilot)
        return err_set(err, ERR_CONFLICT, "ensemble %s runs the pilot that places its windows: add some when it has",
                       e->id);
    bool busy = e->estimating || e->preparing || e->looking || e->sm.state == ENSEMBLE_FINISHING;
    if (e->sm.state == ENSEMBLE_CANCELLED)
        return err_set(err, ERR_CONFLICT, "ensemble %s is cancelled: it cannot be extended", e->id);
    if (e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING)
        return err_set(err, ERR_CONFLICT, "ensemble %s is %s: pause it, then add windows, then resume it", e->id,
                       sm_name(&e->sm));
    for (int i = 0; i < e->nsets; i++)
        busy |= e->sets[i].worker >= 0;
    if (busy)
        return err_set(err, ERR_BUSY, "ensemble %s is still stopping, or its results are being written: try again",
                       e->id);
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].origin >= 0 && !e->replicas[i].saved_step)
            return err_set(err, ERR_CONFLICT,
                           "ensemble %s: window %d has not taken up yet what it had sampled before revision %d: go on "
                           "with it first",
                           e->id, e->replicas[i].window, e->ladder);
    return check_steps(e, err);
}

int on_add_windows(struct step *st, const struct sched_event *ev, struct err *err)
{
    struct ensemble *e = ev->ensemble;
    if (check(e, err) || ev->dry)
        return -(int)err->code;
    if (e->sets[0].nreplicas > 1 && ev->step != ensemble_furthest(e))
        return err_set(err, ERR_BUSY, "ensemble %s went on meanwhile: try again", e->id);
    if (e->allocation.share)
        e->allocation.share = allocation_share(e);
    e->ladder = ++e->revision;
    queue_again(st, e);
    ensemble_add_windows(e, ev->window, ev->origin, ev->replica);
    ensemble_string(&e->placed, ev->windows);
    decide(st, (struct decision){.kind = DECIDE_LADDER, .ensemble = e, .worker = -1, .text = xstrdup(ev->spec)});
    note_ensemble(st, e, "extend", "revision %d: %s", e->revision, ev->message);
    for (int i = 0; i < e->nsets; i++)
        reopen_set(st, &e->sets[i]);
    prepare_input(st, e);
    finish_if_ended(st, e);
    return 0;
}
