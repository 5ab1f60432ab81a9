/* SPDX-License-Identifier: Apache-2.0
 *
 * How well one set of values agrees with another.
 */
#ifndef SHOAL_CLIENT_STATISTICS_COMPARE_H
#define SHOAL_CLIENT_STATISTICS_COMPARE_H

/* With the bounds of its 95 % interval: percentiles of what it is for pairs drawn again with replacement. NAN: not known. */
struct measure {
    double value, low, high;
};

struct comparison {
    int pairs;
    struct measure rmse, mue, tau; /* root mean square and mean unsigned error; Kendall's tau-b */
};

enum { COMPARE_ROUNDS = 1000, COMPARE_SEED = 2026 };

/* Of [n] pairs. The same pairs give the same bounds: the draws are those of COMPARE_SEED. */
struct comparison compare(const double *a, const double *b, int n);
/* Kendall's tau-b, in n log n steps: W. R. Knight, J. Am. Stat. Assoc. 61, 436 (1966). NAN: all of a or of b are alike. */
double kendall(const double *a, const double *b, int n);
/* Standard deviation about the mean, of n - 1 degrees of freedom; NAN for fewer than two. */
double deviation(const double *x, int n);

#endif
