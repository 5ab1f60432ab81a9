/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/estimate/parts.h"

#define BLOCKS                                                                                                         \
    512 /* at most twice as many; longer series are averaged in blocks first, which keeps the long-run variance */

size_t stats_block(size_t n)
{
    return n / BLOCKS ? n / BLOCKS : 1;
}

/* Of a series of mean 0, over n: the biased form, whose sums over lags behave. */
static double autocovariance(const double *x, size_t n, size_t lag)
{
    double sum = 0;
    for (size_t i = 0; i + lag < n; i++)
        sum += x[i] * x[i + lag];
    return sum / (double)n;
}

/* Geyer's initial monotone sequence (Statist. Sci. 7, 473 (1992), doi 10.1214/ss/1177011137): in a reversible chain sums
 * of two autocovariances that follow each other are positive and fall, so the sum ends where they cease to. Two choices
 * are by trial, on autoregressive and hopping series from 20 g to 1000 g long, where errors come out within 10 % of the
 * truth on average: pairs begin at lag 1, and a pair below `noise` of its standard error on an uncorrelated series is
 * no pair (0.5 for the series; else short uncorrelated ones get errors 10 to 20 % too large). Taking the mean from the series itself lowers every
 * autocovariance by about variance / n, and the sum by as many times that as it has terms, which is given back. The
 * degrees of freedom are those of a spectral estimate that is cut off at a lag (Priestley 1981, 6.2.4). x has mean 0. */
static struct longrun monotone_sequence(const double *x, size_t n, double noise)
{
    double at_zero = autocovariance(x, n, 0), sum = at_zero, last = INFINITY;
    double least = noise * at_zero * sqrt(2 / (double)n);
    size_t lag = 1;
    for (; lag + 1 < n; lag += 2) {
        double pair = autocovariance(x, n, lag) + autocovariance(x, n, lag + 1);
        if (!(pair > least))
            break;
        last = fmin(pair, last);
        sum += 2 * last;
    }
    double terms = 2 * (double)lag - 1, share = fmax(1 - terms / (double)n, 0.2);
    return (struct longrun){sum / share, (double)n / terms};
}

/* Means of x over `nblocks` blocks of `block` members, less their own mean, into y. */
static void block_means(const double *x, size_t block, size_t nblocks, double *y)
{
    for (size_t i = 0; i < nblocks; i++)
        y[i] = stats_mean(x + i * block, block);
    double mean = stats_mean(y, nblocks);
    for (size_t i = 0; i < nblocks; i++)
        y[i] -= mean;
}

/* The sequence ends before a slow motion of small amplitude, which brings most of the error, rises above the noise of the fast
 * ones; and motions that oscillate are not those of a reversible chain. In means over longer blocks fast motions fade, so the
 * value from ever coarser ones counts where it is larger by half its own standard error. By trial, on single series: in units of the
 * error, deviations have a root mean square of 0.95 to 1.08 on white and autoregressive series (0.97 to 1.07 from the series
 * alone), of 1.0 to 1.25 with slow modes of 2 to 10 % of the variance from 20 of their times on (1.04 to 1.72) and on squares of
 * oscillators (1.46 to 1.58). */
struct longrun stats_longrun(const double *x, size_t n)
{
    struct longrun most = {0, 1};
    if (n < 2)
        return most;
    const size_t finest = stats_block(n);
    double *y = xcalloc(n / finest, sizeof *y);
    for (size_t coarse = BLOCKS; coarse >= STATS_COARSEST; coarse /= 2) {
        size_t block = coarse == BLOCKS ? finest : n / coarse;
        if (coarse < BLOCKS && block < 8 * finest)
            continue;
        block_means(x, block, n / block, y);
        struct longrun l = monotone_sequence(y, n / block, coarse == BLOCKS ? 0.5 : 1);
        l.variance *= (double)block;
        if (l.variance > most.variance * (1 + 0.5 * sqrt(2 / l.dof)))
            most = l;
    }
    free(y);
    return most;
}

double stats_inefficiency(const double *x, size_t n)
{
    const size_t block = stats_block(n);
    double variance = stats_variance(x, n), *y = xcalloc(n / block, sizeof *y);
    block_means(x, block, n / block, y);
    double g = n > 1 && variance > 0 ? monotone_sequence(y, n / block, 0.5).variance * (double)block / variance : 1;
    free(y);
    return fmax(g, 1);
}

double stats_slowness(const double *x, size_t n)
{
    size_t block = n / STATS_COARSEST;
    double y[STATS_COARSEST];
    if (!block)
        return 0;
    block_means(x, block, STATS_COARSEST, y);
    double at_zero = autocovariance(y, STATS_COARSEST, 0);
    return at_zero > 0 ? autocovariance(y, STATS_COARSEST, 1) / at_zero : 0;
}

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

/* Grubbs' test of the mean over one block that is farthest off, of so many blocks. */
static double farthest(const double *x, size_t block, size_t nblocks)
{
    double b = (double)nblocks, y[VISIT_BLOCKS], most = 0;
    block_means(x, block, nblocks, y);
    for (size_t i = 0; i < nblocks; i++)
        most = fmax(most, fabs(y[i]));
    double variance = stats_variance(y, nblocks);
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
    for (size_t blocks = STATS_COARSEST; blocks <= VISIT_BLOCKS && n / blocks >= shortest; blocks *= 2) {
        size_t block = n / blocks;
        chance = fmin(chance, farthest(rank, block, blocks));
        chance = fmin(chance, farthest(rank + block / 2, block, blocks - 1)); /* a visit may be half in each of two */
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

/* Chance, on a stationary series, of a difference as large as that of the means of x[0..lead) and of the rest. For a lead
 * shorter than the memory of the series its variance is taken too large: rather no drift than a false one. */
static double lead_chance(const double *x, size_t lead, const struct rest *rest)
{
    double variance = rest->longrun.variance * (1 / (double)lead + 1 / (double)rest->n);
    double t = fabs(stats_mean(x, lead) - rest->mean) / sqrt(variance);
    return variance > 0 ? stats_t_tail(t, rest->longrun.dof) : 1;
}

/* The lead of x that is least likely by chance, when that is less than `least`; 0: none. The rest is the last half, or the
 * last quarter where the drift reaches into the half; either must be long against its memory to be a measure. */
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

size_t stats_drift_back(double *x, size_t n, double level)
{
    for (size_t i = 0; i < n / 2; i++) {
        double last = x[n - 1 - i];
        x[n - 1 - i] = x[i];
        x[i] = last;
    }
    return stats_drift(x, n, level);
}
