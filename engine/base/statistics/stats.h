/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of a few numbers that are independent of each other.
 */
#ifndef SHOAL_ENGINE_BASE_STATISTICS_STATS_H
#define SHOAL_ENGINE_BASE_STATISTICS_STATS_H

#include <stddef.h>

double stats_mean(const double *x, size_t n);
/* Sum of squared deviations over n - 1; 0 for n < 2. */
double stats_variance(const double *x, size_t n);

/* Chance that |t| is exceeded by Student's distribution of `dof` degrees of freedom (any positive number). */
double stats_t_tail(double t, double dof);
/* The |t| that is exceeded with chance `tail`. */
double stats_t_quantile(double tail, double dof);

/* The standard normal deviate that is exceeded as rarely as a chi-square variable of `dof` degrees of freedom exceeds
 * `square` times dof (E. B. Wilson and M. M. Hilferty, Proc. Natl. Acad. Sci. 17, 684 (1931), doi
 * 10.1073/pnas.17.12.684). */
double stats_chi_square_deviate(double square, double dof);

#endif
