/* SPDX-License-Identifier: Apache-2.0
 *
 * Thermodynamic integration: G = integral of sum_c <dH/dlambda_c> dlambda_c along the path of lambda vectors.
 */
#include "engine/estimate/parts.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"

/* Means of one window and the covariance matrix of these means. */
static void window(struct ti *t, const struct sampling *s, int k)
{
    size_t n = sampling_count(s, k), nc = (size_t)t->ncomponents;
    const double *rows = s->dhdl + s->start[k] * nc;
    double *mean = t->mean + (size_t)k * nc, *cov = t->covariance + (size_t)k * nc * nc;
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < nc; c++)
            mean[c] += rows[i * nc + c] / (double)n;
    for (size_t i = 0; n > 1 && i < n; i++)
        for (size_t a = 0; a < nc; a++)
            for (size_t b = 0; b < nc; b++)
                cov[a * nc + b] +=
                    (rows[i * nc + a] - mean[a]) * (rows[i * nc + b] - mean[b]) / ((double)n * (double)(n - 1));
    t->sampled[k] = n > 0;
}

int ti_solve(struct ti *t, const struct sampling *s, struct err *e)
{
    size_t n = (size_t)s->nstates, nc = (size_t)s->ncomponents;
    int sampled = 0;
    if (!s->dhdl)
        return err_set(e, ERR_ESTIMATE, "TI: a window has no dH/dlambda of every component");
    *t = (struct ti){.n = s->nstates, .ncomponents = s->ncomponents, .lambda = s->lambda};
    t->sampled = xcalloc(n, sizeof *t->sampled);
    t->mean = xcalloc(n * nc, sizeof *t->mean);
    t->covariance = xcalloc(n * nc * nc, sizeof *t->covariance);
    for (int k = 0; k < s->nstates; k++) {
        window(t, s, k);
        sampled += t->sampled[k];
    }
    return sampled > 1 ? 0 : err_set(e, ERR_ESTIMATE, "TI: windows with samples: %d, expected 2 or more", sampled);
}

/* weight^T covariance weight of window k. */
static double form(const struct ti *t, int k, const double *weight)
{
    int nc = t->ncomponents;
    double sum = 0;
    for (int a = 0; a < nc; a++)
        for (int b = 0; b < nc; b++)
            sum += weight[a] * weight[b] * t->covariance[(k * nc + a) * nc + b];
    return sum;
}

static int neighbour(const struct ti *t, int k, int direction, int stop)
{
    while (k != stop) {
        k += direction;
        if (t->sampled[k])
            return k;
    }
    return k;
}

void ti_range(const struct ti *t, struct range *r)
{
    int nc = t->ncomponents;
    double variance = 0, weight[DHDL_COMPONENTS];
    r->value = r->error = 0;
    r->ok = t->sampled[r->from] && t->sampled[r->to];
    for (int k = r->from; r->ok && k <= r->to; k++) {
        if (!t->sampled[k])
            continue;
        /* half the way from the window before to the window after */
        int before = neighbour(t, k, -1, r->from), after = neighbour(t, k, 1, r->to);
        for (int c = 0; c < nc; c++) {
            weight[c] = 0.5 * (t->lambda[after * nc + c] - t->lambda[before * nc + c]);
            r->value += weight[c] * t->mean[k * nc + c];
        }
        variance += form(t, k, weight);
    }
    r->error = sqrt(fmax(variance, 0));
}

/* Node i (0-based, ascending) of n on [0, 1] and its weight: Newton's method on the Legendre polynomial P_n. */
static void gauss_legendre(int n, int i, double *node, double *weight)
{
    double x = -cos(acos(-1) * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int pass = 0; pass < 100; pass++) {
        double p = x, before = 1;
        for (int k = 2; k <= n; k++) {
            double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
            before = p;
            p = next;
        }
        slope = n * (x * p - before) / (x * x - 1);
        x -= p / slope;
        if (fabs(p / slope) < 1e-15)
            break;
    }
    *node = 0.5 * (1 + x);
    *weight = 1 / ((1 - x * x) * slope * slope);
}

/* The component that alone changes along the ladder, -1 when there is no such one. */
static int moving_component(const struct ti *t)
{
    int moving = -1, nc = t->ncomponents;
    for (int c = 0; c < nc; c++) {
        bool moves = false;
        for (int k = 1; k < t->n; k++)
            moves = moves || t->lambda[k * nc + c] != t->lambda[c];
        if (moves && moving >= 0)
            return -1;
        if (moves)
            moving = c;
    }
    return moving;
}

bool ti_gauss(const struct ti *t, double *value, double *error)
{
    int c = moving_component(t), nc = t->ncomponents;
    double variance = 0;
    *value = *error = 0;
    for (int k = 0; c >= 0 && k < t->n; k++) {
        double node, weight;
        gauss_legendre(t->n, k, &node, &weight);
        if (!t->sampled[k] || fabs(t->lambda[k * nc + c] - node) > 0.51e-4)
            return false;
        *value += weight * t->mean[k * nc + c];
        variance += weight * weight * t->covariance[(k * nc + c) * nc + c];
    }
    *error = sqrt(variance);
    return c >= 0;
}

void ti_close(struct ti *t)
{
    free(t->sampled);
    free(t->mean);
    free(t->covariance);
    *t = (struct ti){0};
}
