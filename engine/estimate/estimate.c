/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/analysis.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/profiles/profiles.h"
#include "engine/estimate/rows/rows.h"

/* Of windows that exchange replicas rows of the same times are used. */
static void align(struct result *r, struct sampling *s)
{
    sampling_align(s);
    for (int k = 0; k < s->nstates; k++)
        if (r->windows[k].used)
            window_align(r->windows + k, s, k);
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
    r->bath = (struct bath){.thermostat = !integrator_conserves_energy(q->set->integrator.kind),
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
        w->waters = replicas[k].waters;
        snprintf(w->reason, sizeof w->reason, "%s", replicas[k].reason ? replicas[k].reason : "");
        window_read(r, q->directory, folder, k, replicas + k, &s);
    }
    walks_count(r, q->set->exchange, q->exchanges_alone);
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

static void estimate_ladder(const struct estimate_ensemble *q, struct buf *json)
{
    struct ladder l;
    ladder_of_settings(&l, q->set);
    struct report r = report_of_ensemble(q, &l);
    r.nrepeats = q->repeats;
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

void estimate_ensemble(const struct estimate_ensemble *q, struct buf *json)
{
    if (q->walkers)
        estimate_walkers(q, json);
    else
        estimate_ladder(q, json);
}
