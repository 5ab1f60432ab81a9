/* SPDX-License-Identifier: Apache-2.0
 *
 * The variance of a sum over correlated rows of independent windows.
 *
 * Autocovariances of independent series add, lag by lag, and those of a sum of K windows have sqrt(K) less noise, in
 * units of their sum, than those of one. So the windows are looked at together: a slow motion that has 2 % of the
 * variance, and most of the error, is within the noise of one window and far above that of five. Each run is cut
 * into the same number of parts.
 *
 * A sum of autocovariances has to end somewhere, and where it ends too early the error is too small. So means over
 * longer parts, in which fast motions fade, count where they say more; and so does the correlation of the longest,
 * where it is more than the fast motions explain.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/statistics/stats.h"
#include "engine/estimate/estimators/linear_algebra.h"
#include "engine/estimate/estimators/longrun.h"

#define BLOCKS 512 /* stats_block: at most twice as many */
#define COARSEST 32
#define LAGS 6 /* of the means over each 32nd */

/* A variance that is itself known to d degrees of freedom is taken as (1 + SCATTER / d) of it, as Student's
 * distribution has it. Of what the correlation of means has beyond one standard error the variance gets EXCESS times
 * what it would add: by trial on the ensembles of tests/engine/estimate/test_verdicts.c, as numbers whose variance came
 * out small are more often called converged. */
#define SCATTER 2
#define EXCESS 4

size_t stats_block(size_t n)
{
    return n / BLOCKS ? n / BLOCKS : 1;
}

/* Series without their means, each cut into n parts: y[k * n + i] is the sum over part i of series k. */
struct longrun_cut {
    int nseries;
    size_t n;
    double *y;
    double *square; /* of each series the autocovariance at lag 0 */
    double at_zero; /* their sum */
    double alike;   /* so many series of equal variance would have as much noise */
};

static double autocovariance(const struct longrun_cut *c, size_t lag)
{
    double sum = 0;
    for (int k = 0; k < c->nseries; k++) {
        const double *y = c->y + (size_t)k * c->n;
        sum += linalg_dot(y, y + lag, c->n - lag);
    }
    return sum / (double)c->n;
}

static void cut_series(const struct series *s, size_t n, double *y)
{
    double mean = stats_mean(s->x, s->n);
    memset(y, 0, n * sizeof *y);
    for (size_t i = 0, j = 0; i < n; i++)
        for (size_t end = (i + 1) * s->n / n; j < end; j++)
            y[i] += s->x[j] - mean;
}

/* Those of the series that have as many members. */
static struct longrun_cut cut_all(const struct series *s, int nseries, size_t n)
{
    struct longrun_cut c = {
        .n = n, .y = xcalloc((size_t)nseries * n, sizeof *c.y), .square = xcalloc((size_t)nseries, sizeof *c.square)};
    double squares = 0;
    for (int k = 0; k < nseries; k++) {
        double *y = c.y + (size_t)c.nseries * n, *square = c.square + c.nseries;
        if (s[k].n < n || s[k].n < 2)
            continue;
        cut_series(s + k, n, y);
        *square = linalg_dot(y, y, n) / (double)n;
        c.at_zero += *square;
        squares += *square * *square;
        c.nseries++;
    }
    c.alike = squares > 0 ? c.at_zero * c.at_zero / squares : 1;
    return c;
}

static void cut_close(struct longrun_cut *c)
{
    free(c->y);
    free(c->square);
}

/* Geyer's initial monotone sequence (Statist. Sci. 7, 473 (1992), doi 10.1214/ss/1177011137): in a reversible chain
 * sums of two autocovariances that follow each other are positive and fall, so the sum ends where they cease to. Two
 * choices are by trial, on autoregressive and hopping series from 20 g to 1000 g long, where errors come out within
 * 10 % of the truth on average: pairs begin at lag 1, and a pair below `noise` of its standard error on an
 * uncorrelated series is no pair (0.5 for the series; else short uncorrelated ones get errors 10 to 20 % too large).
 * Taking the mean from the series itself lowers every autocovariance by about variance / n, and the sum by as many
 * times that as it has terms, which is given back. The degrees of freedom are those of a spectral estimate that is
 * cut off at a lag (Priestley 1981, 6.2.4). Of the sum over all parts. */
static struct longrun monotone_sequence(const struct longrun_cut *c, double noise)
{
    double n = (double)c->n, sum = c->at_zero, last = INFINITY;
    double least = noise * c->at_zero * sqrt(2 / (n * c->alike));
    size_t lag = 1;
    for (; lag + 1 < c->n; lag += 2) {
        double pair = autocovariance(c, lag) + autocovariance(c, lag + 1);
        if (!(pair > least))
            break;
        last = fmin(pair, last);
        sum += 2 * last;
    }
    double terms = 2 * (double)lag - 1, share = fmax(1 - terms / n, 0.2);
    return (struct longrun){n * sum / share, c->alike * n / terms};
}

/* Of each series how many of its parts are uncorrelated, by its fast motions. */
static double *uncorrelated_parts(const struct longrun_cut *c)
{
    double *parts = xcalloc((size_t)c->nseries, sizeof *parts);
    for (int k = 0; k < c->nseries; k++) {
        struct longrun_cut one = {1, c->n, c->y + (size_t)k * c->n, c->square + k, c->square[k], 1};
        double g = monotone_sequence(&one, 0.5).variance / ((double)c->n * c->square[k]);
        parts[k] = (double)c->n / fmax(g, 1); /* 1 is more than 0 / 0 */
    }
    return parts;
}

/* Their harmonic mean, by the variances of the series. */
static double mean_uncorrelated(const struct longrun_cut *c, const double *uncorrelated)
{
    double inverse = 0;
    for (int k = 0; k < c->nseries; k++)
        inverse += c->square[k] / uncorrelated[k];
    return c->at_zero / inverse;
}

/* The first LAGS correlations of means over each 32nd of an autoregressive series, `scale` of each added to `out`. */
static void autoregressive(double uncorrelated, double scale, double *out)
{
    double a = 2 * uncorrelated / COARSEST, gone = 1 - exp(-a), r = gone * gone / (2 * (a - gone));
    for (int lag = 1; lag <= LAGS; lag++, r *= exp(-a))
        out[lag - 1] += scale * r;
}

/* Correlations of the means over each 32nd, each less for a longer lag, in sum. Fast motions explain those of
 * autoregressive series with as many uncorrelated parts. Taking the mean from a series lowers every correlation by 1
 * / 32, which is given back. */
static struct slowness slow_motions(const struct longrun_cut *c, const double *uncorrelated)
{
    const double n = COARSEST;
    double explained[LAGS] = {0}, square = 0;
    struct slowness s = {0};
    for (int k = 0; k < c->nseries; k++)
        autoregressive(uncorrelated[k], c->square[k] / c->at_zero, explained);
    for (int lag = 1; lag <= LAGS; lag++) {
        double weight = exp((1 - lag) / 3.0), pairs = (n - lag) / n;
        s.sum += weight * (autocovariance(c, (size_t)lag) / c->at_zero + pairs / n - explained[lag - 1]);
        square += weight * weight * pairs;
    }
    s.error = sqrt(square / (n * c->alike));
    return s;
}

/* The shape of a drift at time t of the run: relaxation from the start or to the end in a part of it, or all along
 * it. */
static double drift_shape(int which, double t)
{
    static const double times[] = {0.05, 0.1, 0.2};
    enum { TIMES = sizeof times / sizeof *times };
    return which < TIMES ? exp(-t / times[which]) : which < 2 * TIMES ? exp((t - 1) / times[which - TIMES]) : t - 0.5;
}

/* Of the shape that fits best what all series together add at equal times, in standard errors of the fit. `variance`
 * is that of the sum over all parts. */
static double find_drift(const struct longrun_cut *c, double variance)
{
    enum { SHAPES = 7 };
    double n = (double)c->n, most = 0, *together = xcalloc(c->n, sizeof *together);
    for (int k = 0; k < c->nseries; k++)
        for (size_t i = 0; i < c->n; i++)
            together[i] += c->y[(size_t)k * c->n + i];
    for (int which = 0; which < SHAPES; which++) {
        double sum = 0, square = 0, product = 0;
        for (size_t i = 0; i < c->n; i++) {
            double shape = drift_shape(which, ((double)i + 0.5) / n);
            sum += shape;
            square += shape * shape;
            product += shape * together[i];
        }
        most = fmax(most, fabs(product) / sqrt((square - sum * sum / n) * variance / n));
    }
    free(together);
    return most;
}

/* Series too short to be cut count one by one, by their own sequence. */
static double variance_of_short(const struct series *s, int nseries)
{
    double sum = 0;
    for (int k = 0; k < nseries; k++) {
        if (s[k].n < 2 || s[k].n >= COARSEST)
            continue;
        struct longrun_cut c = cut_all(s + k, 1, s[k].n);
        sum += monotone_sequence(&c, 0.5).variance;
        cut_close(&c);
    }
    return sum;
}

/* Members of the shortest series that can be cut; 0: none can. */
static size_t finest_cut(const struct series *s, int nseries)
{
    size_t least = 0;
    for (int k = 0; k < nseries; k++)
        if (s[k].n >= COARSEST && (!least || s[k].n < least))
            least = s[k].n;
    return least;
}

/* Means over ever longer parts: their value counts where it is larger by its own standard error. */
static void look_coarser(struct spread *all, const struct series *s, int nseries, const struct longrun_cut *finest,
                         const double *uncorrelated)
{
    for (size_t parts = BLOCKS / 2; parts >= COARSEST; parts /= 2) {
        bool longer = finest->n / parts >= 8;
        if (!longer && parts > COARSEST)
            continue;
        struct longrun_cut c = cut_all(s, nseries, parts);
        struct longrun l = longer ? monotone_sequence(&c, 1) : (struct longrun){0, 1};
        if (l.variance > all->longrun.variance * (1 + sqrt(2 / l.dof)))
            all->longrun = l;
        if (parts == COARSEST && c.at_zero > 0)
            all->slow = slow_motions(&c, uncorrelated);
        cut_close(&c);
    }
}

struct spread stats_spread(const struct series *s, int nseries)
{
    struct spread all = {.longrun = {0, 1}};
    const double rest = variance_of_short(s, nseries);
    const size_t finest = finest_cut(s, nseries);
    struct longrun_cut c = cut_all(s, nseries, finest);
    if (c.at_zero > 0) {
        all.longrun = monotone_sequence(&c, 0.5);
        all.freedom = all.longrun.dof;
        double *uncorrelated = uncorrelated_parts(&c);
        all.uncorrelated = mean_uncorrelated(&c, uncorrelated);
        look_coarser(&all, s, nseries, &c, uncorrelated);
        free(uncorrelated);
        all.drift = find_drift(&c, all.longrun.variance);
    }
    cut_close(&c);
    all.variance = all.longrun.variance * (1 + SCATTER / all.longrun.dof);
    all.variance *= 1 + 2 * EXCESS * fmax(all.slow.sum - all.slow.error, 0);
    all.variance += rest;
    all.longrun.variance += rest;
    return all;
}

/* Means over `nblocks` blocks of `block` members. */
static double *block_means(const double *x, size_t block, size_t nblocks)
{
    double *y = xcalloc(nblocks, sizeof *y);
    for (size_t i = 0; i < nblocks; i++)
        y[i] = stats_mean(x + i * block, block);
    return y;
}

static struct spread spread_of_mean(const double *x, size_t n)
{
    if (n < 2)
        return (struct spread){.longrun = {0, 1}};
    const size_t block = stats_block(n), nblocks = n / block;
    double *y = block_means(x, block, nblocks), scale = (double)block / (double)nblocks;
    struct spread s = stats_spread(&(struct series){nblocks, y}, 1);
    free(y);
    s.variance *= scale;
    s.longrun.variance *= scale;
    return s;
}

struct longrun stats_longrun(const double *x, size_t n)
{
    return spread_of_mean(x, n).longrun;
}

double stats_mean_error(const double *x, size_t n)
{
    return n ? sqrt(spread_of_mean(x, n).variance / (double)n) : 0;
}

double stats_inefficiency(const double *x, size_t n)
{
    if (n < 2)
        return 1;
    const size_t block = stats_block(n);
    double variance = stats_variance(x, n), *y = block_means(x, block, n / block);
    struct longrun_cut c = cut_all(&(struct series){n / block, y}, 1, n / block);
    double g = variance > 0 ? monotone_sequence(&c, 0.5).variance * (double)block / (double)c.n / variance : 1;
    cut_close(&c);
    free(y);
    return fmax(g, 1);
}
