/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/result/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/fit.h"

const char *const estimator_names[ESTIMATORS] = {"MBAR", "BAR", "TI", "TI-Gauss"};

void result_warn(struct result *r, const char *fmt, ...)
{
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->warnings = xrealloc(r->warnings, (size_t)r->nwarnings + 1, sizeof *r->warnings);
    r->warnings[r->nwarnings++] = xstrdup(text);
}

void result_init(struct result *r, const struct ladder *l)
{
    *r = (struct result){.ladder = l, .windows = xcalloc((size_t)l->nstates, sizeof *r->windows)};
}

void sampling_init(struct sampling *s, const struct ladder *l)
{
    *s = (struct sampling){.nstates = l->nstates, .ncomponents = l->ncomponents, .lambda = l->lambda};
    s->start = xcalloc((size_t)l->nstates + 1, sizeof *s->start);
    s->dhdl = xcalloc(1, sizeof *s->dhdl);
}

/* The differences that every estimator reports. */
static void ranges_init(struct estimator_result *x, const struct ladder *l)
{
    size_t n = (size_t)l->nstates;
    x->total = (struct range){.from = 0, .to = l->nstates - 1};
    x->legs = xcalloc(n, sizeof *x->legs);
    x->steps = xcalloc(n, sizeof *x->steps);
    x->cumulative = xcalloc(n, sizeof *x->cumulative);
    memcpy(x->legs, l->legs, (size_t)l->nlegs * sizeof *x->legs);
    for (int k = 0; k < l->nstates; k++) {
        x->steps[k] = (struct range){.from = k, .to = k + 1};
        x->cumulative[k] = (struct range){.from = 0, .to = k};
    }
}

void result_estimators(struct result *r, int n)
{
    r->nestimators = n;
    for (int i = 0; i < n && i < ESTIMATOR_TI_GAUSS; i++)
        ranges_init(r->estimators + i, r->ladder);
}

void convergence_lacks(struct convergence *c, const char *what, const char *why)
{
    struct buf all = {0};
    buf_printf(&all, "%s%s%s: %s", c->reason, *c->reason ? "; " : "", what, why);
    fit_text(c->reason, sizeof c->reason, all.data);
    buf_free(&all);
}

static void averages_close(struct average *a, int n)
{
    for (int i = 0; i < n; i++)
        free(a[i].name);
    free(a);
}

static void walks_close(struct walks *w)
{
    free(w->moves);
    free(w->round_trips);
    free(w->visited);
}

void profiles_close(struct free_energy_profile *profiles, int n)
{
    for (int i = 0; i < n; i++) {
        for (int b = 0; b < profiles[i].n; b++)
            free(profiles[i].bins[b].rows);
        free(profiles[i].bins);
        solution_close(&profiles[i].solution);
    }
    free(profiles);
}

void result_close(struct result *r)
{
    for (int k = 0; r->windows && k < r->ladder->nstates; k++) {
        averages_close(r->windows[k].dhdl, r->windows[k].ndhdl);
        averages_close(r->windows[k].averages, r->windows[k].naverages);
        averages_close(r->windows[k].fluctuations, r->windows[k].nfluctuations);
        free(r->windows[k].visits);
        free(r->windows[k].times);
        free(r->windows[k].visit_times);
    }
    walks_close(&r->walks);
    profiles_close(r->profiles, r->nprofiles);
    for (int i = 0; i < ESTIMATORS; i++) {
        free(r->estimators[i].legs);
        free(r->estimators[i].steps);
        free(r->estimators[i].cumulative);
        verdict_close(&r->estimators[i].verdict);
    }
    for (int i = 0; i < r->nwarnings; i++)
        free(r->warnings[i]);
    free(r->warnings);
    free(r->stretched);
    forecast_free(r->forecast);
    free(r->windows);
    free(r->overlap);
    free(r->changes);
    free(r->neighbours);
    free(r->lengths);
}
