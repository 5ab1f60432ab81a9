/* SPDX-License-Identifier: Apache-2.0
 *
 * MATH_FN marks the inline functions of engine/math: plain C, no branches on data in hot ones, compiled by cc and by nvcc.
 */
#ifndef SHOAL_ENGINE_MATH_FN_H
#define SHOAL_ENGINE_MATH_FN_H

#ifdef __CUDACC__
#define MATH_FN static inline __host__ __device__
#else
#define MATH_FN static inline
#endif

#endif
