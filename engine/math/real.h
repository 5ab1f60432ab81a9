/* SPDX-License-Identifier: Apache-2.0
 *
 * `real` is the type the formulas of engine/math compute in: double, or float in a file that is compiled with
 * -DREAL_IS_FLOAT. Structs of formulas (lj_rule, soft_pair, ewald_fit, ..) are made of reals too, so such a file makes its
 * own: the tables of engine/system are in double. REAL(c) is a constant as a real; without it a float formula would be
 * computed in double. Whole numbers need no REAL.
 */
#ifndef SHOAL_ENGINE_MATH_REAL_H
#define SHOAL_ENGINE_MATH_REAL_H

#ifdef REAL_IS_FLOAT
typedef float real;
#else
typedef double real;
#endif

#define REAL(c) ((real)(c))

#endif
