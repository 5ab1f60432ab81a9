/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of all windows, as every estimator wants them.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_SAMPLING_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>

struct sampling {
    int nstates, ncomponents;
    const double *lambda; /* [nstates][ncomponents], borrowed */
    size_t *start;        /* [nstates + 1]: rows of state k are start[k] .. start[k+1); none: an unsampled state */
    double *u;     /* [total][nstates], kT: reduced potential in each state less that in the own one; may be INFINITY */
    double *dhdl;  /* [total][ncomponents], kT; NULL when some window has no derivatives */
    int nalong;    /* 0: of no coordinations; -1: of some that are not known of all rows */
    double *along; /* [total][nalong]: coordinations, and last the energy of the biases, kT */
    double *time;  /* [total] ps; NULL: not known */
    size_t *place; /* [total] where all rows are of one run in which the state changes: number of the row in it; NULL */
    size_t run;    /* and its rows */
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
/* Leaves out the first head[state] rows of every state. Of one run, those of all states before a row of it. */
void sampling_cut(struct sampling *s, const size_t *head);
/* Leaves rows of the times that every sampled state has, all of one number. Where times are not known, or there are no
 * common ones, first rows are left out, so that every sampled state has as many as the one with the fewest. */
void sampling_align(struct sampling *s);
/* How many of the first rows of state k come before row `place` of the one run. */
size_t sampling_before(const struct sampling *s, int k, size_t place);
void sampling_close(struct sampling *s);

#endif
