/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/statistics/stats.h"

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

/* ---- Student's distribution */

/* The continued fraction of the incomplete beta function I_x(a, b), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 / fmax(1 - (a + b) * x / (a + 1), tiny), f = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        f *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        f *= c * d;
        if (fabs(c * d - 1) < 1e-14)
            break;
    }
    return f;
}

double stats_t_tail(double t, double dof)
{
    double x = dof / (dof + t * t), a = 0.5 * dof, b = 0.5;
    if (!(t != 0))
        return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_quantile(double tail, double dof)
{
    double low = 0, high = 1;
    while (stats_t_tail(high, dof) > tail)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
        double middle = 0.5 * (low + high);
        if (stats_t_tail(middle, dof) > tail)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

double stats_chi_square_deviate(double square, double dof)
{
    double few = 2 / (9 * dof);
    return (cbrt(square) - 1 + few) / sqrt(few);
}
