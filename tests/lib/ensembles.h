/* SPDX-License-Identifier: Apache-2.0
 *
 * Ensembles of known free energy whose samples are slow, oscillate, drift or are not of the states that they are said
 * to be of.
 *
 * The energy at lambda is u = lambda D + k x^2 / 2 + (bias + step lambda) s in kT, with k linear in lambda from 1. D is
 * Gaussian, x an oscillator, s is +1 or -1 and hops; none depends on another, so that G = mean - variance / 2 + ln(k1)
 * / 2 - ln(cosh(bias + step) / cosh(bias)).
 */
#ifndef SHOAL_TESTS_LIB_ENSEMBLES_H
#define SHOAL_TESTS_LIB_ENSEMBLES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/estimate/result/result.h"

enum mislabel {
    LABELS_RIGHT,
    LABELS_ALL_ONE,   /* every window holds samples of the middle one */
    LABELS_NEIGHBOUR, /* the middle one holds samples of the one before */
    LABELS_SIGN,      /* energies have the wrong sign */
    LABELS_UNIT,      /* energies are in kT where kJ/mol are expected */
    LABELS_EXCHANGED, /* the middle window and the one before are exchanged */
    LABELS_ENDS,      /* the first and the last are */
    LABELS_DOUBLED    /* energies of the middle one are twice what they should be */
};

struct known_ensemble {
    int windows, rows;
    double mean, variance; /* of D at lambda 0 */
    double slow, tau; /* so much of D's variance is autoregressive with this time, in rows; the rest has no memory */
    bool uneven;      /* tau is that at lambda 1, and in proportion to lambda */
    double k1, period, decay;  /* of x: k at lambda 1 (0: there is no x), and times in rows */
    double bias, step, hops;   /* of s; mean number of hops in a window (0: there is no s) */
    double relax, relax_share; /* D starts off by so many deviations, which decay in this share of the run */
    double trend;              /* D rises by so many deviations in the run */
    enum mislabel labels;
    int long_window, long_rows; /* this window has as many rows; 0: none does */
};

double known_exact(const struct known_ensemble *m);
/* Runs the estimators on one draw. `hopped`: windows in which s hopped. Close r with result_close, l with ladder_close.
 */
void known_estimate(const struct known_ensemble *m, uint64_t seed, struct ladder *l, struct result *r, int *hopped);

#endif
