/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over correlated rows of independent windows.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_LONGRUN_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_LONGRUN_H

#include <stdbool.h>
#include <stddef.h>

/* A stationary series' long-run variance, n times the variance of the mean of n members as n grows. */
struct longrun {
    double variance;
    double dof; /* of this estimate, as of a chi-square variable */
};

/* What the parts of a window's run, in order and equally long, add to a sum. */
struct series {
    size_t n;
    double *x;
};

/* Correlations of the means over each 32nd of a run, beyond what fast motions explain. */
struct slowness {
    double sum, error; /* its standard error where there are none */
};

/* Of the sum of all series over all parts. */
struct spread {
    double variance;        /* with what may hide in it */
    struct longrun longrun; /* the largest over numbers of parts, as it is */
    double freedom;         /* degrees of freedom to which fast motions are known; 0: not known */
    double uncorrelated;    /* parts of each series by its fast motions, in the mean by their variances; 0: not known */
    struct slowness slow;   /* error 0: not known */
    double drift;           /* standard errors of a drift that all series have in common */
};

struct spread stats_spread(const struct series *s, int nseries);
struct longrun stats_longrun(const double *x, size_t n);
/* Of the mean of x. */
double stats_mean_error(const double *x, size_t n);
/* g: members for each uncorrelated one, 1 or more, by the fast motions; slow ones of small amplitude are not in it. */
double stats_inefficiency(const double *x, size_t n);
/* Members per block and whole blocks into which stats_longrun and solution.c divide n of them. */
size_t stats_block(size_t n);

#endif
