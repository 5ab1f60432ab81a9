/* SPDX-License-Identifier: Apache-2.0
 *
 * Thermodynamic integration: G = integral of sum_c <dH/dlambda_c> dlambda_c along the path of lambda vectors.
 */
#include "engine/estimate/estimators/ti.h"

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
static void ti_influences(struct ti *t, const struct sampling *s, int k)
{
    int nc = s->ncomponents, before = neighbour(s, k, -1), after = neighbour(s, k, 1);
    size_t n = sampling_count(s, k);
    solution_begin(&t->solution, k, s->start[k], n);
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

/* What the trapezoid over a step of length h has too much of f = A + B / (c + x), which rises by `rise` along it. */
static double excess(double c, double h, double rise)
{
    double t = h / c;
    if (t < 1e-3)
        return -rise * h * t * (1 + t) * (1. / 6 - t / 4);
    return -rise * c * (c + h) / h * (0.5 * t * (1 + 1 / (1 + t)) - log1p(t));
}

/* The same of the parabola whose slopes along this step and the other, of length `other`, are these. */
static double excess_parabola(double h, double other, double slope, double other_slope)
{
    return h * h * h / 6 * (other_slope - slope) / (h + other);
}

/* What the trapezoid has too much along one of two steps that follow each other, if f is a hyperbola through all three
 * states: so the mean of dH/dlambda of a harmonic term goes, and it is between a parabola and the most that a curve
 * which rises or falls all the way can hide in the step, where it is steep at an end. A parabola where f turns. */
static double excess_beside(double h, double other, double slope, double other_slope)
{
    double ratio = other_slope / slope;
    if (!(ratio > 0) || !isfinite(ratio) || fabs(ratio - 1) < 1e-9)
        return excess_parabola(h, other, slope, other_slope);
    if (ratio < 1) /* this step is the steeper one: the pole is on its far side */
        return excess(ratio * (h + other) / (1 - ratio), h, h * slope);
    /* the pole is beyond the other step; this step begins so far from it, and is gone along backwards */
    return excess((h + other) / (ratio - 1) + other, h, -h * slope);
}

/* The state with samples and other lambdas that comes first on one side; -1: there is none. */
static int other_state(const struct sampling *s, int k, int direction)
{
    int j = neighbour(s, k, direction);
    while (j >= 0 && states_equal(s->lambda, s->ncomponents, j, k))
        j = neighbour(s, j, direction);
    return j;
}

/* What the trapezoid of a component has too much from i to j as the state `beside` i or j has it; false: it does not
 * move from there. */
static bool excess_by(const struct ti *t, const struct sampling *s, int c, int i, int j, int direction, double *out)
{
    int nc = s->ncomponents, near = direction < 0 ? i : j, beside = other_state(s, near, direction);
    double step = step_of(s, i, j, c), other = direction < 0 ? step_of(s, beside, i, c) : step_of(s, j, beside, c);
    if (!(step * other > 0))
        return false;
    const double *f = t->mean + c;
    /* along both steps away from the state between them, which is near */
    int far = direction < 0 ? j : i;
    double h = fabs(step), o = fabs(other);
    double slope = (f[near * nc] - f[far * nc]) / h, other_slope = (f[beside * nc] - f[near * nc]) / o;
    *out = copysign(1, step) * excess_beside(h, o, slope, other_slope);
    return true;
}

/* What the trapezoid from state i to j misses, with its sign in *bend: by the states beside, the mean where there are
 * two. Where a component moves in this step alone there is nothing to take it from, and *blind is the error for a
 * parabola that is flat at one end. */
static void quadrature(const struct ti *t, const struct sampling *s, int i, int j, double *bend, double *blind)
{
    int nc = s->ncomponents;
    for (int c = 0; c < nc; c++) {
        double step = step_of(s, i, j, c), by_i = 0, by_j = 0;
        bool has_i = excess_by(t, s, c, i, j, -1, &by_i), has_j = excess_by(t, s, c, i, j, 1, &by_j);
        if (has_i || has_j)
            *bend -= (by_i + by_j) / (has_i + has_j);
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
        ti_influences(t, s, k);
        before = k;
    }
}

int ti_solve(struct ti *t, const struct sampling *s, struct err *e)
{
    int sampled = 0;
    if (!s->dhdl)
        return err_set(e, ERR_ESTIMATE,
                       "TI: a window has no dH/dlambda of every component, or not in every row a finite one");
    for (int k = 0; k < s->nstates; k++)
        sampled += sampling_count(s, k) > 0;
    if (sampled < 2)
        return err_set(e, ERR_ESTIMATE, "TI: windows with samples: %d, expected 2 or more", sampled);
    t->mean = xcalloc((size_t)s->nstates * (size_t)s->ncomponents, sizeof *t->mean);
    solution_init(&t->solution, s->nstates, s);
    means(t, s);
    integrate(t, s);
    solution_twins(&t->solution, s);
    return 0;
}

/* Node i (0-based, ascending) of n on [0, 1] and its weight: Newton's method on the Legendre polynomial P_n. */
static void gauss_legendre(int n, int i, double *node, double *weight)
{
    double x = -cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
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
        solution_begin(&x, k, s->start[k], rows);
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
