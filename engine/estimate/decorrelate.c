/* SPDX-License-Identifier: Apache-2.0
 *
 * One window's files -> uncorrelated samples and averages.
 */
#include "engine/estimate/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"

#define FEW_SAMPLES 50 /* error estimates from fewer are rough */

/* The whole file `name` of the directory. Messages say the name alone: results do not depend on where they are made. */
static int read_file(struct buf *text, const char *directory, const char *name, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", directory, name);
    int rc = buf_read_file(text, path.data, e);
    if (rc)
        rc = err_errno(e, "%s", name);
    buf_free(&path);
    return rc;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 0.51e-4; /* dhdl.xvg has 4 decimals */
}

/* The file must be of this window of this ladder at this temperature. */
static int check_file(const struct result *r, int index, const char *name, const struct dhdl *d, struct err *e)
{
    const struct ladder *l = &r->ladder;
    double temperature = r->set->integrator.temperature;
    bool same = d->ncomponents == l->ncomponents;
    for (int c = 0; same && c < l->ncomponents; c++)
        same = d->component[c] == l->file[c];
    if (!same)
        return err_set(e, ERR_ESTIMATE, "%s: its lambda components are not those of the ensemble", name);
    if (d->state != index)
        return err_set(e, ERR_ESTIMATE, "%s: samples of state %d, expected %d", name, d->state, index);
    if (d->temperature && fabs(d->temperature - temperature) > 1e-4 * temperature)
        return err_set(e, ERR_ESTIMATE, "%s: temperature %g K, expected %g K", name, d->temperature, temperature);
    if (d->nstates != l->nstates)
        return err_set(e, ERR_ESTIMATE, "%s: energy differences to %d states, expected %d", name, d->nstates,
                       l->nstates);
    for (int i = 0; i < l->nstates * l->ncomponents; i++)
        if (!near(d->states[i], l->lambda[i]))
            return err_set(e, ERR_ESTIMATE, "%s: %s of state %d is %.4f, expected %.4f", name,
                           l->name[i % l->ncomponents], i / l->ncomponents, d->states[i], l->lambda[i]);
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

/* Cut and inefficiency from the energy differences to the neighbouring windows (from dH/dlambda when there are none):
 * the later start and the larger g of the two. */
static void decorrelate(struct window_result *w, const struct dhdl *d, int index)
{
    double *x[2];
    int nseries = 0;
    if (index > 0)
        x[nseries++] = series(d->dh, d->n, (size_t)d->nstates, (size_t)index - 1);
    if (index + 1 < d->nstates)
        x[nseries++] = series(d->dh, d->n, (size_t)d->nstates, (size_t)index + 1);
    if (!nseries)
        x[nseries++] = series(d->dhdl, d->n, (size_t)d->ncomponents, 0);
    for (int i = 0; i < nseries; i++) {
        size_t start = stats_equilibration(x[i], d->n);
        if (start > w->equilibration)
            w->equilibration = start;
    }
    w->inefficiency = 1;
    for (int i = 0; i < nseries; i++) {
        w->inefficiency = fmax(w->inefficiency, stats_inefficiency(x[i] + w->equilibration, d->n - w->equilibration));
        free(x[i]);
    }
    w->equilibrated = d->time[w->equilibration];
    w->equilibration_ps = w->equilibrated - d->time[0];
}

static void averages_of_dhdl(const struct result *r, struct window_result *w, const struct dhdl *d, const size_t *index)
{
    size_t width = (size_t)d->ncomponents;
    if (!d->derivatives || !w->used)
        return;
    double *x = xcalloc(w->used, sizeof *x);
    w->dhdl = xcalloc(width, sizeof *w->dhdl);
    w->ndhdl = d->ncomponents;
    for (size_t c = 0; c < width; c++) {
        for (size_t i = 0; i < w->used; i++)
            x[i] = d->dhdl[index[i] * width + c];
        w->dhdl[c] = (struct average){.name = xstrdup(r->ladder.name[c]),
                                      .value = stats_mean(x, w->used),
                                      .error = sqrt(stats_variance(x, w->used) / (double)w->used)};
    }
    free(x);
}

static void add_samples(const struct result *r, struct sampling *s, int k, const struct dhdl *d, const size_t *index,
                        size_t n)
{
    size_t ns = (size_t)s->nstates, nc = (size_t)s->ncomponents, first = s->start[k];
    s->start[k + 1] = first + n;
    s->u = xrealloc(s->u, (first + n) * ns, sizeof *s->u);
    if (!d->derivatives) {
        free(s->dhdl);
        s->dhdl = NULL;
    }
    if (s->dhdl)
        s->dhdl = xrealloc(s->dhdl, (first + n) * nc, sizeof *s->dhdl);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < ns; j++)
            s->u[(first + i) * ns + j] = r->beta * (d->dh[index[i] * ns + j] - d->dh[index[i] * ns + (size_t)k]);
        for (size_t c = 0; s->dhdl && c < nc; c++)
            s->dhdl[(first + i) * nc + c] = r->beta * d->dhdl[index[i] * nc + c];
    }
}

static void warnings(struct result *r, int k, const struct dhdl *d)
{
    const struct window_result *w = r->windows + k;
    if (w->nonfinite)
        result_warn(r, "window %d: %zu of %zu samples are not finite and were dropped", k, w->nonfinite, w->rows);
    if (d->cut_short)
        result_warn(r, "window %d: the last line of dhdl.xvg is not whole and was left out", k);
    if (w->used < FEW_SAMPLES)
        result_warn(r, "window %d: only %zu uncorrelated samples; errors are rough below %d", k, w->used, FEW_SAMPLES);
    if (2 * w->equilibration > d->n)
        result_warn(r, "window %d: more than half of it looks like equilibration; it needs longer", k);
}

static int read_dhdl(struct result *r, const char *directory, int k, struct sampling *s, struct err *e)
{
    struct window_result *w = r->windows + k;
    struct buf text = {0};
    struct dhdl d = {0};
    char name[64];
    snprintf(name, sizeof name, "lambda_%02d/dhdl.xvg", k);
    int rc = read_file(&text, directory, name, e);
    if (!rc)
        rc = dhdl_read(&d, name, text.data, text.len, e);
    if (!rc)
        rc = check_file(r, k, name, &d, e);
    if (!rc && !d.n)
        rc = err_set(e, ERR_ESTIMATE, "%s: no samples", name);
    if (!rc) {
        size_t *index = xcalloc(d.n, sizeof *index);
        w->read = true;
        w->rows = d.n + d.nonfinite;
        w->nonfinite = d.nonfinite;
        decorrelate(w, &d, k);
        w->used = stats_subsample(w->equilibration, d.n, w->inefficiency, index);
        averages_of_dhdl(r, w, &d, index);
        add_samples(r, s, k, &d, index, w->used);
        warnings(r, k, &d);
        free(index);
    }
    dhdl_close(&d);
    buf_free(&text);
    return rc;
}

/* Means over the rows of energy.xvg from the time on at which dhdl.xvg is equilibrated. Production starts at time 0,
 * rows of earlier stages have negative times. Where there is no dhdl.xvg the first column tells the equilibration. */
static void average_energies(struct window_result *w, const struct xvg *x)
{
    size_t width = (size_t)x->nlegends + 1, first = 0;
    while (first < x->nrows && x->v[first * width] < w->equilibrated)
        first++;
    if (!w->read && width > 1 && first < x->nrows) {
        double *v = series(x->v + first * width, x->nrows - first, width, 1);
        first += stats_equilibration(v, x->nrows - first);
        free(v);
    }
    size_t n = x->nrows - first;
    if (!n)
        return;
    w->averages = xcalloc(width, sizeof *w->averages);
    w->naverages = x->nlegends;
    for (size_t c = 1; c < width; c++) {
        double *v = series(x->v + first * width, n, width, c);
        w->averages[c - 1] =
            (struct average){.name = xstrdup(x->legend[c - 1]),
                             .value = stats_mean(v, n),
                             .error = sqrt(stats_variance(v, n) * stats_inefficiency(v, n) / (double)n)};
        free(v);
    }
}

static void read_energy(struct result *r, const char *directory, int k)
{
    struct buf text = {0};
    struct xvg x = {0};
    struct err e = {0};
    char name[64];
    snprintf(name, sizeof name, "lambda_%02d/energy.xvg", k);
    if (read_file(&text, directory, name, &e) || xvg_read(&x, name, text.data, text.len, &e))
        result_warn(r, "window %d: no averages: %s", k, e.msg);
    else
        average_energies(r->windows + k, &x);
    xvg_close(&x);
    buf_free(&text);
}

void estimate_read_window(struct result *r, const char *directory, int index, struct sampling *s)
{
    struct window_result *w = r->windows + index;
    struct err e = {0};
    s->start[index + 1] = s->start[index];
    w->status = w->replica->kind;
    snprintf(w->reason, sizeof w->reason, "%s", w->replica->reason ? w->replica->reason : "");
    if (w->status == ESTIMATE_FAILED)
        return;
    if (r->ladder.ncomponents && read_dhdl(r, directory, index, s, &e)) {
        w->status = ESTIMATE_FAILED;
        snprintf(w->reason, sizeof w->reason, "%s", e.msg);
        return;
    }
    read_energy(r, directory, index);
}
