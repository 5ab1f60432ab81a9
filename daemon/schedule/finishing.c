/* SPDX-License-Identifier: Apache-2.0
 *
 * How an ensemble ends: what its samples come to is written, and its state says how that went. Where the machine cannot do that now
 * (it has no descriptors, no room, a disk that is read-only) the ensemble waits, and its reason says for what.
 */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/schedule/internal.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"

#define RETRY_MS 2000

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
    if (allocation_open(e)) {
        look(st, e);
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
    e->again = true;
    ensemble_string(&e->reason, "its results are computed again");
    move_ensemble(st, e, ENSEMBLE_FINISHING);
    estimate(st, e);
    return 0;
}

/* What a replica is called in sentences: window 3, of several repeats window 3 of repeat 1. */
static void name_replica(struct buf *out, const struct sched_replica *r)
{
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
                   e->repeats > 1 ? "replicas" : number_word(e->nreplicas, "window", "windows"));
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

bool finish_later(struct step *st, struct ensemble *e, int code, const char *message)
{
    if (code == ERR_NONE || code == ERR_ESTIMATE)
        return false;
    e->finish_after = code == ERR_NO_SPACE ? INT64_MAX : st->now + RETRY_MS;
    if (code == ERR_NO_SPACE)
        wait_for_space(st, e, message);
    else
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
    char *failure = good ? NULL : failure_text(e, ev->ok ? NULL : ev->message);
    ensemble_string(&e->reason, good && ensemble_stopping(e) ? e->stopped : failure);
    free(failure);
    move_ensemble(st, e, good ? ENSEMBLE_DONE : ENSEMBLE_FAILED);
}
