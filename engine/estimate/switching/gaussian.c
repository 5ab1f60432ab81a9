/* SPDX-License-Identifier: Apache-2.0
 *
 * Crooks' Gaussian intersection (Goette and Grubmueller, J. Comput. Chem. 30, 447 (2009), doi 10.1002/jcc.21073): the
 * work at which Gaussians with the means and variances of both distributions are equal, those of the backward way
 * mirrored. Good for works that are Gaussian.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/statistics/stats.h"
#include "engine/estimate/switching/switching.h"

/* m, v: means and variances, the backward mean mirrored. Of two intersections that between the means, or nearest to
 * their middle. NAN: there is none. */
static double intersection(const double *m, const double *v)
{
    const double a = 1 / v[0] - 1 / v[1], middle = 0.5 * (m[0] + m[1]);
    const double half = m[0] / v[0] - m[1] / v[1];
    const double rest = m[0] * m[0] / v[0] - m[1] * m[1] / v[1] + log(v[0] / v[1]);
    const double root = half * half - a * rest;
    if (fabs(a) * (v[0] + v[1]) < 1e-9)
        return middle;
    if (!(root >= 0))
        return NAN;
    const double one = (half + sqrt(root)) / a, two = (half - sqrt(root)) / a;
    return fabs(one - middle) < fabs(two - middle) ? one : two;
}

/* The derivative of the intersection by one of its four arguments. */
static double slope_by(double *argument, double scale, const double *m, const double *v)
{
    const double kept = *argument, step = 1e-4 * scale;
    *argument = kept + step;
    const double above = intersection(m, v);
    *argument = kept - step;
    const double below = intersection(m, v);
    *argument = kept;
    return (above - below) / (2 * step);
}

/* The error that the works of one way bring, from what each adds to mean and variance. */
static double error_of(const struct switch_works *w, double mean, double variance, double by_mean, double by_variance)
{
    double *influence = xcalloc(w->n, sizeof *influence);
    for (size_t i = 0; i < w->n; i++) {
        const double off = w->w[i] - mean;
        influence[i] = by_mean * off + by_variance * (off * off - variance);
    }
    const double error = stats_mean_error(influence, w->n);
    free(influence);
    return error;
}

/* In standard errors of the skewness of Gaussian works, sqrt(6 / n). */
static double skewness(const struct switch_works *w, double mean, double variance, double inefficiency)
{
    double sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum += pow(w->w[i] - mean, 3);
    const double n = (double)w->n;
    return sum / n / pow(variance, 1.5) / sqrt(6 * inefficiency / n);
}

void switching_gaussian(struct switching *s)
{
    double m[SWITCH_WAYS], v[SWITCH_WAYS], square = 0;
    s->gaussian = (struct range){.from = 0, .to = 1};
    if (!switching_has(s, SWITCH_FORWARD) || !switching_has(s, SWITCH_BACKWARD))
        return;
    for (int way = 0; way < SWITCH_WAYS; way++) {
        m[way] = (way == SWITCH_FORWARD ? 1 : -1) * s->way[way].mean;
        v[way] = s->way[way].deviation * s->way[way].deviation;
        if (!(v[way] > 0))
            return;
        s->skew[way] = skewness(s->works + way, s->way[way].mean, v[way], s->way[way].inefficiency);
    }
    s->gaussian.value = intersection(m, v);
    for (int way = 0; way < SWITCH_WAYS; way++) {
        const double by_mean = (way == SWITCH_FORWARD ? 1 : -1) * slope_by(m + way, s->way[way].deviation, m, v);
        const double by_variance = slope_by(v + way, v[way], m, v);
        const double error = error_of(s->works + way, s->way[way].mean, v[way], by_mean, by_variance);
        square += error * error;
    }
    s->gaussian.error = sqrt(square);
    s->gaussian.ok = isfinite(s->gaussian.value) && isfinite(s->gaussian.error);
}
