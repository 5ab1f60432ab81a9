/* SPDX-License-Identifier: Apache-2.0
 *
 * One-dimensional harmonic oscillators along a lambda ladder: u(x) = a (x - c)^2 / 2 in kT, with a and c linear in each
 * lambda component, so that free energies are known: G(k) - G(0) = ln(a_k / a_0) / 2.
 */
#ifndef SHOAL_TESTS_LIB_OSCILLATORS_H
#define SHOAL_TESTS_LIB_OSCILLATORS_H

#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/estimate/estimators/sampling.h"
#include "engine/system/settings.h"

struct ladder_of_oscillators {
    int nstates, ncomponents;
    const double *lambda;     /* [nstates][ncomponents] */
    double a0, c0;            /* at lambda 0 */
    double da[2], dc[2];      /* per component */
    double memory;            /* correlation of a sample with the one before; 0: independent */
    enum lambda component[2]; /* for the file */
};

double random_uniform(uint64_t *state); /* (0, 1) */
double random_normal(uint64_t *state);

/* Exact G(k) - G(0) in kT. */
double oscillators_exact(const struct ladder_of_oscillators *o, int k);
/* count[k] samples of each state, with derivatives; close with sampling_close. */
void oscillators_sample(struct sampling *s, const struct ladder_of_oscillators *o, const int *count, uint64_t seed);
/* dhdl.xvg of state k with n samples, one each ps, at `temperature`. */
void oscillators_file(struct buf *out, const struct ladder_of_oscillators *o, int k, int n, double temperature,
                      uint64_t seed);
/* The same with x from the state of another ladder: a sampling that goes wrong. */
void oscillators_file_of(struct buf *out, const struct ladder_of_oscillators *o,
                         const struct ladder_of_oscillators *sampled, int k, int n, double temperature, uint64_t seed);
/* The header of such a file alone. */
void oscillators_header(struct buf *out, const struct ladder_of_oscillators *o, int k, double temperature);

#endif
