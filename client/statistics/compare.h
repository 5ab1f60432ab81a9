/* SPDX-License-Identifier: Apache-2.0
 *
 * How well one set of values agrees with another.
 */
#ifndef SHOAL_CLIENT_STATISTICS_COMPARE_H
#define SHOAL_CLIENT_STATISTICS_COMPARE_H

#include <stdbool.h>

/* With the bounds of its 95 % interval, from bootstrap samples. NAN: not known. */
struct measure {
    double value, low, high;
};

/* One value beside another. Only values of one group are on one scale. */
struct compared {
    double a, b;
    int group;
    bool centered; /* the group's a were moved so that they have the mean of its b */
    double scale;  /* compare_values sets it: how many times the difference counts */
};

struct comparison {
    int values;                    /* entries that can be compared */
    double pairs;                  /* of entries of one group */
    struct measure rmse, mue, tau; /* root mean square and mean unsigned error; Kendall's tau-b */
};

enum { COMPARE_ROUNDS = 1000, COMPARE_SEED = 2026, COMPARE_LEAST = 4, COMPARE_LEAST_FOR_BOUNDS = 6 };

/* Of [n] entries, which are sorted by group. An entry that is alone in a centered group takes no part, since its
 * difference is 0 by construction; differences in other centered groups of m count sqrt(m / (m - 1)) times, which the
 * mean took from them. Tau is of the pairs within groups. With fewer than COMPARE_LEAST values (for tau also pairs)
 * there is no measure, with fewer than COMPARE_LEAST_FOR_BOUNDS values there are no bounds. The same entries give the
 * same bounds: the draws are those of COMPARE_SEED. */
struct comparison compare_values(struct compared *x, int n);
/* Kendall's tau-b of all pairs within groups of [n] entries that are sorted by group, in n log n steps: W. R. Knight,
 * J. Am. Stat. Assoc. 61, 436 (1966). NAN: in every group all of a or of b are alike. */
double kendall(const struct compared *x, int n);

#endif
