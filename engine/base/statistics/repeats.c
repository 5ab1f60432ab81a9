/* SPDX-License-Identifier: Apache-2.0
 *
 * The error of the mean of n repeats comes from their own errors e_i and their spread s. With E^2 = mean of e_i^2 and
 * s^2 = sum (x_i - mean)^2 / (n - 1),
 *
 *     error^2 = (E^2 + t^2 max(0, s^2 - E^2)) / n
 *
 * The second term is the variance between repeats that their own errors do not explain, by the method of moments
 * (DerSimonian and Laird, Control. Clin. Trials 7, 177 (1986), doi 10.1016/0197-2456(86)90046-2); t is the quantile of
 * Student's distribution with n - 1 degrees of freedom that holds as much as one standard error of a normal one (1.84
 * for two repeats, 1.32 for three), because a spread of few is itself uncertain. So repeats that agree are as good as
 * one long one, and repeats that do not count by their spread alone.
 */
#include "engine/base/statistics/repeats.h"

#include <math.h>
#include <stddef.h>

#include "engine/base/statistics/stats.h"

#define OUTSIDE 0.31731050786291410 /* chance beyond one standard error */

static double own2(const double *error, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += error[i] * error[i] / n;
    return sum;
}

double repeats_own_error(const double *error, int n)
{
    return sqrt(own2(error, n));
}

double repeats_error(const double *value, const double *error, int n)
{
    double within = own2(error, n), between = fmax(0, stats_variance(value, (size_t)n) - within);
    double t = n > 1 && between > 0 ? stats_t_quantile(OUTSIDE, n - 1) : 0;
    return sqrt((within + t * t * between) / n);
}

bool repeats_disagree(const double *value, const double *error, int n, double deviates, double rounding)
{
    double within = fmax(own2(error, n), rounding * rounding);
    return n > 1 && stats_chi_square_deviate(stats_variance(value, (size_t)n) / within, n - 1) > deviates;
}
