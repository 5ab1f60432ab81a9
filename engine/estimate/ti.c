/* SPDX-License-Identifier: Apache-2.0
 *
 * Thermodynamic integration: G = integral of sum_c <dH/dlambda_c> dlambda_c along the path of lambda vectors.
 */
#include "engine/estimate/parts.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"

/* Sampled state before (-1) or after (+1) state k; -1: none. */
static int neighbour(const struct sampling *s, int k, int direction)
{
    do
        k += direction;
    while (k >= 0 && k < s->nstates && !sampling_count(s, k));
    return k < s->nstates ? k : -1;
}

static void means(struct ti *t, const struct sampling *s)
{
    size_t nc = (size_t)s->ncomponents;
    for (int k = 0; k < s->nstates; k++) {
        double *mean = t->mean + (size_t)k * nc, n = (double)sampling_count(s, k);
        for (size_t row = s->start[k]; row < s->start[k + 1]; row++)
            for (size_t c = 0; c < nc; c++)
                mean[c] += s->dhdl[row * nc + c] / n;
        for (size_t c = 0; !(n > 0) && c < nc; c++)
            mean[c] = NAN;
    }
}

static double step_of(const struct sampling *s, int from, int to, int component)
{
    if (from < 0 || to < 0)
        return 0;
    return s->lambda[to * s->ncomponents + component] - s->lambda[from * s->ncomponents + component];
}

/* A trapezoid gives every row half the step on its left and half that on its right. */
static void influences(struct ti *t, const struct sampling *s, int k)
{
    int nc = s->ncomponents, before = neighbour(s, k, -1), after = neighbour(s, k, 1);
    size_t n = sampling_count(s, k);
    solution_begin(&t->solution, k, n);
    for (size_t i = 0; i < n; i++) {
        const double *row = s->dhdl + (s->start[k] + i) * (size_t)nc;
        double left = 0, right = 0;
        for (int c = 0; c < nc; c++) {
            left += 0.5 * step_of(s, before, k, c) * row[c] / (double)n;
            right += 0.5 * step_of(s, k, after, c) * row[c] / (double)n;
        }
        solution_add_chain(&t->solution, k, i, left, right);
    }
}

/* Second derivative of <dH/dlambda_c> around state k of three that follow each other; false: the component does not move
 * on both sides, or turns back. */
static bool curvature(const struct ti *t, const struct sampling *s, int k, int c, double *out)
{
    int nc = s->ncomponents, before = neighbour(s, k, -1), after = neighbour(s, k, 1);
    double left = step_of(s, before, k, c), right = step_of(s, k, after, c);
    if (!(left * right > 0))
        return false;
    const double *f = t->mean + c;
    *out = 2 * ((f[after * nc] - f[k * nc]) / right - (f[k * nc] - f[before * nc]) / left) / (left + right);
    return true;
}

/* What the trapezoid from state i to j misses: -step^3/12 of the second derivative of the integrand, taken from the
 * states beside, with its sign in *bend. Where a component moves in this step alone there is nothing to take it from,
 * and *blind is the error for a parabola that is flat at one end. */
static void quadrature(const struct ti *t, const struct sampling *s, int i, int j, double *bend, double *blind)
{
    int nc = s->ncomponents;
    for (int c = 0; c < nc; c++) {
        double step = step_of(s, i, j, c), at_i = 0, at_j = 0;
        bool has_i = curvature(t, s, i, c, &at_i), has_j = curvature(t, s, j, c, &at_j);
        if (has_i || has_j)
            *bend -= step * step * step / 12 * (at_i + at_j) / (has_i + has_j);
        else
            *blind += fabs(step * (t->mean[j * nc + c] - t->mean[i * nc + c])) / 6;
    }
}

/* Along the steps between sampled states. */
static void integrate(struct ti *t, const struct sampling *s)
{
    struct solution *x = &t->solution;
    int nc = s->ncomponents, before = -1;
    for (int k = 0; k < s->nstates; k++) {
        if (k) {
            x->bend[k] = x->bend[k - 1];
            x->blind[k] = x->blind[k - 1];
        }
        x->g[k] = NAN;
        if (!sampling_count(s, k))
            continue;
        x->g[k] = before < 0 ? 0 : x->g[before];
        for (int c = 0; before >= 0 && c < nc; c++)
            x->g[k] += 0.5 * step_of(s, before, k, c) * (t->mean[before * nc + c] + t->mean[k * nc + c]);
        if (before >= 0)
            quadrature(t, s, before, k, x->bend + k, x->blind + k);
        influences(t, s, k);
        before = k;
    }
}

int ti_solve(struct ti *t, const struct sampling *s, struct err *e)
{
    int sampled = 0;
    if (!s->dhdl)
        return err_set(e, ERR_ESTIMATE, "TI: a window has no dH/dlambda of every component");
    for (int k = 0; k < s->nstates; k++)
        sampled += sampling_count(s, k) > 0;
    if (sampled < 2)
        return err_set(e, ERR_ESTIMATE, "TI: windows with samples: %d, expected 2 or more", sampled);
    t->mean = xcalloc((size_t)s->nstates * (size_t)s->ncomponents, sizeof *t->mean);
    solution_init(&t->solution, s->nstates, s);
    means(t, s);
    integrate(t, s);
    return 0;
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
static int moving_component(const struct sampling *s)
{
    int moving = -1, nc = s->ncomponents;
    for (int c = 0; c < nc; c++) {
        bool moves = false;
        for (int k = 1; k < s->nstates; k++)
            moves = moves || s->lambda[k * nc + c] != s->lambda[c];
        if (moves && moving >= 0)
            return -1;
        if (moves)
            moving = c;
    }
    return moving;
}

void ti_gauss(const struct ti *t, const struct sampling *s, struct range *r)
{
    int c = moving_component(s), n = s->nstates;
    size_t nc = (size_t)s->ncomponents;
    struct solution x;
    *r = (struct range){.from = 0, .to = 1}; /* states of x: the beginning and the end of the integral */
    solution_init(&x, 2, s);
    for (int k = 0; k < n; k++) {
        double node, weight;
        size_t rows = sampling_count(s, k);
        gauss_legendre(n, k, &node, &weight);
        if (c < 0 || !rows || fabs(s->lambda[(size_t)k * nc + (size_t)c] - node) > 0.51e-4)
            break;
        x.g[1] += weight * t->mean[(size_t)k * nc + (size_t)c];
        solution_begin(&x, k, rows);
        for (size_t i = 0; i < rows; i++) {
            double value = weight * s->dhdl[(s->start[k] + i) * nc + (size_t)c] / (double)rows;
            solution_add(&x, k, i, (double[]){0, value});
        }
        r->ok = k == n - 1;
    }
    if (r->ok)
        solution_range(&x, r);
    r->to = n - 1;
    solution_close(&x);
}

void ti_close(struct ti *t)
{
    solution_close(&t->solution);
    free(t->mean);
    *t = (struct ti){0};
}
