/* SPDX-License-Identifier: Apache-2.0
 *
 * What the loop thread writes, as statement numbers and values of the batch that is being filled.
 */
#include "daemon/store/batch.h"

#include <stdlib.h>
#include <string.h>

static void *grow(void *items, int n, int *cap, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? 2 * *cap : 16;
    return xrealloc(items, (size_t)*cap, size);
}

static struct batch *filling(struct store *s)
{
    if (!s->open)
        s->open = xcalloc(1, sizeof *s->open);
    return s->open;
}

static void op(struct store *s, enum statement statement)
{
    struct batch *b = filling(s);
    b->ops = grow(b->ops, b->nops, &b->cops, sizeof *b->ops);
    b->ops[b->nops++] = (struct op){statement, b->nvalues, 0};
}

static void value(struct store *s, struct value v)
{
    struct batch *b = s->open;
    b->values = grow(b->values, b->nvalues, &b->cvalues, sizeof *b->values);
    b->values[b->nvalues++] = v;
    b->ops[b->nops - 1].n++;
}

static void null(struct store *s)
{
    value(s, (struct value){.kind = VALUE_NULL});
}

static void integer(struct store *s, int64_t i)
{
    value(s, (struct value){.kind = VALUE_INT, .i = i});
}

static void real(struct store *s, double d)
{
    value(s, (struct value){.kind = VALUE_REAL, .d = d});
}

static void text(struct store *s, const char *t)
{
    if (!t)
        null(s);
    else
        value(s, (struct value){.kind = VALUE_TEXT, .data = xstrdup(t), .len = strlen(t)});
}

/* In two columns: what is urgent is more than an owner can ask for. */
static void priority(struct store *s, const struct ensemble *e)
{
    integer(s, ensemble_is_urgent(e) ? PRIORITY_HIGH : e->priority);
    integer(s, ensemble_is_urgent(e));
}

static void add_ensemble(struct store *s, const struct ensemble *e, const char *spec)
{
    op(s, STATEMENT_ENSEMBLE_ADD);
    integer(s, e->number);
    text(s, e->id);
    integer(s, e->owner);
    text(s, e->key);
    text(s, e->hash);
    text(s, e->name);
    text(s, e->spec_name);
    text(s, spec);
    integer(s, e->atoms);
    integer(s, e->windows);
    integer(s, e->repeats);
    integer(s, e->stages);
    integer(s, e->retries);
    integer(s, e->sm.state);
    text(s, e->reason);
    integer(s, e->created);
    integer(s, e->changed);
    real(s, e->stop.error);
    integer(s, e->stop.converged);
    integer(s, e->stop.after);
    integer(s, e->allocation.share);
    integer(s, e->allocation.before);
    integer(s, e->allocation.every);
    text(s, e->sizes.text);
    integer(s, e->walkers);
    real(s, e->switching);
    integer(s, e->pilot);
    text(s, e->placed);
    priority(s, e);
}

/* Those that are there get their windows anew. */
static void put_replicas(struct store *s, const struct ensemble *e)
{
    for (int i = 0; i < e->nsets; i++) {
        op(s, STATEMENT_SET_ADD);
        integer(s, e->sets[i].number);
        integer(s, e->number);
    }
    for (int i = 0; i < e->nreplicas; i++) {
        const struct sched_replica *r = &e->replicas[i];
        op(s, STATEMENT_REPLICA_ADD);
        integer(s, r->number);
        integer(s, e->number);
        integer(s, r->set->number);
        integer(s, r->window);
        integer(s, r->repeat);
        integer(s, r->steps);
        integer(s, r->sm.state);
        integer(s, r->stream);
        integer(s, r->origin);
    }
}

void store_put_ensemble(struct store *s, const struct ensemble *e, const struct submission *sub)
{
    add_ensemble(s, e, sub->spec);
    for (int i = 0; i < sub->nfiles; i++) {
        size_t len = strlen(sub->file_texts[i]);
        op(s, STATEMENT_CONTENT_ADD);
        text(s, sub->file_hashes[i]);
        value(s, (struct value){.kind = VALUE_BLOB, .data = xstrdup(sub->file_texts[i]), .len = len});
        op(s, STATEMENT_INPUT_ADD);
        integer(s, e->number);
        text(s, sub->file_names[i]);
        text(s, sub->file_hashes[i]);
    }
    for (int i = 0; i < e->nlabels; i++) {
        op(s, STATEMENT_LABEL_ADD);
        integer(s, e->number);
        text(s, e->labels[i].key);
        text(s, e->labels[i].value);
    }
    put_replicas(s, e);
}

static int64_t first_number(const struct ensemble *e)
{
    int64_t first = e->replicas[0].number;
    for (int i = 1; i < e->nreplicas; i++)
        first = e->replicas[i].number < first ? e->replicas[i].number : first;
    return first;
}

void store_save_ladder(struct store *s, const struct ensemble *e, const char *spec)
{
    op(s, STATEMENT_LADDER_SAVE);
    text(s, spec);
    integer(s, e->windows);
    integer(s, e->ladder);
    integer(s, e->pilot);
    text(s, e->placed);
    integer(s, e->walkers);
    real(s, e->switching);
    integer(s, e->stages);
    real(s, e->stop.error);
    integer(s, e->stop.converged);
    integer(s, e->stop.after);
    integer(s, e->allocation.before);
    integer(s, e->allocation.every);
    integer(s, e->number);
    op(s, STATEMENT_REPLICAS_RETIRE);
    integer(s, e->number);
    integer(s, first_number(e));
    put_replicas(s, e);
    store_save_ensemble(s, e);
    for (int i = 0; i < e->nreplicas; i++)
        store_save_replica(s, &e->replicas[i]);
}

void store_remove_ensemble(struct store *s, const struct ensemble *e)
{
    op(s, STATEMENT_ENSEMBLE_HIDE);
    integer(s, e->number);
    op(s, STATEMENT_REMOVAL_ADD);
    text(s, e->id);
}

void store_end_removal(struct store *s, const char *id)
{
    op(s, STATEMENT_REMOVAL_END);
    text(s, id);
}

void store_save_ensemble(struct store *s, const struct ensemble *e)
{
    op(s, STATEMENT_ENSEMBLE_SAVE);
    integer(s, e->sm.state);
    text(s, e->reason);
    integer(s, e->changed);
    integer(s, e->revision);
    text(s, e->stopped);
    integer(s, e->stopped_revision);
    integer(s, e->allocation.share);
    integer(s, e->again);
    priority(s, e);
    text(s, e->paused_by);
    text(s, e->moved_to);
    integer(s, e->doublings);
    integer(s, e->number);
}

void store_save_untold(struct store *s, int64_t ensemble, bool untold)
{
    op(s, STATEMENT_UNTOLD_SAVE);
    integer(s, untold);
    integer(s, ensemble);
}

void store_save_replica(struct store *s, const struct sched_replica *r)
{
    op(s, STATEMENT_REPLICA_SAVE);
    integer(s, r->steps);
    integer(s, r->sm.state);
    integer(s, r->stage);
    integer(s, r->saved_step);
    real(s, r->time_ps);
    integer(s, r->code);
    integer(s, r->failed_step);
    text(s, r->reason);
    integer(s, r->number);
    op(s, STATEMENT_SET_SAVE);
    integer(s, r->set->failures);
    integer(s, r->set->crashes);
    integer(s, r->set->salt);
    text(s, r->set->device);
    text(s, r->set->model);
    integer(s, r->set->number);
}

void store_save_used(struct store *s, const struct sched_replica *r)
{
    op(s, STATEMENT_USED_SAVE);
    integer(s, r->used_step);
    real(s, r->used_ps);
    integer(s, r->number);
}

void store_move_replicas(struct store *s, const struct ensemble *e, enum replica_state from, enum replica_state to)
{
    op(s, STATEMENT_REPLICAS_MOVE);
    integer(s, to);
    integer(s, e->number);
    integer(s, from);
}

void store_put_event(struct store *s, const struct event *ev)
{
    op(s, STATEMENT_EVENT_ADD);
    integer(s, ev->seq);
    integer(s, ev->ensemble->number);
    if (ev->replica)
        integer(s, ev->replica->number);
    else
        null(s);
    integer(s, ev->time);
    text(s, ev->kind);
    if (ev->state >= 0)
        integer(s, ev->state);
    else
        null(s);
    text(s, ev->message);
}

void store_trim_events(struct store *s, const struct ensemble *e, int64_t seq, int64_t ms)
{
    op(s, STATEMENT_EVENTS_TRIM);
    integer(s, e->number);
    integer(s, seq);
    op(s, STATEMENT_RAN_ADD);
    integer(s, ms);
    integer(s, e->number);
}

void store_put_history(struct store *s, uint32_t uid, double used, int64_t at)
{
    op(s, STATEMENT_HISTORY_PUT);
    integer(s, uid);
    real(s, used);
    integer(s, at);
}

static const char *campaign_of(const struct ensemble *e)
{
    const char *campaign = ensemble_label(e, "campaign");
    return campaign ? campaign : ensemble_label(e, "pilot");
}

void store_add_account(struct store *s, const struct ensemble *e, const char *device, int64_t day,
                       const struct sched_use *use)
{
    op(s, STATEMENT_ACCOUNT_ADD);
    integer(s, e->number);
    integer(s, day);
    text(s, device);
    integer(s, e->owner);
    text(s, e->id);
    text(s, e->name);
    text(s, campaign_of(e));
    real(s, use->device_ms);
    integer(s, use->steps);
    real(s, use->ps);
    if (use->joules > 0)
        real(s, use->joules);
    else
        null(s);
}

void store_trim_accounts(struct store *s, int64_t day)
{
    op(s, STATEMENT_ACCOUNTS_TRIM);
    integer(s, day);
}

void store_put_hold(struct store *s, const char *what, const struct hold *hold)
{
    op(s, STATEMENT_HOLD_PUT);
    text(s, what);
    text(s, hold->by);
    text(s, hold->reason);
    integer(s, hold->since);
}

void store_end_hold(struct store *s, const char *what)
{
    op(s, STATEMENT_HOLD_END);
    text(s, what);
}

void store_after_commit(struct store *s, store_done_fn *fn, store_done_fn *forget, void *arg)
{
    struct batch *b = filling(s);
    b->callbacks = grow(b->callbacks, b->ncallbacks, &b->ccallbacks, sizeof *b->callbacks);
    b->callbacks[b->ncallbacks++] = (struct callback){fn, forget, arg};
}
