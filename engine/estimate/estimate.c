/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/result.h"

void sampling_init(struct sampling *s, const struct ladder *l)
{
    *s = (struct sampling){.nstates = l->nstates, .ncomponents = l->ncomponents, .lambda = l->lambda};
    s->start = xcalloc((size_t)l->nstates + 1, sizeof *s->start);
    s->dhdl = xcalloc(1, sizeof *s->dhdl);
}

void sampling_cut(struct sampling *s, const size_t *head)
{
    size_t ns = (size_t)s->nstates, nc = (size_t)s->ncomponents, at = 0, end = s->start[0];
    size_t na = s->along ? (size_t)s->nalong : 0;
    for (size_t k = 0; k < ns; k++) {
        size_t from = end + head[k], n = s->start[k + 1] - from;
        end = s->start[k + 1];
        memmove(s->u + at * ns, s->u + from * ns, n * ns * sizeof *s->u);
        if (s->dhdl)
            memmove(s->dhdl + at * nc, s->dhdl + from * nc, n * nc * sizeof *s->dhdl);
        if (s->along)
            memmove(s->along + at * na, s->along + from * na, n * na * sizeof *s->along);
        at += n;
        s->start[k + 1] = at;
    }
}

void sampling_align(struct sampling *s)
{
    size_t least = SIZE_MAX, *head = xcalloc((size_t)s->nstates, sizeof *head);
    for (int k = 0; k < s->nstates; k++)
        if (sampling_count(s, k) && sampling_count(s, k) < least)
            least = sampling_count(s, k);
    for (int k = 0; k < s->nstates; k++)
        head[k] = sampling_count(s, k) ? sampling_count(s, k) - least : 0;
    sampling_cut(s, head);
    free(head);
    s->together = true;
}

void result_init(struct result *r, const struct ladder *l)
{
    *r = (struct result){.ladder = l, .windows = xcalloc((size_t)l->nstates, sizeof *r->windows)};
}

/* Windows that exchange replicas are used from one time on. */
static void align(struct result *r, struct sampling *s)
{
    sampling_align(s);
    for (int k = 0; k < s->nstates; k++) {
        struct window_result *w = r->windows + k;
        if (w->used)
            window_drop(w, w->used - sampling_count(s, k), s, k);
    }
}

/* One repeat: its replicas' folders. */
static void repeat(const struct estimate_ensemble *q, struct result *r, const struct ladder *l, int index)
{
    const struct estimate_replica *replicas = q->replicas + index * l->nstates;
    struct sampling s;
    result_init(r, l);
    r->forecasts = q->production != NULL;
    r->wants_profiles = q->umbrella;
    r->before = index ? r - 1 : NULL;
    r->bath = (struct bath){.thermostat = q->set->integrator.kind == INTEGRATOR_LANGEVIN_MIDDLE,
                            .pressure = q->npt ? q->set->barostat.pressure : NAN};
    sampling_init(&s, l);
    for (int k = 0; k < l->nstates; k++) {
        struct window_result *w = r->windows + k;
        char folder[64], parent[32] = "";
        if (q->repeats > 1)
            snprintf(parent, sizeof parent, "repeat_%02d/", index);
        snprintf(folder, sizeof folder, "%slambda_%02d", parent, k);
        w->status = replicas[k].kind;
        w->seeded = replicas[k].seeded;
        w->seed = replicas[k].seed;
        w->moves = replicas[k].moves;
        snprintf(w->reason, sizeof w->reason, "%s", replicas[k].reason ? replicas[k].reason : "");
        window_read(r, q->directory, folder, k, replicas + k, &s);
    }
    walks_count(r, q->set->exchange);
    if (q->walks)
        walks_write(r, q->walks + index);
    if (q->set->exchange)
        align(r, &s);
    if (l->nstates > 1)
        result_analyse(r, &s);
    sampling_close(&s);
}

static void report_close(struct report *r)
{
    for (int i = 0; i < r->nrepeats; i++)
        result_close(r->repeats + i);
    result_close(&r->whole);
    profiles_close(r->profiles, r->nprofiles);
    free(r->repeats);
}

void estimate_ensemble(const struct estimate_ensemble *q, struct buf *json)
{
    struct ladder l;
    struct report r = {.about = &q->about,
                       .held = q->held,
                       .finite_size = q->finite_size,
                       .remark = q->remark,
                       .pressure = q->npt ? q->set->barostat.pressure : NAN,
                       .production = q->production,
                       .observables = q->observables,
                       .torsions = q->torsions,
                       .fold = q->fold,
                       .fold_remark = q->fold_remark,
                       .observables_of = q->observables_of,
                       .ladder = &l,
                       .nrepeats = q->repeats};
    ladder_of_settings(&l, q->set);
    r.repeats = xcalloc((size_t)q->repeats, sizeof *r.repeats);
    for (int i = 0; i < q->repeats; i++) {
        repeat(q, r.repeats + i, &l, i);
        if (q->unread && r.repeats[i].unread.code)
            *q->unread = r.repeats[i].unread;
    }
    if (q->repeats > 1)
        report_combine(&r);
    report_profiles(&r);
    report_write(&r, json);
    report_close(&r);
    ladder_close(&l);
}
