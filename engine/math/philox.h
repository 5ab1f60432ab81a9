/* SPDX-License-Identifier: Apache-2.0
 *
 * Counter-based random numbers: Philox4x32-10 (Salmon et al. 2011, doi 10.1145/2063384.2063405), and normal deviates
 * from it by Box-Muller. A number depends on seed, replica, step, stream and index alone.
 *
 * Key = the seed's 64 bits. Counter = { index, replica, low 32 bits of step, stream << 16 | next 16 bits of step }: two
 * uses differ in at least one word as long as steps stay below 2^48, so no two streams ever share a number.
 */
#ifndef SHOAL_ENGINE_MATH_PHILOX_H
#define SHOAL_ENGINE_MATH_PHILOX_H

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine/math/fn.h"

/* Every use of random numbers in the engine. Numbers are part of a replica's bits: append only. STREAM_TIMESTEP serves
 * every integrator, as a replica has one. */
enum stream { STREAM_TIMESTEP, STREAM_THERMALIZE, STREAM_BAROSTAT, STREAM_EXCHANGE, STREAM_WATERS, STREAM_COUNT };
static_assert(STREAM_COUNT <= 65536, "a stream has 16 bits of the counter");

struct philox {
    uint32_t word[4];
};

MATH_FN struct philox philox_block(struct philox c, uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c.word[0], p1 = (uint64_t)0xCD9E8D57u * c.word[2];
        struct philox n = {{(uint32_t)(p1 >> 32) ^ c.word[1] ^ key0, (uint32_t)p1,
                            (uint32_t)(p0 >> 32) ^ c.word[3] ^ key1, (uint32_t)p0}};
        c = n;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return c;
}

MATH_FN struct philox philox_at(uint64_t seed, uint32_t replica, uint64_t step, uint32_t stream, uint32_t index)
{
    struct philox c = {{index, replica, (uint32_t)step, stream << 16 | ((uint32_t)(step >> 32) & 0xffffu)}};
    return philox_block(c, (uint32_t)seed, (uint32_t)(seed >> 32));
}

/* 53 random bits as a double in (0, 1]: never 0, so that its logarithm is finite. */
MATH_FN double philox_uniform(uint32_t hi, uint32_t lo)
{
    return (double)((int64_t)(((uint64_t)hi << 32 | lo) >> 11) + 1) * 0x1p-53;
}

/* Natural logarithm of a normal number in (0, 1], to about 2 units in the last place: u = m 2^e with m in
 * [sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1)/(m + 1)) by its series. Our own, so that compilers vectorize it and the
 * bits do not depend on the C library. */
MATH_FN double philox_log(double u)
{
    uint64_t bits;
    memcpy(&bits, &u, sizeof bits);
    uint64_t shifted = bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    int32_t e = (int32_t)(shifted >> 52) - 1023;
    bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    double m;
    memcpy(&m, &bits, sizeof m);
    double s = (m - 1) / (m + 1), z = s * s;
    double p = 1.0 / 21;
    p = p * z + 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    return e * 0.69314718055994530942 + 2 * (s + s * z * p);
}

/* ---- normal deviates ----
 *
 * In single precision, as noise needs no more, and by sums, products and roots alone: no library has a say in its bits,
 * which differ between kinds of devices in the last place, as these may add and multiply in one operation.
 */

/* -2 log((word / 2 | 1) 2^-31), where the fraction rounds to a float in (0, 1]: at most 43, relative error below 3e-7.
 * As philox_log, with log(1 + f) = f p(f), p fitted for the least largest relative error. */
MATH_FN float philox_minus_two_log(uint32_t word)
{
    const float u = (float)(int32_t)(word >> 1 | 1u) * 0x1p-31f;
    uint32_t bits;
    memcpy(&bits, &u, sizeof bits);
    const uint32_t shifted = bits + (0x3f800000u - 0x3f3504f3u);
    const float e = (float)((int32_t)(shifted >> 23) - 127);
    bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
    float m;
    memcpy(&m, &bits, sizeof m);
    const float f = m - 1;
    float p = 0.08722243458f;
    p = p * f - 0.1436678767f;
    p = p * f + 0.1495228261f;
    p = p * f - 0.1656240225f;
    p = p * f + 0.1995683312f;
    p = p * f - 0.2500207424f;
    p = p * f + 0.3333418667f;
    p = p * f - 0.4999998808f;
    p = p * f + 1;
    return -2 * (e * 0.6931471806f + f * p);
}

/* cos and sin of 2 pi word 2^-32, to 2e-7: reduced to |t| <= pi/4, fitted likewise, then the quadrant. */
MATH_FN void philox_cos_sin(uint32_t word, float *c, float *s)
{
    const uint32_t q = (word + 0x20000000u) >> 30;
    const float t = (float)(int32_t)(word - (q << 30)) * (6.283185307f * 0x1p-32f), z = t * t;
    float sp = -0.0001951729791f;
    sp = sp * z + 0.008332177997f;
    sp = sp * z - 0.1666665524f;
    const float sine = t + t * (z * sp);
    float cp = 2.439045056e-05f;
    cp = cp * z - 0.001388676348f;
    cp = cp * z + 0.0416666232f;
    cp = cp * z - 0.5f;
    const float cosine = 1 + z * cp, a = q & 1 ? sine : cosine, b = q & 1 ? cosine : sine;
    *c = (q + 1) & 2 ? -a : a;
    *s = q & 2 ? -b : b;
}

/* Four independent standard normal deviates, none beyond 6.6 (Box and Muller 1958, doi 10.1214/aoms/1177706645). */
MATH_FN void philox_normal(struct philox r, float out[4])
{
    for (int k = 0; k < 4; k += 2) {
        const float radius = sqrtf(philox_minus_two_log(r.word[k]));
        float c, s;
        philox_cos_sin(r.word[k + 1], &c, &s);
        out[k] = radius * c;
        out[k + 1] = radius * s;
    }
}

/* The three of an atom, whose number is the index. */
MATH_FN void philox_noise(uint64_t seed, uint32_t replica, uint64_t step, enum stream stream, uint32_t atom,
                          double out[3])
{
    float deviate[4];
    philox_normal(philox_at(seed, replica, step, stream, atom), deviate);
    for (int d = 0; d < 3; d++)
        out[d] = deviate[d];
}

#endif
