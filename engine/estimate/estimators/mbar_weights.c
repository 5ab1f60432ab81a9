/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/estimators/mbar_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/estimate/estimators/linear_algebra.h"

#define LARGEST 700 /* exponent */

void mbar_table_fill(struct mbar_table *t)
{
    const struct sampling *s = t->s;
    size_t n = (size_t)s->nstates;
    for (size_t row = 0; row < s->start[n]; row++) {
        double top = -INFINITY;
        for (size_t k = 0; k < n; k++)
            if (sampling_count(s, (int)k))
                top = fmax(top, t->base[k] - s->u[row * n + k]);
        for (size_t k = 0; k < n; k++)
            t->e[row * n + k] = exp(fmin(t->base[k] - s->u[row * n + k] - top, LARGEST));
    }
}

struct mbar_table *mbar_table_new(const struct sampling *s, const double *guess)
{
    struct mbar_table *t = xcalloc(1, sizeof *t);
    size_t n = (size_t)s->nstates;
    *t = (struct mbar_table){.s = s, .base = xcalloc(n, sizeof *t->base), .e = xcalloc(s->start[n] * n, sizeof *t->e)};
    if (guess)
        memcpy(t->base, guess, n * sizeof *guess);
    mbar_table_fill(t);
    return t;
}

void mbar_table_free(struct mbar_table *t)
{
    if (!t)
        return;
    free(t->base);
    free(t->e);
    free(t);
}

/* Rows of a state from one fraction of its rows, or of the one run, to another. */
static void part_of_state(const struct sampling *s, int k, size_t head, double from, double to, size_t *a, size_t *b)
{
    size_t start = s->start[k] + head;
    double count = (double)(s->start[k + 1] - start), run = (double)s->run;
    *a = start + (size_t)llround(from * count);
    *b = start + (size_t)llround(to * count);
    if (!s->place)
        return;
    *a = s->start[k] + sampling_before(s, k, (size_t)llround(from * run));
    *b = s->start[k] + sampling_before(s, k, (size_t)llround(to * run));
    *a = *a > start ? *a : start;
    *b = *b > *a ? *b : *a;
}

/* Where in the one run the rows taken are. */
static void find_run(struct mbar_problem *p, const struct sampling *s)
{
    size_t end = 0;
    p->place = s->run;
    for (int i = 0; s->place && i < p->n; i++) {
        const size_t first = s->place[p->first[i]], last = s->place[p->last[i] - 1] + 1;
        p->place = first < p->place ? first : p->place;
        end = last > end ? last : end;
    }
    p->run = end > p->place ? end - p->place : 0;
}

void mbar_problem_init(struct mbar_problem *p, const struct mbar_table *t, const size_t *head, double from, double to)
{
    const struct sampling *s = t->s;
    size_t k = (size_t)s->nstates;
    *p = (struct mbar_problem){.table = t,
                               .nstates = s->nstates,
                               .state = xcalloc(k, sizeof *p->state),
                               .first = xcalloc(k, sizeof *p->first),
                               .last = xcalloc(k, sizeof *p->last),
                               .count = xcalloc(k, sizeof *p->count),
                               .log_n = xcalloc(k, sizeof *p->log_n),
                               .scale = xcalloc(k, sizeof *p->scale),
                               .p = xcalloc(k * MBAR_ROWS, sizeof *p->p),
                               .mixture = xcalloc(MBAR_ROWS, sizeof *p->mixture)};
    for (int i = 0; i < s->nstates; i++) {
        size_t a, b;
        part_of_state(s, i, head ? head[i] : 0, from, to, &a, &b);
        if (a == b)
            continue;
        p->state[p->n] = i;
        p->first[p->n] = a;
        p->last[p->n] = b;
        p->count[p->n] = (double)(b - a);
        p->log_n[p->n] = log((double)(b - a));
        p->n++;
    }
    find_run(p, s);
}

void mbar_problem_close(struct mbar_problem *p)
{
    free(p->state);
    free(p->first);
    free(p->last);
    free(p->count);
    free(p->log_n);
    free(p->scale);
    free(p->p);
    free(p->mixture);
}

void mbar_set_f(const struct mbar_problem *p, const double *f)
{
    for (int i = 0; i < p->n; i++)
        p->scale[i] = exp(p->log_n[i] + f[i] - p->table->base[p->state[i]]);
}

size_t mbar_rows_at(const struct mbar_problem *p, int w, size_t row)
{
    return p->last[w] - row < MBAR_ROWS ? p->last[w] - row : MBAR_ROWS;
}

void mbar_mixture_weights(const struct mbar_problem *p, size_t row, size_t rows)
{
    for (size_t r = 0; r < rows; r++) {
        const double *e = p->table->e + (row + r) * (size_t)p->nstates;
        double sum = 0;
        for (int i = 0; i < p->n; i++)
            sum += p->p[i * MBAR_ROWS + (int)r] = p->scale[i] * e[p->state[i]];
        p->mixture[r] = sum;
        double share = 1 / sum;
        for (int i = 0; i < p->n; i++)
            p->p[i * MBAR_ROWS + (int)r] *= share;
    }
}

void mbar_add_products(const double *x, size_t n, size_t rows, double *square)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            square[i * n + j] += linalg_dot(x + i * MBAR_ROWS, x + j * MBAR_ROWS, rows);
}
