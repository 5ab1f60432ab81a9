/* SPDX-License-Identifier: Apache-2.0
 *
 * MATH_FN marks the inline functions of engine/math: plain C in double precision, no branches on data in hot ones,
 * compiled for the host and for GPUs. MATH_FMA(a, b, c) is a * b + c, fused where the machine does that in one
 * instruction: functions that must give the same bits in several loops spell it out and are compiled with
 * -ffp-contract=off. MATH_FN_APART: what is seldom needed of such a function. On a GPU it stays out of line, where it
 * takes up no instruction cache. MATH_BOTH(k) is a loop over two states, unrolled, so that a loop around it vectorises.
 *
 * The compiler of a kind of GPU reads a header of that kind before any other (its meson.build says so), which defines
 * all of these. Where it compiles for the GPU, it also defines
 *   MATH_ATOMIC               many threads write to the same sums: atomicAdd and atomicOr are there
 *   MATH_ROOT_START(a)        1/sqrt(a) and 1/a, a normal and positive, good to 20 bits
 *   MATH_RECIPROCAL_START(a)
 */
#ifndef SHOAL_ENGINE_MATH_FN_H
#define SHOAL_ENGINE_MATH_FN_H

#include <math.h>

#ifndef MATH_FN
#define MATH_FN static inline __attribute__((always_inline)) /* or loops over them do not vectorise */
#endif

#ifndef MATH_FN_APART
#define MATH_FN_APART MATH_FN
#endif

#ifdef MATH_BOTH
#elif defined __clang__
#define MATH_BOTH(k) _Pragma("clang loop unroll(full)") for (int k = 0; k < 2; k++)
#else
#define MATH_BOTH(k) _Pragma("GCC unroll 2") for (int k = 0; k < 2; k++)
#endif

#ifdef MATH_FMA
#elif defined __FMA__
#define MATH_FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define MATH_FMA(a, b, c) ((a) * (b) + (c))
#endif

#endif
