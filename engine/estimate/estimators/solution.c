/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/estimate/estimators/solution.h"

void solution_init(struct solution *x, int nstates, const struct sampling *s)
{
    size_t n = (size_t)nstates;
    *x = (struct solution){.nstates = nstates,
                           .together = s->together,
                           .place = s->place,
                           .run = s->run,
                           .g = xcalloc(n, sizeof *x->g),
                           .influence = xcalloc((size_t)s->nstates + 1, sizeof *x->influence),
                           .bend = xcalloc(n, sizeof *x->bend),
                           .blind = xcalloc(n, sizeof *x->blind)};
    x->influence[s->nstates].rows = SIZE_MAX; /* the end, for solution_close */
}

void solution_part(struct solution *x, size_t first, size_t run)
{
    x->first = first;
    x->run = run;
}

void solution_begin(struct solution *x, int window, size_t first, size_t rows)
{
    struct influence *i = x->influence + window;
    const size_t n = x->place ? x->run : rows;
    i->rows = rows;
    i->from = first;
    i->block = stats_block(n);
    i->nblocks = n / i->block;
    i->mean = xcalloc(i->nblocks * (size_t)x->nstates, sizeof *i->mean);
    i->within = x->place ? xcalloc(i->nblocks, sizeof *i->within) : NULL;
}

/* The block of a row; NULL for the few rows after the last whole one. */
static double *block_of(const struct solution *x, int window, size_t row)
{
    const struct influence *i = x->influence + window;
    size_t block = (x->place ? x->place[i->from + row] - x->first : row) / i->block;
    if (block >= i->nblocks)
        return NULL;
    if (i->within)
        i->within[block]++;
    return i->mean + block * (size_t)x->nstates;
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

/* Of one run what each row of a window brings into g(to) - g(from) on average; else 0. */
static double mean_influence(const struct influence *i, size_t nstates, int from, int to)
{
    double sum = 0, rows = 0;
    for (size_t j = 0; i->within && j < i->nblocks; j++) {
        sum += i->mean[j * nstates + (size_t)to] - i->mean[j * nstates + (size_t)from];
        rows += (double)i->within[j];
    }
    return rows > 0 ? sum / rows : 0;
}

/* Adds what the rows of one window bring into g(to) - g(from), block by block. */
static void add_influence(const struct solution *x, int window, int from, int to, double sign, double *series)
{
    const struct influence *i = x->influence + window;
    const size_t n = (size_t)x->nstates;
    const double mean = mean_influence(i, n, from, to);
    for (size_t j = 0; j < i->nblocks; j++) {
        const double off = i->within ? mean * (double)i->within[j] : 0;
        series[j] += sign * (i->mean[j * n + (size_t)to] - i->mean[j * n + (size_t)from] - off);
    }
}

/* Of all windows, or of all together where replicas exchange them or rows are of one run: what their rows add to a
 * difference of a, less that of b where there is one. The members are for series_close. */
static int series_of(const struct solution *a, const struct solution *b, int from, int to, struct series **out)
{
    int n = 0;
    *out = NULL;
    for (int w = 0; a->influence[w].rows != SIZE_MAX; w++) {
        const struct influence *i = a->influence + w;
        if (!i->nblocks)
            continue;
        if (!n || !(a->together || a->place)) {
            *out = xrealloc(*out, (size_t)n + 1, sizeof **out);
            (*out)[n++] = (struct series){i->nblocks, xcalloc(i->nblocks, sizeof(double))};
        }
        const double rows = (double)(a->place ? a->run : i->rows);
        double scale = sqrt(rows * (double)i->block / (double)i->nblocks), *x = (*out)[n - 1].x;
        add_influence(a, w, from, to, scale, x);
        if (b)
            add_influence(b, w, from, to, -scale, x);
    }
    return n;
}

static void series_close(struct series *s, int n)
{
    for (int i = 0; i < n; i++)
        free(s[i].x);
    free(s);
}

/* Of a, less b where there is one. */
static struct spread spread_of(const struct solution *a, const struct solution *b, int from, int to)
{
    struct series *s;
    int n = series_of(a, b, from, to, &s);
    struct spread found = stats_spread(s, n);
    series_close(s, n);
    return found;
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
    struct spread s = spread_of(x, NULL, r->from, r->to);
    r->error = hypot(sqrt(s.variance), r->quadrature);
    r->freedom = s.freedom;
    r->uncorrelated = s.uncorrelated;
    r->slow = s.slow.error > 0 ? s.slow.sum / s.slow.error : 0;
    r->drift = s.drift;
}

double solution_difference_error(const struct solution *a, const struct solution *b, int from, int to)
{
    return sqrt(spread_of(a, b, from, to).variance);
}

/* Windows are uncertain one by one, and their sum is known better: they share it. */
void solution_parts(const struct solution *x, int from, int to, struct longrun *part)
{
    struct series *s;
    int n = series_of(x, NULL, from, to, &s), k = 0;
    double variance = stats_spread(s, n).variance, sum = 0;
    for (int w = 0; x->influence[w].rows != SIZE_MAX; w++) {
        part[w] = x->influence[w].nblocks ? stats_spread(s + k++, 1).longrun : (struct longrun){0};
        sum += part[w].variance;
    }
    for (int w = 0; sum > 0 && x->influence[w].rows != SIZE_MAX; w++)
        part[w].variance *= variance / sum;
    series_close(s, n);
}

void solution_close(struct solution *x)
{
    for (int w = 0; x->influence && x->influence[w].rows != SIZE_MAX; w++) {
        free(x->influence[w].mean);
        free(x->influence[w].within);
    }
    free(x->influence);
    free(x->g);
    free(x->bend);
    free(x->blind);
    *x = (struct solution){0};
}
