/* SPDX-License-Identifier: Apache-2.0
 *
 * Small dense systems, row-major, and inner products.
 */
#ifndef SHOAL_ENGINE_ESTIMATE_ESTIMATORS_LINEAR_ALGEBRA_H
#define SHOAL_ENGINE_ESTIMATE_ESTIMATORS_LINEAR_ALGEBRA_H

#include <stdbool.h>
#include <stddef.h>

/* The sum of a_i b_i, in four sums that need not wait for each other. */
double linalg_dot(const double *a, const double *b, size_t n);
/* Solves a x = b for symmetric positive definite a (its lower triangle is overwritten), x in b. False: not positive
 * definite to working precision. */
bool linalg_cholesky(double *a, double *b, int n);
/* Solves a X = B (nrhs columns, in place) by LU with partial pivoting. False: singular. */
bool linalg_lu(double *a, double *b, int n, int nrhs);

#endif
