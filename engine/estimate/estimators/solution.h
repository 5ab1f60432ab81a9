/* SPDX-License-Identifier: Apache-2.0
 *
 * What an estimator finds, with errors that know of correlation. Free energies and reduced potentials are in kT.
 *
 * To first order the estimate less the truth is a sum over rows of influences, the rows of different windows are
 * independent, and within a window the influences are a correlated series; so the variance of any difference is the
 * sum over windows of the number of rows times the long-run variance of their influences. For MBAR this is the
 * central limit theorem of Li, Van Koten, Dinner and Thiede, J. Chem. Phys. 158, 214107 (2023), arXiv:2203.01227,
 * and Geyer's of 1994 before. Influences are kept as means over blocks of rows.
 *
 * Where replicas exchange windows the rows of different windows are not independent: what a replica is slow to
 * forget it takes along. Then all windows have rows of the same times, and the correlated series is the sum of their
 * influences at each time.
 *
 * Where one run goes through all states there is one series, too: at each of its rows the influence of that row, less
 * the mean of those of its state. How many rows a state gets is a matter of chance then. It does not matter to first
 * order, because the estimators are right for any numbers of rows, and taking off the mean of each state is what this
 * comes to: with S the equations that have to be 0 and s the state of a row, dS/dN_s is minus the mean of what rows of
 * s add to S.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_SOLUTION_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_SOLUTION_H

#include "engine/estimate/estimators/longrun.h"
#include "engine/estimate/estimators/sampling.h"

struct influence {
    size_t rows, from, block, nblocks;
    double *mean;   /* [nblocks][nstates]: of what a row adds to g of each state */
    size_t *within; /* [nblocks], of one run alone: rows of this state in each block */
};

struct solution {
    int nstates;
    bool together;               /* as in struct sampling */
    const size_t *place;         /* as there, until all rows have been added */
    size_t first, run;           /* rows first .. first + run of the one run */
    double *g;                   /* [nstates] kT; NAN: no answer */
    struct influence *influence; /* [nstates]: of each window's rows */
    double *bend, *blind; /* [nstates]: quadrature error from the first state on, with its sign, and what has none */
};

/* G(to) - G(from) and its standard error, kT; ok is false when the estimator has no answer for these ends. */
struct range {
    int from, to;
    bool ok;
    double value, error;
    double quadrature;                         /* part of the error */
    double freedom, uncorrelated, slow, drift; /* as in struct spread, the last two in standard errors */
    int verdict;                               /* enum verdict_kind */
};

/* Room for `nstates` states and the influences of all rows of s, all 0. */
void solution_init(struct solution *x, int nstates, const struct sampling *s);
/* Only so many rows of the one run are going to be added. */
void solution_part(struct solution *x, size_t first, size_t run);
/* Rows of window w begin: `rows` of them, to be added in order; `first` is that of the sampling. */
void solution_begin(struct solution *x, int window, size_t first, size_t rows);
/* The influence of row `row` of a window on every state: value[nstates]. */
void solution_add(struct solution *x, int window, size_t row, const double *value);
/* The same along a chain: on the states after `window`, left + right; on it, left; before it, none. */
void solution_add_chain(struct solution *x, int window, size_t row, double left, double right);
/* States without samples become those with samples that have the same lambdas, where there are such. */
void solution_twins(struct solution *x, const struct sampling *s);
void solution_range(const struct solution *x, struct range *r);
/* What the rows of each window bring into the variance of the same difference, of which they are the sum:
 * part[windows], zeros for those without rows. Not where replicas exchange windows, nor of one run. */
void solution_parts(const struct solution *x, int from, int to, struct longrun *part);
/* Standard error of the difference that two estimators find from the same rows. */
double solution_difference_error(const struct solution *a, const struct solution *b, int from, int to);
void solution_close(struct solution *x);

#endif
