/* SPDX-License-Identifier: Apache-2.0
 *
 * What is decided: states that change, events, reasons. Whatever happens to an ensemble or a replica goes through here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/schedule/internal.h"
#include "engine/base/buf.h"

void decisions_clear(struct decisions *d)
{
    for (int i = 0; i < d->n; i++)
        free(d->item[i].text);
    d->n = 0;
}

void decisions_free(struct decisions *d)
{
    decisions_clear(d);
    free(d->item);
    *d = (struct decisions){0};
}

void decide(struct step *st, struct decision d)
{
    struct decisions *o = st->out;
    if (o->n == o->cap) {
        o->cap = o->cap ? 2 * o->cap : 16;
        o->item = xrealloc(o->item, (size_t)o->cap, sizeof *o->item);
    }
    o->item[o->n++] = d;
}

static void decide_note(struct step *st, struct ensemble *e, struct sched_replica *r, const char *kind, const char *fmt,
                        va_list ap)
{
    char text[1200];
    vsnprintf(text, sizeof text, fmt, ap);
    decide(st,
           (struct decision){
               .kind = DECIDE_NOTE, .ensemble = e, .replica = r, .worker = -1, .note = kind, .text = xstrdup(text)});
}

void note(struct step *st, struct sched_replica *r, const char *kind, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    decide_note(st, r->ensemble, r, kind, fmt, ap);
    va_end(ap);
}

void note_ensemble(struct step *st, struct ensemble *e, const char *kind, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    decide_note(st, e, NULL, kind, fmt, ap);
    va_end(ap);
}

void *sched_grown(void *items, int n, int *cap, size_t size)
{
    if (n < *cap)
        return items;
    *cap = *cap ? 2 * *cap : 64;
    return xrealloc(items, (size_t)*cap, size);
}

/* The place of an ensemble among the active ones, or where it would be. */
static int active_place(const struct sched *s, const struct ensemble *e)
{
    int i = s->nactive;
    while (i > 0 && s->active[i - 1]->number >= e->number)
        i--;
    return i;
}

void sched_activate(struct sched *s, struct ensemble *e)
{
    int at = active_place(s, e);
    s->active = sched_grown(s->active, s->nactive, &s->active_cap, sizeof *s->active);
    memmove(&s->active[at + 1], &s->active[at], (size_t)(s->nactive - at) * sizeof *s->active);
    s->active[at] = e;
    s->nactive++;
}

static void deactivate(struct sched *s, struct ensemble *e)
{
    int at = active_place(s, e);
    memmove(&s->active[at], &s->active[at + 1], (size_t)(s->nactive - at - 1) * sizeof *s->active);
    s->nactive--;
}

bool queue_again(struct step *st, struct ensemble *e)
{
    if (!ensemble_ended(e))
        return false;
    ensemble_string(&e->reason, NULL);
    move_ensemble(st, e, ENSEMBLE_QUEUED);
    return true;
}

void move_ensemble(struct step *st, struct ensemble *e, enum ensemble_state to)
{
    bool wanted = ensemble_wants(e), ended = ensemble_ended(e);
    sm_move(&e->sm, to);
    e->changed = st->time;
    if (wanted != ensemble_wants(e))
        user_wants(st->s, e, !wanted);
    if (ended && !ensemble_ended(e))
        sched_activate(st->s, e);
    if (!ended && ensemble_ended(e))
        deactivate(st->s, e);
    decide(st, (struct decision){.kind = DECIDE_ENSEMBLE, .ensemble = e, .worker = -1, .state = to});
}

static void move_state(struct sched_replica *r, enum replica_state to)
{
    struct sched_set *set = r->set;
    bool waited = set_waits(set);
    set->nqueued -= r->sm.state == REPLICA_QUEUED;
    sm_move(&r->sm, to);
    set->nqueued += to == REPLICA_QUEUED;
    set->ensemble->nwaiting += set_waits(set) - waited;
}

void move_replica(struct step *st, struct sched_replica *r, enum replica_state to)
{
    move_state(r, to);
    decide(st, (struct decision){.kind = DECIDE_REPLICA,
                                 .ensemble = r->ensemble,
                                 .replica = r,
                                 .set = r->set,
                                 .worker = r->set->worker,
                                 .state = to});
}

void move_all(struct step *st, struct ensemble *e, enum replica_state from, enum replica_state to)
{
    int n = 0;
    for (int i = 0; i < e->nreplicas; i++)
        if (e->replicas[i].sm.state == from) {
            move_state(&e->replicas[i], to);
            n++;
        }
    if (n)
        decide(st, (struct decision){
                       .kind = DECIDE_REPLICAS, .ensemble = e, .worker = -1, .from = from, .state = (uint32_t)to});
}

/* ---- ensembles ---- */

void prepare_input(struct step *st, struct ensemble *e)
{
    e->prepared = false;
    if (e->preparing)
        return;
    e->preparing = true;
    decide(st, (struct decision){.kind = DECIDE_PREPARE, .ensemble = e, .worker = -1});
}

/* ---- space ---- */

void set_reason(struct step *st, struct ensemble *e, const char *reason)
{
    ensemble_string(&e->reason, reason);
    decide(st, (struct decision){.kind = DECIDE_REASON, .ensemble = e, .worker = -1});
}

void wait_for_space(struct step *st, struct ensemble *e, const char *message)
{
    char text[1200];
    snprintf(text, sizeof text, "waits for space on the disk: %s", message ? message : "no space left");
    if (!ensemble_ended(e)) {
        e->wants_space = true;
        set_reason(st, e, text);
    }
    if (st->s->full)
        return;
    st->s->full = true;
    decide(st, (struct decision){.kind = DECIDE_SPACE, .ensemble = e, .worker = -1});
}

void forget_space(struct step *st, struct ensemble *e)
{
    if (e->wants_space)
        set_reason(st, e, NULL);
    e->wants_space = false;
}
