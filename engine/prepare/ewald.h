/* SPDX-License-Identifier: Apache-2.0
 *
 * Host-side numbers of the Ewald sum and of the mesh: splitting parameter, real-space polynomials, grid sizes, moduli.
 */
#ifndef SHOAL_ENGINE_PREPARE_EWALD_H
#define SHOAL_ENGINE_PREPARE_EWALD_H

#include "engine/base/err.h"
#include "engine/math/potentials/ewald.h"
#include "engine/system/settings.h"

/* beta with erfc(beta cutoff) = tolerance, 1/nm. */
double ewald_beta(double cutoff, double tolerance);
void ewald_fit_make(struct ewald_fit *fit, double beta, double cutoff);

/* Pairs feel qq (1/r + k r^2 - c) in a reaction field: what is uniform beyond the cut-off answers to the charges inside
 * of it (Tironi et al. 1995, doi 10.1063/1.469273). */
struct reaction_field {
    double k, c; /* 1/nm^3, 1/nm */
};
struct reaction_field reaction_field_of(const struct nonbonded_settings *set);

/* What is taken off 1/r, within the cut-off and between excluded pairs: the mesh's share, or -k r^2, a polynomial too.
 */
void coulomb_fit_make(struct ewald_fit *fit, const struct nonbonded_settings *set);
/* A constant that is taken off it, of pairs within the cut-off, 1/nm. */
double coulomb_shift_of(const struct nonbonded_settings *set);

/* Points along a box edge so that they are at most `spacing` apart: the first size that is at least as large in the
 * list GROMACS takes its sizes from, so that both use the same grid. Edges of more than MESH_EDGE_MAX points get that
 * many + 1. */
int mesh_size(double edge, double spacing, int order);
#define MESH_EDGE_MAX 4096         /* points along an edge */
#define MESH_POINTS_MAX (1L << 26) /* in all: half a gigabyte for each replica and array */
/* Sizes along the three edges, given ones or by spacing; the smallest where there is no PME. ERR_SPEC: too few points
 * for the order, or too many. */
int mesh_sizes(int32_t size[3], const double box[BOX_SIZE], const struct nonbonded_settings *set, struct err *e);
/* 1/|b(m)|^2 of the Euler exponential splines (Essmann et al. 1995, doi 10.1063/1.470117, eq. 4.4), m = 0 .. size-1. */
void mesh_modulus(double *out, int size, int order);

#endif
