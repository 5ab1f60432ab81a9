/* SPDX-License-Identifier: Apache-2.0
 *
 * The weights of rows in MBAR's equations, and their sums. Reduced potentials and free energies are in kT.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_MBAR_WEIGHTS_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_MBAR_WEIGHTS_H

#include "engine/estimate/estimators/sampling.h"

#define MBAR_ROWS 64 /* looked at in one go: what there is to sum of them is in the cache */

/* exp(base_k - u_nk) of every row and state, over the largest of the row's sampled states: exponentials are taken once,
 * not in every sweep. `base` is near the solution, so that exp(f_k - base_k) stays in range. */
struct mbar_table {
    const struct sampling *s;
    double *base; /* [nstates] */
    double *e;    /* [rows][nstates] */
};

/* The sampled states alone, or a part of their rows: what the equations are solved for. */
struct mbar_problem {
    const struct mbar_table *table;
    int nstates, n;        /* all and sampled */
    int *state;            /* [n] */
    size_t *first, *last;  /* [n] rows taken: first .. last */
    size_t place, run;     /* of one run: the first of its rows taken, and how many from it on to the last */
    double *count, *log_n; /* [n] N_k and its logarithm */
    double *scale;         /* [n] N_k exp(f_k - base_k), set_f */
    double *p;             /* [n][MBAR_ROWS] p_nk of the rows last looked at */
    double *mixture;       /* [MBAR_ROWS] of the same rows sum_k N_k exp(f_k - u_nk), in the table's units of each */
};

/* Around `guess`: [nstates], or NULL for 0. */
struct mbar_table *mbar_table_new(const struct sampling *s, const double *guess);
/* After a change of its base. */
void mbar_table_fill(struct mbar_table *t);
void mbar_table_free(struct mbar_table *t);

/* from and to: fractions of every window's rows, of those after the first head[window] where there is a head; of one
 * run they are fractions of the run. */
void mbar_problem_init(struct mbar_problem *p, const struct mbar_table *t, const size_t *head, double from, double to);
void mbar_problem_close(struct mbar_problem *p);
/* f of the sampled states, for the rows to come. */
void mbar_set_f(const struct mbar_problem *p, const double *f);
/* Of the rows from `row` on of sampled state w, how many to look at in one go. */
size_t mbar_rows_at(const struct mbar_problem *p, int w, size_t row);
/* p_nk and mixture of so many rows. */
void mbar_mixture_weights(const struct mbar_problem *p, size_t row, size_t rows);
/* Adds x x^T, of n series of so many rows, x[n][MBAR_ROWS], to the lower triangle. */
void mbar_add_products(const double *x, size_t n, size_t rows, double *square);

#endif
