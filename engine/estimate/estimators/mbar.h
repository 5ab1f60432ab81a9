/* SPDX-License-Identifier: Apache-2.0
 *
 * MBAR: Shirts and Chodera 2008. Free energies and reduced potentials are in kT.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_MBAR_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_MBAR_H

#include "engine/base/err.h"
#include "engine/estimate/estimators/solution.h"

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
 * head[window] where `head` is not NULL; ok false: no answer, and the error says why. */
void mbar_part(const struct mbar *m, const size_t *head, double from, double to, struct range *r, struct err *e);
/* W_nk of one row in all states: w[nstates]. */
void mbar_row_weights(const struct mbar *m, size_t row, double *w);
void mbar_close(struct mbar *m);

#endif
