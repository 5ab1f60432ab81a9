/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts behind estimate.h: correlated series, the three estimators. Free energies and reduced
 * potentials are in kT here; files are in kJ/mol. Zeroed structs are valid to close.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_ESTIMATORS_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_ESTIMATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"
#include "engine/base/statistics/stats.h"
#include "engine/system/settings.h"

/* ---- longrun.c: sums over correlated rows of independent windows */

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

/* ---- visits.c: visits and drift */

/* Chance, on a series of shorter memory, that the mean over one 32nd, 64th or 128th of it lies so far off the
 * others: the test of F. E. Grubbs, Technometrics 11, 1 (1969), doi 10.1080/00401706.1969.10490657, on ranks. 1 for
 * fewer than 256 members. */
double stats_visit(const double *x, size_t n);
/* How many members at the start lie significantly off the rest: 0 unless a test of the whole says so, which a
 * stationary series passes but for a chance of `level`. */
size_t stats_drift(const double *x, size_t n, double level);

/* ---- linear_algebra.c: small dense systems, row-major */

/* Solves a x = b for symmetric positive definite a (its lower triangle is overwritten), x in b. False: not positive
 * definite to working precision. */
bool linalg_cholesky(double *a, double *b, int n);
/* Solves a X = B (nrhs columns, in place) by LU with partial pivoting. False: singular. */
bool linalg_lu(double *a, double *b, int n, int nrhs);

/* ---- sampling: the rows of all windows, as every estimator wants them */

struct sampling {
    int nstates, ncomponents;
    const double *lambda; /* [nstates][ncomponents], borrowed */
    size_t *start;        /* [nstates + 1]: rows of state k are start[k] .. start[k+1); none: an unsampled state */
    double *u;     /* [total][nstates], kT: reduced potential in each state less that in the own one; may be INFINITY */
    double *dhdl;  /* [total][ncomponents], kT; NULL when some window has no derivatives */
    int nalong;    /* 0: of no coordinations; -1: of some that are not known of all rows */
    double *along; /* [total][nalong]: coordinations, and last the energy of the biases, kT */
    bool together; /* replicas exchange windows: rows of all sampled states are of the same times, and correlated */
};

static inline size_t sampling_count(const struct sampling *s, int k)
{
    return s->start[k + 1] - s->start[k];
}
/* Whether two states are one: their lambdas are equal. */
static inline bool states_equal(const double *lambda, int ncomponents, int a, int b)
{
    for (int c = 0; c < ncomponents; c++)
        if (lambda[a * ncomponents + c] != lambda[b * ncomponents + c])
            return false;
    return true;
}
/* Leaves out the first head[state] rows of every state. */
void sampling_cut(struct sampling *s, const size_t *head);
/* Leaves out first rows, so that every sampled state has as many as the one with the fewest: those of the last
 * times. */
void sampling_align(struct sampling *s);
void sampling_close(struct sampling *s);

/* ---- solution.c: what an estimator finds, with errors that know of correlation
 *
 * To first order the estimate less the truth is a sum over rows of influences, the rows of different windows are
 * independent, and within a window the influences are a correlated series; so the variance of any difference is the
 * sum over windows of the number of rows times the long-run variance of their influences. For MBAR this is the
 * central limit theorem of Li, Van Koten, Dinner and Thiede, J. Chem. Phys. 158, 214107 (2023), arXiv:2203.01227,
 * and Geyer's of 1994 before. Influences are kept as means over blocks of rows.
 *
 * Where replicas exchange windows the rows of different windows are not independent: what a replica is slow to
 * forget it takes along. Then all windows have rows of the same times, and the correlated series is the sum of their
 * influences at each time. */

struct influence {
    size_t rows, block, nblocks;
    double *mean; /* [nblocks][nstates]: of what a row adds to g of each state */
};

struct solution {
    int nstates;
    bool together;               /* as in struct sampling */
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
/* Rows of window w begin: `rows` of them, to be added in order. */
void solution_begin(struct solution *x, int window, size_t rows);
/* The influence of row `row` of a window on every state: value[nstates]. */
void solution_add(struct solution *x, int window, size_t row, const double *value);
/* The same along a chain: on the states after `window`, left + right; on it, left; before it, none. */
void solution_add_chain(struct solution *x, int window, size_t row, double left, double right);
/* States without samples become those with samples that have the same lambdas, where there are such. */
void solution_twins(struct solution *x, const struct sampling *s);
void solution_range(const struct solution *x, struct range *r);
/* What the rows of each window bring into the variance of the same difference, of which they are the sum:
 * part[windows], zeros for those without rows. Not where replicas exchange windows. */
void solution_parts(const struct solution *x, int from, int to, struct longrun *part);
/* Standard error of the difference that two estimators find from the same rows. */
double solution_difference_error(const struct solution *a, const struct solution *b, int from, int to);
void solution_close(struct solution *x);

/* ---- mbar.c */

struct mbar_table;

struct mbar {
    struct solution solution;
    double *overlap;  /* [n][n] */
    double *response; /* [n][n]: (1 - MN)^-1, what W_n of a row does to -f */
    double *ratio;    /* [n]: exp(f_k) in units of the table */
    int sweeps;       /* passes over the samples that the solution took */
    struct mbar_table *table;
};

/* Shirts and Chodera 2008. `guess`: [nstates] or NULL. ERR_ESTIMATE: no samples, no convergence, states without
 * overlap. */
int mbar_solve(struct mbar *m, const struct sampling *s, const double *guess, struct err *e);
/* The same from part [from, to) of every window's rows, as fractions of their number, of the rows after the first
 * head[window] where `head` is not NULL; ok false: no answer. */
void mbar_part(const struct mbar *m, const size_t *head, double from, double to, struct range *r);
/* W_nk of one row in all states: w[nstates]. */
void mbar_row_weights(const struct mbar *m, size_t row, double *w);
void mbar_close(struct mbar *m);

/* ---- bar.c */

/* Bennett's acceptance ratio of two states from forward work wf (kT, U1 - U0 sampled in 0) and reverse work wr (U0 - U1
 * sampled in 1). phi_f, phi_r: the Fermi weights over their means, for errors. ERR_ESTIMATE. */
int bar_pair(const double *wf, size_t nf, const double *wr, size_t nr, double *df, double *phi_f, double *phi_r,
             struct err *e);

/* Overlap of states i and j, whose free energies differ by df: the mean of the two entries of the overlap matrix of
 * these two alone, which other states do not change. 0.5: they are one; it depends little on which of them has more
 * rows. */
double bar_overlap(const struct sampling *s, int i, int j, double df);

/* Pairs of consecutive sampled states; unsampled ones are stepped over. */
struct bar {
    struct solution solution;
    int npairs;
    int *state;      /* [npairs + 1]: the sampled states */
    double *df;      /* [npairs] */
    double *overlap; /* [npairs]: as bar_overlap */
};

int bar_solve(struct bar *b, const struct sampling *s, struct err *e);
/* G of each state, that of the one before where BAR has none: where MBAR's search may begin. guess[nstates] */
void bar_guess(const struct bar *b, double *guess);
void bar_close(struct bar *b);

/* ---- ti.c */

struct ti {
    struct solution solution; /* trapezoid along the path of lambda vectors; unsampled states are stepped over */
    double *mean;             /* [nstates][ncomponents], kT; NAN: unsampled */
};

/* ERR_ESTIMATE: no derivatives, or fewer than two sampled states. */
int ti_solve(struct ti *t, const struct sampling *s, struct err *e);
/* Gauss-Legendre quadrature over the whole of [0, 1] when exactly one component moves, every state has samples and the
 * states are the nodes to 4 decimals (the precision of dhdl.xvg); else ok is false. */
void ti_gauss(const struct ti *t, const struct sampling *s, struct range *r);
void ti_close(struct ti *t);

#endif
