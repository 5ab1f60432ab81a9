/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/base/statistics/stats.h"
#include "engine/estimate/estimators/longrun.h"
#include "engine/estimate/estimators/visits.h"

/* ---- visits */

#define VISIT_LONGEST 32
#define VISIT_BLOCKS 128

struct ranked {
    double value;
    size_t at;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Of every member of x its place in the order of values, equal ones at their mean place. To be freed. */
static double *ranks(const double *x, size_t n)
{
    struct ranked *order = xcalloc(n, sizeof *order);
    double *rank = xcalloc(n, sizeof *rank);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){x[i], i};
    qsort(order, n, sizeof *order, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !(order[end].value > order[i].value);)
            end++;
        for (size_t j = i; j < end; j++)
            rank[order[j].at] = 0.5 * (double)(i + end);
    }
    free(order);
    return rank;
}

/* Grubbs' test of the mean over one block that is farthest off, of so many blocks that x is divided into. */
static double farthest(const double *x, size_t n, size_t nblocks)
{
    double b = (double)nblocks, y[VISIT_BLOCKS] = {0}, most = 0;
    for (size_t i = 0; i < nblocks; i++) {
        size_t first = i * n / nblocks, last = (i + 1) * n / nblocks;
        y[i] = stats_mean(x + first, last - first);
    }
    double mean = stats_mean(y, nblocks), variance = stats_variance(y, nblocks);
    for (size_t i = 0; i < nblocks; i++)
        most = fmax(most, fabs(y[i] - mean));
    if (!(variance > 0))
        return 1;
    double g2 = most * most / variance, rest = (b - 1) * (b - 1) - b * g2;
    return rest > 0 ? b * stats_t_tail(sqrt(b * (b - 2) * g2 / rest), b - 2) : 0;
}

double stats_visit(const double *x, size_t n)
{
    const size_t shortest = 8; /* a mean of fewer is no mean */
    double *rank = ranks(x, n), chance = 1;
    int tests = 0;
    for (size_t blocks = VISIT_LONGEST; blocks <= VISIT_BLOCKS && n / blocks >= shortest; blocks *= 2) {
        size_t half = n / (2 * blocks);
        chance = fmin(chance, farthest(rank, n, blocks));
        chance = fmin(chance, farthest(rank + half, n - 2 * half, blocks - 1)); /* a visit may be half in each of two */
        tests += 2;
    }
    free(rank);
    return tests ? fmin(chance * tests, 1) : 1;
}

/* ---- drift */

/* The end of a series, which its beginning is held against. */
struct rest {
    size_t n;
    double mean;
    struct longrun longrun;
};

/* Chance, on a stationary series, of a difference as large as that of the means of x[0..lead) and of the rest. For a
 * lead shorter than the memory of the series its variance is taken too large: rather no drift than a false one. */
static double lead_chance(const double *x, size_t lead, const struct rest *rest)
{
    double variance = rest->longrun.variance * (1 / (double)lead + 1 / (double)rest->n);
    double t = fabs(stats_mean(x, lead) - rest->mean) / sqrt(variance);
    return variance > 0 ? stats_t_tail(t, rest->longrun.dof) : 1;
}

/* The lead of x that is least likely by chance, when that is less than `least`; 0: none. The rest is the last half, or
 * the last quarter where the drift reaches into the half; either must be long against its memory to be a measure. */
static size_t drifting_lead(const double *x, size_t n, double least)
{
    static const double leads[] = {0.05, 0.1, 0.2, 0.5}, rests[] = {0.5, 0.25};
    const double known = 10; /* degrees of freedom */
    enum { LEADS = sizeof leads / sizeof *leads, RESTS = sizeof rests / sizeof *rests };
    size_t cut = 0;
    least /= LEADS * RESTS; /* Bonferroni */
    for (int k = 0; k < RESTS; k++) {
        size_t m = (size_t)(rests[k] * (double)n);
        struct rest rest = {m, stats_mean(x + n - m, m), stats_longrun(x + n - m, m)};
        for (int i = 0; i < LEADS && rest.longrun.dof >= known; i++) {
            size_t lead = (size_t)(leads[i] * (double)n);
            double chance = lead_chance(x, lead, &rest);
            if (chance < least) {
                least = chance;
                cut = lead;
            }
        }
    }
    return cut;
}

size_t stats_drift(const double *x, size_t n, double level)
{
    const size_t shortest = 40;
    size_t start = 0, cut;
    while (n - start >= shortest && (cut = drifting_lead(x + start, n - start, level)))
        start += cut;
    return start;
}
