/* SPDX-License-Identifier: Apache-2.0
 *
 * Which windows more steps go to, so that they cut the error of the free energy most.
 *
 * The caller forecasts the variance of the free energy for other numbers of steps n_k. Where it is a sum of c_k / n_k
 * it is smallest for a given number of steps where n_k goes as the square root of c_k (J. Neyman, J. R. Stat. Soc. 97,
 * 558 (1934), doi 10.2307/2342192), and where a step of some costs more, being made by more replicas, of c_k over
 * those. In general that root is n_k times the root of what the window's next step takes off: from even numbers on
 * these are taken in turns, a few times. (BAR and MBAR of uncorrelated rows would do without: a window that brings v_k
 * then takes v_k / n_k off. Of correlated rows it does not: the more rows a slow window has, the more the others' are
 * lost in them.)
 *
 * Only second moments decide, and every window gets a floor: what is given does not depend on what the free energy
 * looks like. A window of few uncorrelated rows, of which g itself is not known, gets more of them, up to an even
 * share.
 */
#ifndef SHOAL_ENGINE_BASE_STATISTICS_ALLOCATE_H
#define SHOAL_ENGINE_BASE_STATISTICS_ALLOCATE_H

#include <stdint.h>

#define ALLOCATE_FLOOR 4 /* so many times what every window gets is an even share */
#define ALLOCATE_ROWS 50 /* uncorrelated ones, from which a window may be left at that */

struct allocate_window {
    double rows;    /* uncorrelated ones; 0: not known */
    int64_t steps;  /* of each of its replicas, so far */
    int replicas;   /* as many make each of its steps */
    int64_t target; /* out: steps of each, no fewer than it has */
};

/* The variance if windows had made steps[n]; any unit. */
typedef double allocate_forecast_fn(void *arg, const double *steps);

/* Steps of a window of which nothing is known yet: the floor, in multiples of `every`. */
int64_t allocate_first(int64_t share, int64_t every);
/* Targets of windows [n], of which `share` steps each would be even, for `budget` steps in all, those that were made
 * included: from what they have in multiples of `every`. Less than one such of any window is left over. `forecast`
 * NULL: all get alike. */
void allocate(struct allocate_window *w, int n, int64_t share, int64_t budget, int64_t every,
              allocate_forecast_fn *forecast, void *arg);

#endif
