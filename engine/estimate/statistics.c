/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/parts.h"

#include <math.h>

double stats_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : 0;
}

double stats_variance(const double *x, size_t n)
{
    double mean = stats_mean(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sum / (double)(n - 1) : 0;
}

/* With `fast` the lags are 1, 2, 4, 7, 11, ... and the sum between them a step function: good enough to compare starts.
 */
static double inefficiency(const double *x, size_t n, bool fast)
{
    const size_t shortest = 3; /* lags looked at before a negative correlation ends the sum */
    double mean = stats_mean(x, n), g = 1;
    double variance = stats_variance(x, n) * ((double)n - 1) / (double)n;
    if (n < 3 || !(variance > 0))
        return 1;
    for (size_t lag = 1, step = 1; lag < n - 1; lag += step, step += fast) {
        double c = 0;
        for (size_t i = 0; i + lag < n; i++)
            c += (x[i] - mean) * (x[i + lag] - mean);
        c /= (double)(n - lag) * variance;
        if (c <= 0 && lag > shortest)
            break;
        g += 2 * c * (1 - (double)lag / (double)n) * (double)step;
    }
    return g > 1 ? g : 1;
}

double stats_inefficiency(const double *x, size_t n)
{
    return inefficiency(x, n, false);
}

size_t stats_equilibration(const double *x, size_t n)
{
    size_t step = n / 100 ? n / 100 : 1, best = 0;
    double most = 0;
    for (size_t start = 0; start + n / 10 < n; start += step) {
        double effective = (double)(n - start) / inefficiency(x + start, n - start, true);
        if (effective > most) {
            most = effective;
            best = start;
        }
    }
    return best;
}

size_t stats_subsample(size_t start, size_t n, double g, size_t *index)
{
    size_t count = 0;
    for (;;) {
        size_t i = start + (size_t)llround((double)count * g);
        if (i >= n)
            return count;
        index[count++] = i;
    }
}
