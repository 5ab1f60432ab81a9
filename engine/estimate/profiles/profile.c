/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles along coordinations, of umbrella windows: the free energy of finding a coordination in a bin if nothing were
 * biased. A bin is a state without samples, whose energy is that of a row's window less the biases within the bin, and
 * infinite outside; so MBAR gives its free energy and the error. (M. R. Shirts and J. D. Chodera, J. Chem. Phys. 129,
 * 124105 (2008), eq. 11 and 15: a potential of mean force by indicator functions. With bins narrow beside the biases
 * WHAM has the same equations.)
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/estimate/estimators/mbar.h"
#include "engine/estimate/profiles/profiles.h"
#include "engine/series/legends.h"

#define BINS 25           /* of equal width, over the first repeat's rows without OUTSIDE at either end */
#define OUTSIDE 1e-3      /* share of the first repeat's rows left out at either end */
#define BEYOND (2 * BINS) /* bins of that width, at most, that another repeat has below and above them */
#define FEWEST 10         /* rows of a bin: with fewer nothing is known of its error */

/* ---- rows ---- */

static int coordinations_of(const struct xvg *x)
{
    int n = 0;
    for (int c = 0; c < x->nlegends; c++)
        n += !strncmp(x->legend[c], ENERGY_COORDINATION, strlen(ENERGY_COORDINATION));
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
    const size_t bias = xvg_column(x, ENERGY_BIAS), first = s->start[k], n = sampling_count(s, k);
    const size_t width = (size_t)x->nlegends + 1, from = xvg_column(x, ENERGY_COORDINATION "1");
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

void profile_bins(struct free_energy_profile *p, int first, int last, int nwindows)
{
    p->first = first;
    p->n = last - first + 1;
    p->bins = xcalloc((size_t)p->n, sizeof *p->bins);
    for (int b = 0; b < p->n; b++)
        p->bins[b] = (struct profile_bin){.rows = xcalloc((size_t)nwindows, sizeof(size_t)), .state = -1};
}

/* The edge between bins that is the nearest to a value. */
static int edge_at(const struct free_energy_profile *p, double value)
{
    return (int)fmax(-BEYOND, fmin(BINS + BEYOND, rint((value - p->from) / p->width)));
}

/* Of the first repeat before that has bins along the coordination; NULL: none has. */
static const struct free_energy_profile *bins_before(const struct result *r, int coordination)
{
    for (r = r->before; r; r = r->before)
        if (coordination < r->nprofiles && r->profiles[coordination].width > 0)
            return &r->profiles[coordination];
    return NULL;
}

/* Over the rows' values, as wide as those of `like` and in line with them, if it is given. False: it hardly varies. */
static bool lay_bins(struct free_energy_profile *p, const struct sampling *s, const struct free_energy_profile *like)
{
    const size_t n = s->start[s->nstates], stride = (size_t)s->nalong;
    double *v = xcalloc(n, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = s->along[i * stride + (size_t)p->coordination];
    qsort(v, n, sizeof *v, ascending);
    const size_t outside = (size_t)((double)n * OUTSIDE);
    const double low = v[outside], high = v[n - 1 - outside];
    free(v);
    p->from = like ? like->from : low;
    p->width = like ? like->width : (high - low) / BINS;
    if (!(p->width > 0))
        return false;
    const int first = edge_at(p, low), last = edge_at(p, high) - 1;
    profile_bins(p, first, last > first ? last : first, s->nstates);
    return true;
}

/* NULL: outside of all. */
static struct profile_bin *bin_of(const struct free_energy_profile *p, double value)
{
    const double k = floor((value - p->from) / p->width) - p->first;
    return k >= 0 && k < p->n ? &p->bins[(int)k] : NULL;
}

static size_t rows_of(const struct profile_bin *bin, int nwindows)
{
    size_t sum = 0;
    for (int k = 0; k < nwindows; k++)
        sum += bin->rows[k];
    return sum;
}

/* Of the windows' rows every `thin`-th: their bins, and a state for each bin that has enough of them. */
static void fill_bins(struct free_energy_profile *p, const struct sampling *s, size_t thin)
{
    for (int k = 0; k < s->nstates; k++)
        for (size_t i = s->start[k]; i < s->start[k + 1]; i += thin) {
            struct profile_bin *bin = bin_of(p, s->along[i * (size_t)s->nalong + (size_t)p->coordination]);
            if (bin)
                bin->rows[k]++;
        }
    for (int b = 0; b < p->n; b++)
        if (rows_of(&p->bins[b], s->nstates) >= FEWEST)
            p->bins[b].state = s->nstates + p->nstates++;
}

/* The energies of one row in all states, from those in the windows. */
static void energies_of(const struct free_energy_profile *p, const struct sampling *s, size_t row, double *u,
                        int nstates)
{
    const double *along = s->along + row * (size_t)s->nalong;
    const struct profile_bin *bin = bin_of(p, along[p->coordination]);
    memcpy(u, s->u + row * (size_t)s->nstates, (size_t)s->nstates * sizeof *u);
    for (int state = s->nstates; state < nstates; state++)
        u[state] = INFINITY;
    if (bin && bin->state >= 0)
        u[bin->state] = -along[s->nalong - 1];
}

/* Those rows, with the states of bins behind those of windows. */
static void with_bins(const struct free_energy_profile *p, const struct sampling *s, size_t thin, struct sampling *t)
{
    const int n = s->nstates + p->nstates;
    size_t at = 0;
    *t = (struct sampling){.nstates = n, .together = s->together, .start = xcalloc((size_t)n + 1, sizeof *t->start)};
    t->u = xcalloc((s->start[s->nstates] / thin + (size_t)n) * (size_t)n, sizeof *t->u);
    for (int k = 0; k < n; k++) {
        for (size_t i = k < s->nstates ? s->start[k] : SIZE_MAX; k < s->nstates && i < s->start[k + 1]; i += thin)
            energies_of(p, s, i, t->u + at++ * (size_t)n, n);
        t->start[k + 1] = at;
    }
}

static void find(struct result *r, struct free_energy_profile *p, const struct sampling *s, const double *g)
{
    struct sampling t = {0};
    struct mbar m = {0};
    struct err e = {0};
    if (!lay_bins(p, s, bins_before(r, p->coordination)))
        return;
    const size_t thin = 1 + s->start[s->nstates] * (size_t)(s->nstates + p->n) / ESTIMATE_NUMBERS;
    fill_bins(p, s, thin);
    with_bins(p, s, thin, &t);
    double *guess = xcalloc((size_t)t.nstates, sizeof *guess);
    memcpy(guess, g, (size_t)s->nstates * sizeof *guess);
    p->solved = !mbar_solve(&m, &t, guess, &e);
    if (p->solved) {
        p->solution = m.solution;
        m.solution = (struct solution){0};
    } else {
        result_warn(r, "no profile along coordination %d: %s", p->coordination + 1, e.msg);
    }
    free(guess);
    mbar_close(&m);
    sampling_close(&t);
}

void profiles_find(struct result *r, const struct sampling *s, const double *g)
{
    if (!r->wants_profiles || s->nalong < 2 || !s->along)
        return;
    r->profiles = xcalloc((size_t)s->nalong - 1, sizeof *r->profiles);
    for (int k = 0; k < s->nalong - 1; k++) {
        r->profiles[k].coordination = k;
        find(r, &r->profiles[k], s, g);
        r->nprofiles++;
    }
}
