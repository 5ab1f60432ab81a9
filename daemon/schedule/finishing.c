/* SPDX-License-Identifier: Apache-2.0
 *
 * How an ensemble ends: what its samples come to is written, and its state says how that went. Where the machine cannot
 * do that now (it has no descriptors, no room, a file that a disk fails to read) the ensemble waits, and its reason
 * says for what:
 *
 *   no space       until there is some
 *   anything else  tried again after 2 s, 4 s, ... 10 min, then every 10 min. The first failure is an event, and so is
 * what becomes of it: the try that succeeds, or after a day the last one, which fails the ensemble. Its samples stay,
 * and its owner has the results computed again
 *
 * An ensemble with a stop rule ends before its time, when its free energy is good enough. What is asked is a live
 * estimate; those come at growing intervals (service/estimates_so_far.c), and it has to hold at STOP_LOOKS of them in a
 * row: who stops as soon as an error looks small stops more often when it looks smaller than it is. Every replica's
 * target then becomes where its checkpoint is (of those that exchange windows, where the furthest is): it starts once
 * more for its final files.
 *
 * An ensemble whose spec has its windows placed runs as its own pilot first: its first replicas are those of the
 * windows that the spec gives, for a short time. When all of them have ended the ensemble is looked at, as one is that
 * hands out production (allocation.c), and the look says which windows there are to be. Other replicas take the place
 * of the pilot's; they begin at the beginning, with the random numbers of a spec that gives these windows. That is one
 * decision, committed with the spec that has the windows in its text: a service that starts before looks again at the
 * same samples, one that starts after it never looks. So the windows are a function of the pilot's samples alone. Where
 * these say none the ensemble has failed, without results.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/schedule/internal.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/base/units.h"

#define STOP_LOOKS 2
#define RETRY_MS 2000 /* before the first; doubles */
#define RETRY_MAX_MS 600000
#define RETRY_FOR_MS 86400000

static void estimate(struct step *st, struct ensemble *e)
{
    if (e->estimating)
        return;
    e->estimating = true;
    e->finish_after = 0;
    decide(st, (struct decision){.kind = DECIDE_ESTIMATE, .ensemble = e, .worker = -1});
}

void finish_if_ended(struct step *st, struct ensemble *e)
{
    if (ensemble_ended(e) || e->sm.state == ENSEMBLE_FINISHING)
        return;
    if (ensemble_count(e, REPLICA_DONE) + ensemble_count(e, REPLICA_FAILED) < e->nreplicas)
        return;
    if (e->pilot || allocation_open(e)) {
        look_at_samples(st, e);
        return;
    }
    e->again = false;
    move_ensemble(st, e, ENSEMBLE_FINISHING);
    estimate(st, e);
}

int on_reestimate(struct step *st, struct ensemble *e, struct err *err)
{
    if (e->sm.state == ENSEMBLE_FINISHING || e->sm.state == ENSEMBLE_CANCELLED)
        return 0;
    if (!ensemble_ended(e))
        return err_set(err, ERR_CONFLICT, "ensemble %s is %s: its results can be computed again once it has ended",
                       e->id, sm_name(&e->sm));
    if (e->pilot)
        return err_set(
            err, ERR_CONFLICT,
            "ensemble %s has no results: its pilot placed no windows; `shoal retry %s` has them placed again", e->id,
            e->id);
    e->again = true;
    ensemble_string(&e->reason, "its results are computed again");
    move_ensemble(st, e, ENSEMBLE_FINISHING);
    estimate(st, e);
    return 0;
}

/* What a replica is called in sentences: window 3, or walker 3 of end A; of several repeats window 3 of repeat 1. */
static void name_replica(struct buf *out, const struct sched_replica *r)
{
    if (r->ensemble->walkers)
        buf_printf(out, "walker %d of end %c", replica_walker(r), replica_end(r));
    else
        buf_printf(out, "window %d", r->window);
    if (r->ensemble->repeats > 1)
        buf_printf(out, " of repeat %d", r->repeat);
}

/* The first that failed by itself, not with one that it runs with; NULL: none failed. */
static const struct sched_replica *first_failed(const struct ensemble *e)
{
    const struct sched_replica *first = NULL;
    for (int i = 0; i < e->nreplicas; i++) {
        const struct sched_replica *r = &e->replicas[i];
        if (r->sm.state == REPLICA_FAILED && (!first || (!first->code && r->code)))
            first = r;
    }
    return first;
}

/* The sentence an owner reads: how many replicas failed, and the first one's reason. */
static char *failure_text(const struct ensemble *e, const char *estimate_message)
{
    struct buf text = {0};
    const struct sched_replica *r = first_failed(e);
    if (r) {
        buf_printf(&text, "%d of %d %s failed; ", ensemble_count(e, REPLICA_FAILED), e->nreplicas,
                   e->repeats > 1 ? "replicas"
                   : e->walkers   ? "walkers"
                                  : number_word(e->nreplicas, "window", "windows"));
        name_replica(&text, r);
        buf_printf(&text, ": %s", r->reason ? r->reason : "no reason given");
    }
    if (estimate_message)
        buf_printf(&text, "%s%s", text.len ? "; " : "", estimate_message);
    return text.data;
}

void finish_again(struct step *st, struct ensemble *e)
{
    e->finish_after = 0;
    if (e->sm.state == ENSEMBLE_FINISHING)
        estimate(st, e);
    else
        finish_if_ended(st, e);
}

/* The machine did it, or what the samples lack was found: either way it was not the machine. */
static void forget_failures(struct step *st, struct ensemble *e)
{
    if (e->finish_failures)
        note_ensemble(st, e, "estimate", "the samples were read at try %d", e->finish_failures + 1);
    e->finish_failures = 0;
}

/* Another failure: whether it is not the last. */
static bool may_finish_again(struct step *st, struct ensemble *e, const char *message)
{
    if (!e->finish_failures++) {
        e->finish_since = st->now;
        note_ensemble(
            st, e, "estimate",
            "the samples cannot be read now: %s; tried again after %d s, then less and less often, for %d hours",
            message, RETRY_MS / 1000, RETRY_FOR_MS / 3600000);
    }
    if (st->now - e->finish_since < RETRY_FOR_MS)
        return true;
    note_ensemble(st, e, "estimate", "given up after %d tries in %" PRId64 " hours: %s", e->finish_failures,
                  (st->now - e->finish_since) / 3600000, message);
    e->finish_failures = 0;
    return false;
}

/* True: an estimate of all there is, or a look at it, failed because the machine lacks something, and finish_again
 * repeats it. False: it did not fail (ERR_NONE), would fail again (ERR_ESTIMATE), or has been repeated for a day. */
static bool finish_later(struct step *st, struct ensemble *e, int code, const char *message)
{
    if (code == ERR_NONE || code == ERR_ESTIMATE) {
        forget_failures(st, e);
        return false;
    }
    if (code == ERR_NO_SPACE) {
        e->finish_after = INT64_MAX;
        wait_for_space(st, e, message);
        return true;
    }
    if (!may_finish_again(st, e, message))
        return false;
    e->finish_after = st->now + retry_pause(RETRY_MS, RETRY_MAX_MS, e->finish_failures);
    set_reason(st, e, message);
    return true;
}

void on_estimated(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    e->estimating = false;
    if (e->sm.state != ENSEMBLE_FINISHING)
        return; /* cancelled meanwhile */
    if (finish_later(st, e, ev->ok ? ERR_NONE : ev->code, ev->message))
        return;
    bool good = ev->ok && ensemble_count(e, REPLICA_FAILED) == 0;
    struct buf estimate = {0};
    if (!ev->ok)
        buf_printf(&estimate, "%s", ev->message);
    if (!ev->ok && ev->code != ERR_ESTIMATE)
        buf_printf(&estimate, "; its samples are kept: once that is mended `shoal reestimate %s` computes its results",
                   e->id);
    char *failure = good ? NULL : failure_text(e, estimate.data);
    ensemble_string(&e->reason, good && ensemble_stopping(e) ? e->stopped : failure);
    buf_free(&estimate);
    free(failure);
    move_ensemble(st, e, good ? ENSEMBLE_DONE : ENSEMBLE_FAILED);
}

static void take_placed(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    ensemble_take_windows(e, ev->placed, waiting_state(e));
    e->ladder = ++e->revision;
    decide(st, (struct decision){.kind = DECIDE_LADDER, .ensemble = e, .worker = -1, .text = xstrdup(ev->spec)});
    note_ensemble(st, e, "ladder", "revision %d: %s", e->revision, ev->message);
    prepare_input(st, e);
}

/* What a look at a pilot says: the windows, or why there are none. */
static void on_pilot(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    if (ev->placed) {
        take_placed(st, ev);
        return;
    }
    char *failure = failure_text(e, ev->message);
    ensemble_string(&e->reason, failure);
    free(failure);
    move_ensemble(st, e, ENSEMBLE_FINISHING);
    move_ensemble(st, e, ENSEMBLE_FAILED);
}

void on_look(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    e->looking = false;
    if (!ensemble_ended(e) && finish_later(st, e, ev->code, ev->message))
        return;
    if (e->reason && !e->wants_space)
        set_reason(st, e, NULL);
    bool reached = ensemble_count(e, REPLICA_DONE) + ensemble_count(e, REPLICA_FAILED) == e->nreplicas;
    if (reached && !ensemble_ended(e) && e->pilot) {
        on_pilot(st, ev);
        return;
    }
    if (reached && !ensemble_ended(e) && allocation_open(e))
        hand_out_production(st, ev);
    finish_if_ended(st, e);
}

/* ---- before its time ---- */

static void end_set(struct step *st, struct sched_set *set)
{
    if (set->worker >= 0) {
        stop_set(st, set); /* it ends where that checkpoint will be */
        return;
    }
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].sm.state == REPLICA_QUEUED)
            end_here(st, &set->replicas[i]);
}

void on_live(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    const struct stop_rule *stop = &e->stop;
    if (ev->ladder != e->ladder) /* windows were added while it was made */
        return;
    if (!stop->error || e->stopped || !ensemble_wants(e) || ensemble_count(e, REPLICA_FAILED))
        return;
    bool good = ev->ok && ev->error <= stop->error && (!stop->converged || !strcmp(ev->message, "converged"));
    e->stop_held = good && ev->step >= stop->after ? e->stop_held + 1 : 0;
    if (e->stop_held < STOP_LOOKS)
        return;
    char text[200];
    snprintf(text, sizeof text, "stopped early: the error is %.3g kcal/mol (stop-when: %.3g), verdict %.20s",
             ev->error / UNIT_KCAL, stop->error / UNIT_KCAL, ev->message);
    ensemble_string(&e->stopped, text);
    ensemble_string(&e->reason, text);
    e->stopped_revision = e->revision;
    decide(st, (struct decision){.kind = DECIDE_REASON, .ensemble = e, .worker = -1});
    note_ensemble(st, e, "stop", "%s", text);
    for (int i = 0; i < e->nsets; i++)
        end_set(st, &e->sets[i]);
}
