/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/estimate/parts.h"

void solution_init(struct solution *x, int nstates, const struct sampling *s)
{
    size_t n = (size_t)nstates;
    *x = (struct solution){.nstates = nstates,
                           .together = s->together,
                           .g = xcalloc(n, sizeof *x->g),
                           .influence = xcalloc((size_t)s->nstates + 1, sizeof *x->influence),
                           .bend = xcalloc(n, sizeof *x->bend),
                           .blind = xcalloc(n, sizeof *x->blind)};
    x->influence[s->nstates].rows = SIZE_MAX; /* the end, for solution_close */
}

void solution_begin(struct solution *x, int window, size_t rows)
{
    struct influence *i = x->influence + window;
    i->rows = rows;
    i->block = stats_block(rows);
    i->nblocks = rows / i->block;
    i->mean = xcalloc(i->nblocks * (size_t)x->nstates, sizeof *i->mean);
}

/* The block of a row; NULL for the few rows after the last whole one. */
static double *block_of(const struct solution *x, int window, size_t row)
{
    const struct influence *i = x->influence + window;
    size_t block = row / i->block;
    return block < i->nblocks ? i->mean + block * (size_t)x->nstates : NULL;
}

void solution_add(struct solution *x, int window, size_t row, const double *value)
{
    double *mean = block_of(x, window, row), scale = 1 / (double)x->influence[window].block;
    for (int k = 0; mean && k < x->nstates; k++)
        mean[k] += scale * value[k];
}

void solution_add_chain(struct solution *x, int window, size_t row, double left, double right)
{
    double *mean = block_of(x, window, row), scale = 1 / (double)x->influence[window].block;
    for (int k = window; mean && k < x->nstates; k++)
        mean[k] += scale * (left + (k > window ? right : 0));
}

/* Adds what the rows of one window bring into g(to) - g(from), block by block. */
static void add_influence(const struct solution *x, int window, int from, int to, double sign, double *series)
{
    const struct influence *i = x->influence + window;
    size_t n = (size_t)x->nstates;
    for (size_t j = 0; j < i->nblocks; j++)
        series[j] += sign * (i->mean[j * n + (size_t)to] - i->mean[j * n + (size_t)from]);
}

/* Variance of a sum of rows from the series of their blocks' means, as many blocks as `i` has. */
static struct longrun variance_of(const struct influence *i, const double *series)
{
    bool moves = false;
    for (size_t j = 0; j < i->nblocks; j++)
        moves = moves || series[j] != 0;
    struct longrun l = moves ? stats_longrun(series, i->nblocks) : (struct longrun){0, 1};
    l.variance *= (double)(i->rows * i->block);
    return l;
}

/* Of a, less b where there is one. */
static double error_of(const struct solution *a, const struct solution *b, int from, int to)
{
    const struct influence *last = NULL;
    double variance = 0, *series = NULL;
    for (int w = 0; a->influence[w].rows != SIZE_MAX; w++) {
        const struct influence *i = a->influence + w;
        if (!i->nblocks)
            continue;
        if (!series || !a->together) {
            free(series);
            series = xcalloc(i->nblocks, sizeof *series);
        }
        add_influence(a, w, from, to, 1, series);
        if (b)
            add_influence(b, w, from, to, -1, series);
        if (!a->together)
            variance += variance_of(i, series).variance;
        last = i;
    }
    if (a->together && last)
        variance = variance_of(last, series).variance;
    free(series);
    return sqrt(variance);
}

static void copy_state(struct solution *x, int from, int to)
{
    size_t n = (size_t)x->nstates;
    x->g[to] = x->g[from];
    x->bend[to] = x->bend[from];
    x->blind[to] = x->blind[from];
    for (struct influence *i = x->influence; i->rows != SIZE_MAX; i++)
        for (size_t j = 0; j < i->nblocks; j++)
            i->mean[j * n + (size_t)to] = i->mean[j * n + (size_t)from];
}

void solution_twins(struct solution *x, const struct sampling *s)
{
    for (int k = 0; k < s->nstates; k++)
        for (int j = 0; j < s->nstates && !sampling_count(s, k); j++)
            if (sampling_count(s, j) && states_equal(s->lambda, s->ncomponents, j, k))
                copy_state(x, j, k);
}

void solution_range(const struct solution *x, struct range *r)
{
    r->value = x->g[r->to] - x->g[r->from];
    r->ok = isfinite(r->value);
    r->error = r->quadrature = 0;
    if (!r->ok)
        return;
    r->quadrature = fabs(x->bend[r->to] - x->bend[r->from]) + x->blind[r->to] - x->blind[r->from];
    r->error = hypot(error_of(x, NULL, r->from, r->to), r->quadrature);
}

double solution_difference_error(const struct solution *a, const struct solution *b, int from, int to)
{
    return error_of(a, b, from, to);
}

double *solution_pooled(const struct solution *x, int from, int to, size_t *n)
{
    *n = SIZE_MAX;
    for (int w = 0; x->influence[w].rows != SIZE_MAX; w++)
        if (x->influence[w].nblocks && x->influence[w].nblocks < *n)
            *n = x->influence[w].nblocks;
    *n = *n == SIZE_MAX ? 0 : *n;
    double *sum = xcalloc(*n, sizeof *sum);
    for (int w = 0; x->influence[w].rows != SIZE_MAX; w++) {
        size_t blocks = x->influence[w].nblocks;
        double *series = xcalloc(blocks, sizeof *series);
        add_influence(x, w, from, to, (double)x->influence[w].rows, series);
        for (size_t i = 0; i < *n && blocks; i++) {
            size_t first = i * blocks / *n, last = (i + 1) * blocks / *n;
            sum[i] += stats_mean(series + first, last - first);
        }
        free(series);
    }
    return sum;
}

struct longrun solution_part(const struct solution *x, int window, int from, int to)
{
    const struct influence *i = x->influence + window;
    double *series = xcalloc(i->nblocks, sizeof *series);
    add_influence(x, window, from, to, 1, series);
    struct longrun l = variance_of(i, series);
    free(series);
    return l;
}

void solution_close(struct solution *x)
{
    for (int w = 0; x->influence && x->influence[w].rows != SIZE_MAX; w++)
        free(x->influence[w].mean);
    free(x->influence);
    free(x->g);
    free(x->bend);
    free(x->blind);
    *x = (struct solution){0};
}
