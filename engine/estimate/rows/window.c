/* SPDX-License-Identifier: Apache-2.0
 *
 * One replica's files -> rows for the estimators, and averages.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/statistics/stats.h"
#include "engine/estimate/estimators/visits.h"
#include "engine/estimate/profiles/profiles.h"
#include "engine/estimate/rows/rows.h"
#include "engine/series/legends.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 0.51e-4; /* dhdl.xvg has 4 decimals */
}

/* The file must be of this window of this ladder at this temperature. */
static int check_file(const struct ladder *l, int index, const char *name, const struct dhdl *d, struct err *e)
{
    bool same = d->ncomponents == l->ncomponents;
    for (int c = 0; same && c < l->ncomponents; c++)
        same = d->component[c] == l->component[c];
    if (!same)
        return err_set(e, ERR_ESTIMATE, "%s: its lambda components are not those of the ensemble", name);
    if (d->state != index)
        return err_set(e, ERR_ESTIMATE, "%s: samples of state %d, expected %d", name, d->state, index);
    if (d->temperature && fabs(d->temperature - l->temperature) > 1e-4 * l->temperature)
        return err_set(e, ERR_ESTIMATE, "%s: temperature %g K, expected %g K", name, d->temperature, l->temperature);
    if (d->nstates != l->nstates)
        return err_set(e, ERR_ESTIMATE, "%s: energy differences to %d %s, expected %d", name, d->nstates,
                       number_word(d->nstates, "state", "states"), l->nstates);
    for (int i = 0; i < l->nstates * l->ncomponents; i++)
        if (!near(d->states[i], l->lambda[i]))
            return err_set(e, ERR_ESTIMATE, "%s: %s of state %d is %.4f, expected %.4f", name,
                           lambda_names[l->component[i % l->ncomponents]].ours, i / l->ncomponents, d->states[i],
                           l->lambda[i]);
    return 0;
}

/* Column `column` of a table of `width` columns. */
static double *series(const double *table, size_t n, size_t width, size_t column)
{
    double *x = xcalloc(n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = table[i * width + column];
    return x;
}

/* Rows of window k: their energy differences to window j. One that is infinite counts as the largest that is not. */
static double *differences(const struct sampling *s, int k, int j)
{
    size_t n = sampling_count(s, k);
    double *x = series(s->u + s->start[k] * (size_t)s->nstates, n, (size_t)s->nstates, (size_t)j), most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        most = isfinite(x[i]) ? fmax(most, x[i]) : most;
    for (size_t i = 0; i < n; i++)
        x[i] = fmin(x[i], most);
    return x;
}

/* What drift and correlation are seen in: energy differences to the neighbouring windows (dH/dlambda when there are
 * none). */
static int observed(const struct sampling *s, int k, double *x[2])
{
    int n = 0;
    for (int direction = -1; direction <= 1; direction += 2) {
        int j = k + direction;
        while (j >= 0 && j < s->nstates && states_equal(s->lambda, s->ncomponents, j, k))
            j += direction;
        if (j >= 0 && j < s->nstates)
            x[n++] = differences(s, k, j);
    }
    if (!n && s->dhdl)
        x[n++] = series(s->dhdl, sampling_count(s, k), (size_t)s->ncomponents, 0);
    return n;
}

/* Of `lead` drifting rows at the start, those that means leave out: all or, by the rule of trust/discard.c, none where
 * they do not matter. */
static size_t left_out(const double *x, size_t n, size_t lead)
{
    if (!lead)
        return 0;
    double moved = fabs(stats_mean(x + lead, n - lead) - stats_mean(x, n));
    bool few = (double)n / stats_inefficiency(x, n) < ESTIMATE_UNCORRELATED;
    return few || moved > stats_mean_error(x, n) ? lead : 0;
}

/* Drift: the later end of those of the series, each tested at its part of the level. */
static void find_drift(struct window_result *w, const struct sampling *s, int k)
{
    double *x[2];
    size_t n = sampling_count(s, k);
    int nseries = observed(s, k, x);
    for (int i = 0; i < nseries; i++) {
        size_t lead = stats_drift(x[i], n, ESTIMATE_DRIFT_LEVEL / nseries);
        size_t out = left_out(x[i], n, lead);
        w->drift = lead > w->drift ? lead : w->drift;
        w->left_out = out > w->left_out ? out : w->left_out;
        free(x[i]);
    }
}

/* Inefficiency and what slow motions there are in the rows used: the worst of the series. */
static void measure_window(struct window_result *w, const struct sampling *s, int k)
{
    double *x[2];
    int nseries = observed(s, k, x);
    w->inefficiency = 1;
    w->visit = 1;
    for (int i = 0; i < nseries; i++) {
        w->inefficiency = fmax(w->inefficiency, stats_inefficiency(x[i], w->used));
        w->visit = fmin(w->visit, stats_visit(x[i], w->used));
        free(x[i]);
    }
    w->uncorrelated = (double)w->used / w->inefficiency;
}

void window_align(struct window_result *w, const struct sampling *s, int k)
{
    const size_t n = w->used - sampling_count(s, k);
    if (!n)
        return;
    window_drop(w, n, s, k);
    w->drift = w->left_out = 0;
    find_drift(w, s, k);
    w->drift += w->drift ? w->discarded : 0;
}

void window_drop(struct window_result *w, size_t n, const struct sampling *s, int k)
{
    w->discarded_ps += w->sampled_ps / (double)(w->used + w->discarded - 1) * (double)n;
    w->discarded += n;
    w->used -= n;
    if (w->used)
        measure_window(w, s, k);
}

static struct average average(const char *name, const char *unit, const double *x, size_t n)
{
    return (struct average){
        .name = xstrdup(name), .unit = unit, .value = stats_mean(x, n), .error = stats_mean_error(x, n)};
}

static void averages_of_dhdl(const struct ladder *l, struct window_result *w, const struct dhdl *d)
{
    size_t width = (size_t)d->ncomponents, n = d->n - w->left_out;
    if (!d->derivatives)
        return;
    w->dhdl = xcalloc(width, sizeof *w->dhdl);
    w->ndhdl = d->ncomponents;
    for (size_t c = 0; c < width; c++) {
        double *x = series(d->dhdl + w->left_out * width, n, width, c);
        w->dhdl[c] = average(lambda_names[l->component[c]].ours, "kilojoule_per_mole", x, n);
        free(x);
    }
}

static void add_rows(const struct ladder *l, struct sampling *s, int k, const struct dhdl *d)
{
    size_t ns = (size_t)s->nstates, nc = (size_t)s->ncomponents, first = s->start[k], n = d->n;
    s->start[k + 1] = first + n;
    s->u = xrealloc(s->u, (first + n) * ns, sizeof *s->u);
    s->time = xrealloc(s->time, first + n, sizeof *s->time);
    memcpy(s->time + first, d->time, n * sizeof *s->time);
    if (!d->derivatives) {
        free(s->dhdl);
        s->dhdl = NULL;
    }
    if (s->dhdl)
        s->dhdl = xrealloc(s->dhdl, (first + n) * nc, sizeof *s->dhdl);
    for (size_t i = 0; i < n; i++) {
        const double *dh = d->dh + i * ns;
        for (size_t j = 0; j < ns; j++)
            s->u[(first + i) * ns + j] = l->beta * (dh[j] - dh[k]);
        for (size_t c = 0; s->dhdl && c < nc; c++)
            s->dhdl[(first + i) * nc + c] = l->beta * d->dhdl[i * nc + c];
    }
}

static int take(struct result *r, const char *name, const struct dhdl *d, int index, struct sampling *s, struct err *e)
{
    struct window_result *w = r->windows + index;
    if (check_file(r->ladder, index, name, d, e))
        return -(int)e->code;
    if (d->n < ESTIMATE_FEWEST_ROWS && w->status == ESTIMATE_RUNNING) {
        w->status = ESTIMATE_WAITS;
        return 0;
    }
    if (d->n < ESTIMATE_FEWEST_ROWS)
        return err_set(e, ERR_ESTIMATE, "%s: %zu %s, expected %d or more", name, d->n,
                       number_word((int64_t)d->n, "sample", "samples"), ESTIMATE_FEWEST_ROWS);
    w->read = true;
    w->rows = d->seen;
    w->stride = d->stride;
    w->nonfinite = d->nonfinite;
    if (d->stretched && !r->stretched)
        r->stretched = xstrdup(d->stretched);
    w->used = d->n;
    w->sampled_ps = d->time[d->n - 1] - d->time[0];
    add_rows(r->ladder, s, index, d);
    find_drift(w, s, index);
    measure_window(w, s, index);
    w->used_from = d->time[w->left_out];
    averages_of_dhdl(r->ladder, w, d);
    w->times = xcalloc(w->used, sizeof *w->times);
    memcpy(w->times, d->time, w->used * sizeof *w->times);
    if (w->nonfinite)
        result_warn(r, "window %d: %zu of %zu samples %s dropped", index, w->nonfinite, w->rows,
                    number_word((int64_t)w->nonfinite, "is not finite and was", "are not finite and were"));
    if (d->slopeless)
        result_warn(r, "window %d: dH/dlambda of %zu of %zu samples is not finite: no answer of TI", index,
                    d->slopeless, w->rows);
    if (d->cut_short)
        result_warn(r, "window %d: the last line of dhdl.xvg is not whole and was left out", index);
    return 0;
}

static void fail(struct result *r, struct window_result *w, const struct err *e)
{
    if (e->code == ERR_BUSY)
        r->unread = *e;
    w->status = ESTIMATE_FAILED;
    snprintf(w->reason, sizeof w->reason, "%s", e->msg);
}

void window_take(struct result *r, const char *name, const struct dhdl *d, int index, struct sampling *s)
{
    struct err e = {0};
    if (take(r, name, d, index, s, &e))
        fail(r, r->windows + index, &e);
}

static int read_dhdl(struct result *r, const char *directory, const char *folder, int k,
                     const struct estimate_replica *replica, struct sampling *s, struct err *e)
{
    uint64_t bytes = replica->vouched ? replica->dhdl_bytes : XVG_ALL;
    struct buf path = {0};
    struct dhdl d = {0};
    char name[128];
    snprintf(name, sizeof name, "%s/dhdl.xvg", folder); /* messages say no more: results do not depend on the place */
    buf_printf(&path, "%s/%s", directory, name);
    int rc = dhdl_read_file(&d, name, path.data, bytes, window_most(r->ladder->nstates), e);
    if (!rc && replica->origin && !replica->origin_bytes)
        result_warn(
            r,
            "window %d: %s has no good checkpoint: of what was sampled before windows were added nothing is known "
            "but by the distance of rows, nor how far off its frames are",
            k, replica->origin);
    if (!rc && replica->origin)
        rc = frames_take(&r->windows[k].frames, r->ladder, &d, directory, replica, e);
    if (!rc)
        rc = take(r, name, &d, k, s, e);
    dhdl_close(&d);
    buf_free(&path);
    return rc;
}

/* Units of energy.xvg (engine/series/energy.c) by its legends: energies but for these. */
static const char *unit_of(const char *legend)
{
    static const char *const others[][2] = {{ENERGY_TEMPERATURE, "kelvin"},
                                            {ENERGY_PRESSURE, "bar"},
                                            {ENERGY_VOLUME, "nanometer ** 3"},
                                            {ENERGY_DENSITY, "kilogram / meter ** 3"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(legend, others[i][0]))
            return others[i][1];
    if (!strncmp(legend, ENERGY_COORDINATION, strlen(ENERGY_COORDINATION)))
        return "dimensionless";
    return "kilojoule_per_mole";
}

/* Means over the rows of energy.xvg from the time on from which rows of dhdl.xvg are used. Production starts at time 0,
 * rows of earlier stages have negative times. Where there is no dhdl.xvg the first column is tested for drift. */
static void average_energies(const struct result *r, struct window_result *w, const struct xvg *x)
{
    size_t width = (size_t)x->nlegends + 1, first = 0;
    while (first < x->nrows && x->v[first * width] < w->used_from)
        first++;
    if (!w->read && width > 1 && first < x->nrows) {
        double *v = series(x->v + first * width, x->nrows - first, width, 1);
        w->sampled_ps = x->v[(x->nrows - 1) * width] - x->v[first * width];
        first += left_out(v, x->nrows - first, stats_drift(v, x->nrows - first, ESTIMATE_DRIFT_LEVEL));
        free(v);
    }
    size_t n = x->nrows - first;
    if (!n)
        return;
    w->averages = xcalloc(width, sizeof *w->averages);
    for (size_t c = 1; c < width; c++) {
        if (walks_column(x->legend[c - 1]))
            continue;
        double *v = series(x->v + first * width, n, width, c);
        w->averages[w->naverages++] = average(x->legend[c - 1], unit_of(x->legend[c - 1]), v, n);
        free(v);
    }
    fluctuations_find(w, r->ladder, &r->bath, x, first);
}

static void read_energy(struct result *r, const char *directory, const char *folder, int k, uint64_t bytes,
                        struct sampling *s)
{
    struct buf path = {0};
    struct xvg x = {0};
    struct err e = {0};
    char name[128];
    snprintf(name, sizeof name, "%s/energy.xvg", folder);
    buf_printf(&path, "%s/%s", directory, name);
    if (xvg_read_file(&x, name, path.data, bytes, ESTIMATE_NUMBERS, &e)) {
        result_warn(r, "window %d: no averages: %s", k, e.msg);
        if (e.code == ERR_BUSY)
            r->unread = e;
    } else {
        average_energies(r, r->windows + k, &x);
        walks_take(r->windows + k, &x);
        if (r->wants_profiles)
            profile_take(r, k, r->windows[k].times, &x, s);
    }
    xvg_close(&x);
    buf_free(&path);
}

/* Of many the verdict speaks too. */
static void warn_of_moves(struct result *r, int k)
{
    double share = volume_refused_share(&r->windows[k].moves);
    if (share >= VOLUME_REFUSED_SOME)
        result_warn(
            r,
            "window %d: %.3g %% of its volume moves were refused, as they would have made the box narrower than its "
            "cut-off allows: its density is too low; take a larger box or a shorter cut-off",
            k, 100 * share);
}

void window_read(struct result *r, const char *directory, const char *folder, int index,
                 const struct estimate_replica *replica, struct sampling *s)
{
    struct window_result *w = r->windows + index;
    struct err e = {0};
    s->start[index + 1] = s->start[index];
    if (w->status == ESTIMATE_FAILED)
        return;
    if (replica->vouched && !replica->dhdl_bytes) {
        w->status = ESTIMATE_WAITS;
        return;
    }
    if (r->ladder->ncomponents && read_dhdl(r, directory, folder, index, replica, s, &e)) {
        fail(r, w, &e);
        return;
    }
    if (w->status == ESTIMATE_WAITS)
        return;
    warn_of_moves(r, index);
    read_energy(r, directory, folder, index, replica->vouched ? replica->energy_bytes : XVG_ALL, s);
    free(w->times);
    w->times = NULL;
}
