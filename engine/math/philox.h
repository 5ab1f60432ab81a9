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
enum stream { STREAM_TIMESTEP, STREAM_THERMALIZE, STREAM_BAROSTAT, STREAM_EXCHANGE, STREAM_COUNT };
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

/* cos and sin of 2 pi u: reduced to |t| <= pi/4, Taylor series (next term below 1e-17), then the quadrant. */
MATH_FN void philox_cos_sin(double u, double *c, double *s)
{
    double quarter = rint(4 * u);
    double t = (u - 0.25 * quarter) * 6.28318530717958647693, z = t * t;
    int32_t q = (int32_t)quarter;
    double sp = -1.0 / 1307674368000.0;
    sp = sp * z + 1.0 / 6227020800.0;
    sp = sp * z - 1.0 / 39916800.0;
    sp = sp * z + 1.0 / 362880.0;
    sp = sp * z - 1.0 / 5040.0;
    sp = sp * z + 1.0 / 120.0;
    sp = sp * z - 1.0 / 6.0;
    double sine = t + t * z * sp;
    double cp = 1.0 / 20922789888000.0;
    cp = cp * z - 1.0 / 87178291200.0;
    cp = cp * z + 1.0 / 479001600.0;
    cp = cp * z - 1.0 / 3628800.0;
    cp = cp * z + 1.0 / 40320.0;
    cp = cp * z - 1.0 / 720.0;
    cp = cp * z + 1.0 / 24.0;
    cp = cp * z - 0.5;
    double cosine = 1 + z * cp;
    double a = q & 1 ? sine : cosine, b = q & 1 ? cosine : sine;
    *c = (q + 1) & 2 ? -a : a;
    *s = q & 2 ? -b : b;
}

/* Two independent standard normal deviates (Box and Muller 1958). */
MATH_FN void philox_normal(struct philox r, double out[2])
{
    double radius = sqrt(-2 * philox_log(philox_uniform(r.word[0], r.word[1])));
    double c, s;
    philox_cos_sin(philox_uniform(r.word[2], r.word[3]), &c, &s);
    out[0] = radius * c;
    out[1] = radius * s;
}

#endif
