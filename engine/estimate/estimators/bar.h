/* SPDX-License-Identifier: Apache-2.0
 *
 * Bennett's acceptance ratio, and overlap. Free energies and reduced potentials are in kT.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_BAR_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_BAR_H

#include "engine/base/err.h"
#include "engine/estimate/estimators/solution.h"

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

#endif
