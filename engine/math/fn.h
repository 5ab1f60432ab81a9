/* SPDX-License-Identifier: Apache-2.0
 *
 * MATH_FN marks the inline functions of engine/math: plain C, no branches on data in hot ones, compiled by cc and by nvcc.
 * MATH_FMA(a, b, c) is a * b + c, fused where the machine does that in one instruction: functions that must give the same
 * bits in several loops spell it out and are compiled with -ffp-contract=off.
 */
#ifndef SHOAL_ENGINE_MATH_FN_H
#define SHOAL_ENGINE_MATH_FN_H

#ifdef __CUDACC__
#define MATH_FN static inline __host__ __device__
#else
#define MATH_FN static inline
#endif

#if defined(__FMA__) || defined(__CUDACC__)
#define MATH_FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define MATH_FMA(a, b, c) ((a) * (b) + (c))
#endif

#endif
