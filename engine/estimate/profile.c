/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles along coordinations, of umbrella windows: the free energy of finding a coordination in a bin if nothing were biased. A bin
 * is a state without samples, whose energy is that of a row's window less the biases within the bin, and infinite outside; so MBAR
 * gives its free energy and the error. (M. R. Shirts and J. D. Chodera, J. Chem. Phys. 129, 124105 (2008), eq. 11 and 15: a
 * potential of mean force by indicator functions. With bins narrow beside the biases WHAM has the same equations.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/json_writer.h"
#include "engine/estimate/result.h"

#define BINS 25      /* evenly over all but.. */
#define OUTSIDE 1e-3 /* ..this share of the rows at either end */
#define FEWEST 10    /* rows of a bin: with fewer nothing is known of its error */

/* ---- rows ---- */

static int coordinations_of(const struct xvg *x)
{
    int n = 0;
    for (int c = 0; c < x->nlegends; c++)
        n += !strncmp(x->legend[c], "Coordination ", 13);
    return n;
}

static void forget(struct sampling *s)
{
    free(s->along);
    s->along = NULL;
    s->nalong = -1;
}

void profile_take(struct result *r, int k, const double *time, const struct xvg *x, struct sampling *s)
{
    const size_t bias = xvg_column(x, "Bias"), first = s->start[k], n = sampling_count(s, k);
    const size_t width = (size_t)x->nlegends + 1, from = xvg_column(x, "Coordination 1");
    size_t row = 0;
    if (s->nalong < 0 || !n)
        return;
    if (!s->nalong)
        s->nalong = coordinations_of(x) + 1;
    s->along = xrealloc(s->along, (first + n) * (size_t)s->nalong, sizeof *s->along);
    for (size_t i = 0; i < n; i++) {
        while (row < x->nrows && x->v[row * width] < time[i])
            row++;
        if (!bias || !from || coordinations_of(x) + 1 != s->nalong || row == x->nrows || x->v[row * width] != time[i]) {
            result_warn(r, "window %d: no profile: energy.xvg has no coordination at %.4f ps, where dhdl.xvg has a row",
                        k, time[i]);
            forget(s);
            return;
        }
        double *to = s->along + (first + i) * (size_t)s->nalong;
        memcpy(to, x->v + row * width + from, (size_t)(s->nalong - 1) * sizeof *to);
        to[s->nalong - 1] = r->ladder->beta * x->v[row * width + bias];
    }
}

/* ---- bins ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* false: it hardly varies. */
static bool lay_bins(struct profile *p, const struct sampling *s, int coordination)
{
    const size_t n = s->start[s->nstates], stride = (size_t)s->nalong;
    double *v = xcalloc(n, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = s->along[i * stride + (size_t)coordination];
    qsort(v, n, sizeof *v, ascending);
    const size_t outside = (size_t)((double)n * OUTSIDE);
    *p = (struct profile){.coordination = coordination,
                          .from = v[outside],
                          .width = (v[n - 1 - outside] - v[outside]) / BINS,
                          .bins = xcalloc(BINS, sizeof *p->bins)};
    free(v);
    return p->width > 0;
}

/* BINS: outside of all. */
static size_t bin_of(const struct profile *p, double value)
{
    const double k = floor((value - p->from) / p->width);
    return k >= 0 && k < BINS ? (size_t)k : BINS;
}

/* Of the windows' rows every `thin`-th: their bins, and a state for each bin that has enough of them. */
static void fill_bins(struct profile *p, const struct sampling *s, size_t thin)
{
    for (int k = 0; k < s->nstates; k++)
        for (size_t i = s->start[k]; i < s->start[k + 1]; i += thin) {
            const size_t bin = bin_of(p, s->along[i * (size_t)s->nalong + (size_t)p->coordination]);
            if (bin < BINS)
                p->bins[bin].rows++;
        }
    for (int b = 0; b < BINS; b++)
        p->bins[b].state = p->bins[b].rows < FEWEST ? -1 : s->nstates + p->nbins++;
}

/* The energies of one row in all states, from those in the windows. */
static void energies_of(const struct profile *p, const struct sampling *s, size_t row, double *u, int nstates)
{
    const double *along = s->along + row * (size_t)s->nalong;
    const size_t bin = bin_of(p, along[p->coordination]);
    memcpy(u, s->u + row * (size_t)s->nstates, (size_t)s->nstates * sizeof *u);
    for (int state = s->nstates; state < nstates; state++)
        u[state] = INFINITY;
    if (bin < BINS && p->bins[bin].state >= 0)
        u[p->bins[bin].state] = -along[s->nalong - 1];
}

/* Those rows, with the states of bins behind those of windows. */
static void with_bins(const struct profile *p, const struct sampling *s, size_t thin, struct sampling *t)
{
    const int n = s->nstates + p->nbins;
    size_t at = 0;
    *t = (struct sampling){.nstates = n, .together = s->together, .start = xcalloc((size_t)n + 1, sizeof *t->start)};
    t->u = xcalloc((s->start[s->nstates] / thin + (size_t)n) * (size_t)n, sizeof *t->u);
    for (int k = 0; k < n; k++) {
        for (size_t i = k < s->nstates ? s->start[k] : SIZE_MAX; k < s->nstates && i < s->start[k + 1]; i += thin)
            energies_of(p, s, i, t->u + at++ * (size_t)n, n);
        t->start[k + 1] = at;
    }
}

/* Free energies of the bins less that of the lowest. */
static void fill(struct profile *p, const struct mbar *m)
{
    int lowest = -1;
    for (int b = 0; b < BINS; b++)
        if (p->bins[b].state >= 0 && (lowest < 0 || m->solution.g[p->bins[b].state] < m->solution.g[lowest]))
            lowest = p->bins[b].state;
    for (int b = 0; b < BINS; b++)
        if (p->bins[b].state >= 0) {
            p->bins[b].f = (struct range){.from = lowest, .to = p->bins[b].state};
            solution_range(&m->solution, &p->bins[b].f);
        }
}

static void find(struct result *r, struct profile *p, const struct sampling *s, int coordination, const double *g)
{
    const size_t numbers = s->start[s->nstates] * (size_t)(s->nstates + BINS);
    const size_t thin = 1 + numbers / ESTIMATE_NUMBERS;
    struct sampling t = {0};
    struct mbar m = {0};
    struct err e = {0};
    if (!lay_bins(p, s, coordination))
        return;
    fill_bins(p, s, thin);
    with_bins(p, s, thin, &t);
    double *guess = xcalloc((size_t)t.nstates, sizeof *guess);
    memcpy(guess, g, (size_t)s->nstates * sizeof *guess);
    if (mbar_solve(&m, &t, guess, &e))
        result_warn(r, "no profile along coordination %d: %s", coordination + 1, e.msg);
    else
        fill(p, &m);
    free(guess);
    mbar_close(&m);
    sampling_close(&t);
}

void profiles_find(struct result *r, const struct sampling *s, const double *g)
{
    if (!r->wants_profiles || s->nalong < 2 || !s->along)
        return;
    r->profiles = xcalloc((size_t)s->nalong - 1, sizeof *r->profiles);
    for (; r->nprofiles < s->nalong - 1; r->nprofiles++)
        find(r, r->profiles + r->nprofiles, s, r->nprofiles, g);
}

void profiles_close(struct result *r)
{
    for (int i = 0; i < r->nprofiles; i++)
        free(r->profiles[i].bins);
    free(r->profiles);
}

/* ---- results.json ---- */

static void write_bins(struct writer *w, const struct ladder *l, const struct profile *p)
{
    jw_begin(w, "bins", '[');
    for (int b = 0; b < BINS; b++) {
        const struct profile_bin *bin = &p->bins[b];
        if (bin->state < 0 || !bin->f.ok)
            continue;
        jw_begin(w, NULL, '{');
        jw_real(w, "from", p->from + b * p->width);
        jw_real(w, "to", p->from + (b + 1) * p->width);
        jw_integer(w, "rows", bin->rows);
        jw_energy(w, "free_energy", l->beta, bin->f.value, bin->f.error);
        jw_end(w, '}');
    }
    jw_end(w, ']');
}

void profiles_write(struct writer *w, const struct report *r)
{
    if (!r->repeats->wants_profiles)
        return;
    jw_begin(w, "profiles", '[');
    for (int i = 0; i < r->nrepeats; i++) {
        const struct result *x = r->repeats + i;
        for (int k = 0; k < x->nprofiles; k++) {
            const struct verdict *v = &x->estimators[ESTIMATOR_MBAR].verdict;
            if (v->kind == VERDICT_FAILED)
                continue;
            jw_begin(w, NULL, '{');
            jw_integer(w, "repeat", (size_t)i);
            jw_integer(w, "coordination", (size_t)k + 1);
            jw_text(w, "verdict", verdict_words[v->kind]);
            write_bins(w, r->ladder, x->profiles + k);
            jw_end(w, '}');
        }
    }
    jw_end(w, ']');
}
