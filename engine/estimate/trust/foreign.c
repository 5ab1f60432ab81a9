/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the samples of a window are those of its state: the mean of t = tanh(u_next - u_own) over its own rows
 * against what all rows say of it, E = sum_n W_nk t_n. t is bounded, so that no single row decides. To first order
 * their difference is a sum of influences, as estimates are (estimators/solution.c): a row of window k adds (t_n -
 * mean) / N_k to the mean, and any row adds to E, with (1 - MN)^-1 of estimators/mbar.c,
 *
 *     W_nk (t_n - E) + sum_j C_j [(1 - MN)^-1 W_n]_j,   C_j = N_j sum_n W_nk W_nj (t_n - E)
 */
#include <math.h>
#include <stdlib.h>

#include "engine/estimate/trust/trust.h"

struct test {
    int next;              /* window with other lambdas above, at the end below; -1: window k is not tested */
    double mean, expected; /* of t */
    double *by_f;          /* [nstates]: C_j, then what multiplies W_n */
};

static int next_of(const struct sampling *s, int k)
{
    int next = -1;
    for (int j = 0; j < s->nstates && next < k; j++)
        if (sampling_count(s, j) && !states_equal(s->lambda, s->ncomponents, j, k))
            next = j;
    return sampling_count(s, k) ? next : -1;
}

/* t of a row for window k; any number where the row has no weight there. */
static double bounded(const struct sampling *s, size_t row, int k, const struct test *t)
{
    const double *u = s->u + row * (size_t)s->nstates;
    double step = u[t->next] - u[k];
    return isnan(step) ? 0 : tanh(step);
}

/* Means, and sums over all rows. */
static void sum_rows(struct test *t, const struct sampling *s, const struct mbar *m, double *w)
{
    int n = s->nstates;
    for (int own = 0; own < n; own++)
        for (size_t row = s->start[own]; row < s->start[own + 1]; row++) {
            mbar_row_weights(m, row, w);
            for (int k = 0; k < n; k++) {
                if (t[k].next < 0)
                    continue;
                double value = bounded(s, row, k, t + k);
                if (k == own)
                    t[k].mean += value / (double)sampling_count(s, k);
                t[k].expected += w[k] * value;
                for (int j = 0; j < n; j++)
                    t[k].by_f[j] += w[k] * value * w[j];
            }
        }
}

/* From the sums: C_j, and its product with (1 - MN)^-1. */
static void respond(struct test *t, int k, const struct sampling *s, const struct mbar *m, double *c)
{
    size_t n = (size_t)s->nstates;
    for (size_t j = 0; j < n; j++) {
        c[j] = (double)sampling_count(s, (int)j) * t->by_f[j] - t->expected * m->overlap[(size_t)k * n + j];
        t->by_f[j] = 0;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            t->by_f[i] += c[j] * m->response[j * n + i];
}

/* Differences of the means of all windows as a solution, whose state nstates is 0. */
static void find_influences(const struct test *t, const struct sampling *s, const struct mbar *m, struct solution *x,
                            double *w, double *value)
{
    int n = s->nstates;
    for (int own = 0; own < n; own++) {
        size_t first = s->start[own], rows = sampling_count(s, own);
        if (rows)
            solution_begin(x, own, first, rows);
        for (size_t row = first; row < first + rows; row++) {
            mbar_row_weights(m, row, w);
            for (int k = 0; k < n; k++) {
                if (t[k].next < 0)
                    continue;
                double at = bounded(s, row, k, t + k);
                value[k] = (k == own ? (at - t[k].mean) / (double)rows : 0) - w[k] * (at - t[k].expected);
                for (int j = 0; j < n; j++)
                    value[k] -= t[k].by_f[j] * w[j];
            }
            solution_add(x, own, row - first, value);
        }
    }
}

void result_foreign(struct result *r, const struct sampling *s, const struct mbar *m)
{
    int n = s->nstates;
    struct test *t = xcalloc((size_t)n, sizeof *t);
    double *w = xcalloc((size_t)n, sizeof *w), *value = xcalloc((size_t)n + 1, sizeof *value);
    struct solution x;
    solution_init(&x, n + 1, s);
    for (int k = 0; k < n; k++) {
        t[k].next = next_of(s, k);
        t[k].by_f = xcalloc((size_t)n, sizeof *t[k].by_f);
    }
    sum_rows(t, s, m, w);
    for (int k = 0; k < n; k++)
        if (t[k].next >= 0)
            respond(t + k, k, s, m, value);
    find_influences(t, s, m, &x, w, value);
    for (int k = 0; k < n; k++) {
        x.g[k] = t[k].mean - t[k].expected;
        struct range off = {.from = n, .to = k};
        solution_range(&x, &off);
        r->windows[k].foreign = t[k].next >= 0 && off.error > 0 ? fabs(off.value) / off.error : 0;
        free(t[k].by_f);
    }
    solution_close(&x);
    free(value);
    free(w);
    free(t);
}
