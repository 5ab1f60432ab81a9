/* SPDX-License-Identifier: Apache-2.0
 *
 * What MBAR's error would be of other numbers of rows: the influences of its rows as in mbar.c, with every window's
 * rows standing for as many as are asked for. Weights change with the numbers, and so does what a row of every window
 * brings: where rows are correlated that is no small part of it. Of each window some rows are enough, as far apart as
 * they can be; g is that of its influences now.
 */
#include "engine/estimate/estimators/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/estimate/estimators/linear_algebra.h"

#define ROWS 200 /* of a window */

struct forecast {
    int nstates, from, to;
    size_t *start; /* [nstates + 1] rows of each window, as in struct sampling */
    double *q;     /* [rows][nstates] exp(f_k - u_nk), over the largest of the row */
    double *rows;  /* [nstates] that were sampled */
    double *g;     /* [nstates] */
    double *space; /* [nstates (nstates + 3)] */
};

static void keep_row(struct forecast *f, const struct sampling *s, const double *g, size_t row, double *q)
{
    size_t n = (size_t)f->nstates;
    double top = -INFINITY;
    for (size_t k = 0; k < n; k++)
        top = fmax(top, g[k] - s->u[row * n + k]);
    for (size_t k = 0; k < n; k++)
        q[k] = exp(g[k] - s->u[row * n + k] - top);
}

static void keep_rows(struct forecast *f, const struct sampling *s, const double *g)
{
    size_t n = (size_t)f->nstates;
    for (size_t k = 0; k < n; k++) {
        size_t count = sampling_count(s, (int)k), kept = count < ROWS ? count : ROWS;
        f->rows[k] = (double)count;
        f->start[k + 1] = f->start[k] + kept;
        f->q = xrealloc(f->q, f->start[k + 1] * n + 1, sizeof *f->q);
        for (size_t i = 0; i < kept; i++)
            keep_row(f, s, g, s->start[k] + i * count / kept, f->q + (f->start[k] + i) * n);
    }
}

/* p_nk of one row, where `count` rows are sampled. */
static void forecast_weights(const struct forecast *f, const double *count, size_t row, double *p)
{
    size_t n = (size_t)f->nstates;
    const double *q = f->q + row * n;
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += count[k] * q[k];
    for (size_t k = 0; k < n; k++)
        p[k] = count[k] * q[k] / sum;
}

/* z with H z = c: H the Hessian of mbar.c, c the difference of the ends. Its rows add up to nothing, whatever few rows
 * are summed: z of the first end is 0. */
static bool solve_ends(const struct forecast *f, const double *count, double *z)
{
    size_t n = (size_t)f->nstates, first = (size_t)f->from;
    double *h = f->space, *p = h + n * n;
    for (size_t i = 0; i < n * n; i++)
        h[i] = 0;
    for (size_t k = 0; k < n; k++) {
        double share = count[k] / (double)(f->start[k + 1] - f->start[k]);
        for (size_t row = f->start[k]; row < f->start[k + 1]; row++) {
            forecast_weights(f, count, row, p);
            for (size_t i = 0; i < n; i++) {
                h[i * n + i] += share * p[i];
                for (size_t j = 0; j <= i; j++)
                    h[i * n + j] -= share * p[i] * p[j];
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            if (i == first || j == first)
                h[i * n + j] = i == j;
        if (!(count[i] > 0))
            h[i * n + i] = 1; /* nobody feels it */
        z[i] = (int)i == f->to;
    }
    return linalg_cholesky(h, z, f->nstates);
}

/* Variance of z p_n over the rows of a window. */
static double spread(const struct forecast *f, const double *count, const double *z, size_t k)
{
    size_t n = (size_t)f->nstates, rows = f->start[k + 1] - f->start[k];
    double *p = f->space + n * n, mean = 0, square = 0;
    for (size_t row = f->start[k]; row < f->start[k + 1]; row++) {
        double value = 0;
        forecast_weights(f, count, row, p);
        for (size_t j = 0; j < n; j++)
            value += z[j] * p[j];
        mean += value / (double)rows;
        square += value * value / (double)rows;
    }
    return fmax(square - mean * mean, 0);
}

/* Variance of the ends' difference; `parts`: [nstates] of each window, or NULL. */
static double variance(const struct forecast *f, const double *count, double *parts)
{
    size_t n = (size_t)f->nstates;
    double *z = f->space + n * n + n, sum = 0;
    if (!solve_ends(f, count, z))
        return INFINITY;
    for (size_t k = 0; k < n; k++) {
        double part = f->start[k + 1] > f->start[k] ? count[k] * f->g[k] * spread(f, count, z, k) : 0;
        if (parts)
            parts[k] = part;
        sum += part;
    }
    return isfinite(sum) ? sum : INFINITY;
}

/* g of what each row brings; one that is known badly is taken a standard error too large, none is taken below 1. */
static void find_g(struct forecast *f, const struct longrun *part)
{
    double *now = xcalloc((size_t)f->nstates, sizeof *now);
    variance(f, f->rows, now);
    for (int k = 0; k < f->nstates; k++)
        if (now[k] > 0 && part[k].dof > 0)
            f->g[k] = fmax(part[k].variance / now[k], 1) * (1 + sqrt(2 / part[k].dof));
    free(now);
}

struct forecast *forecast_new(const struct sampling *s, const double *g, const struct longrun *part, int from, int to)
{
    struct forecast *f = xcalloc(1, sizeof *f);
    size_t n = (size_t)s->nstates;
    *f = (struct forecast){.nstates = s->nstates,
                           .from = from,
                           .to = to,
                           .start = xcalloc(n + 1, sizeof *f->start),
                           .rows = xcalloc(n, sizeof *f->rows),
                           .g = xcalloc(n, sizeof *f->g),
                           .space = xcalloc(n * (n + 3), sizeof *f->space)};
    for (size_t k = 0; k < n; k++)
        f->g[k] = 1;
    keep_rows(f, s, g);
    find_g(f, part);
    return f;
}

double forecast_variance(const struct forecast *f, const double *times)
{
    size_t n = (size_t)f->nstates;
    double *count = f->space + n * n + 2 * n;
    for (size_t k = 0; k < n; k++)
        count[k] = times[k] * f->rows[k];
    return variance(f, count, NULL);
}

void forecast_free(struct forecast *f)
{
    if (!f)
        return;
    free(f->start);
    free(f->q);
    free(f->rows);
    free(f->g);
    free(f->space);
    free(f);
}
