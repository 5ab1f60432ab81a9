/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of a transform's length, for tables made on the host and for constants of kernels alike: in which
 * passes it is done, and the roots of unity.
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_FFT_PLAN_H
#define SHOAL_ENGINE_CUDA_MESH_FFT_PLAN_H

#include "engine/math/fn.h"

#ifdef __cplusplus
#define TURN_FN constexpr MATH_FN
#else
#define TURN_FN MATH_FN
#endif

/* Radix of the next pass, `rest` > 1 being the product of those that are left. Radices up to 10 have passes of their
 * own: one of them if that is enough, or two that are as equal as can be, else the largest; primes above 10 remain, of
 * which 11 and 13 come first where one more pass is enough (MESH_PLANE_LENGTHS). */
TURN_FN int next_radix(int rest)
{
    const int most = 10;
    int p = most;
    if (rest <= most)
        return rest;
    for (int first = 2; first <= most; first++)
        if (rest % first == 0 && rest / first <= first)
            return first;
    for (int prime = 11; prime <= 13; prime += 2)
        if (rest % prime == 0 && rest / prime <= most)
            return prime;
    for (; p > 1 && rest % p; p--)
        ;
    if (p > 1)
        return p;
    for (p = most + 1; rest % p; p++)
        ;
    return p;
}

/* Taylor series, for 0 <= x <= pi/4: cosine from term 1, sine from term x. */
TURN_FN double turn_series(double term, double x, int k)
{
    double sum = term;
    for (; k < 24; k += 2) {
        term *= -x * x / ((k + 1) * (k + 2));
        sum += term;
    }
    return sum;
}

/* cos(2 pi k / n), 0 <= k <= n; 0, +-1 and equal magnitudes are exact. */
TURN_FN double cos_turn(long k, long n)
{
    double sign = 1, turn = 6.283185307179586476925286766559;
    if (2 * k > n)
        k = n - k;
    if (4 * k > n) {
        sign = -1;
        k = n - 2 * k;
        n *= 2;
    }
    return sign * (8 * k > n ? turn_series(turn * (double)(n - 4 * k) / (double)(4 * n),
                                           turn * (double)(n - 4 * k) / (double)(4 * n), 1)
                             : turn_series(1, turn * (double)k / (double)n, 0));
}

/* sin(2 pi k / n), 0 <= k < n */
TURN_FN double sin_turn(long k, long n)
{
    return cos_turn(4 * k < n ? n - 4 * k : 4 * k - n, 4 * n);
}

#endif
