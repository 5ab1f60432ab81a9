/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps in single precision: consumer cards do double precision at a sixty-fourth of it. Positions are whole
 * multiples of 2^-33 nm while they move. Single precision has the vectors between atoms at fixed distances, of which it
 * knows the directions to 6e-8, and how far atoms go in the step, to 6e-8 of 1e-3 nm. Lengths do not suffer from that:
 * how much the square of one is off at the begin of a step is a sum of whole numbers, exact, and the rest is of the
 * order of the step. So they are right to some 1e-9 of themselves, where formulas of positions in single precision
 * leave 1e-7.
 *
 * Constraint forces act along the vectors as they were (engine/math/bodies). They are found by iteration with the
 * matrix of these: each round leaves a part as small as the angle by which the body turns in the step.
 */
#ifndef SHOAL_ENGINE_CUDA_MOTION_HELD32_CUH
#define SHOAL_ENGINE_CUDA_MOTION_HELD32_CUH

#include "engine/cuda/device/vector32.cuh"
#include "engine/cuda/motion/body_memory.cuh"

#define ROUNDS32 100 /* of the iteration, at most */
#define LAST32 1e-7f /* relative deviation of a length's square, from which on one round is enough */
#define MOST32 1e-6f /* where rounding holds it above that in bodies that turn far: what is accepted */
#define WRONG32 1.0f /* from which on there is no solution: the body has turned by 45 degrees */
#define ROOM32 0.25  /* nm along each axis: differences of positions within a body are below that */

/* An atom of a body between its threads. */
struct held32 {
    int32_t x[3];  /* position, the last 32 bits: differences within a body are smaller */
    float v[3];    /* nm/ps */
    float push[3]; /* onto v once it obeys the constraints, nm/ps; then how far the atom goes, nm */
};

/* struct motion_rule; `keep` as what it lacks to 1, which is small. */
struct motion_rule32 {
    float loss, noise, half, kick; /* kick: of a whole step, for a unit of fixed force, u nm/ps */
    float due;                     /* motion_kick_due() */
};

PAIR_FN struct motion_rule32 motion_rule32_of(const struct motion_rule *r, double timestep, double due)
{
    struct motion_rule32 s = {0, 0, (float)(0.5 * timestep), (float)(timestep / FIXED_SCALE), (float)due};
    if (r) {
        s.loss = (float)(1 - r->keep);
        s.noise = (float)r->noise;
    }
    return s;
}

/* ---- whole numbers ---- */

/* Of a double in [2^19, 2^20) the last bit is 2^-33. */
#define POSITION_MAGIC 786432.0

/* A position in units of 2^-33 nm, and some multiple of 2^32 of them. */
PAIR_FN int64_t position_bits(double x)
{
    const double sum = x + POSITION_MAGIC;
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return bits;
}

PAIR_FN double position_of(int64_t bits)
{
    double sum;
    memcpy(&sum, &bits, sizeof sum);
    return sum - POSITION_MAGIC;
}

/* A displacement below 4096 nm in the same units, in two parts, as a float has not the bits for all of them. */
PAIR_FN int64_t displacement_bits(float dx)
{
    const float magic = 12288.0f, magic_low = 12582912.0f; /* the last bit: 2^-10, 1 */
    const float high = __fadd_rn(dx, magic), rest = __fsub_rn(dx, __fsub_rn(high, magic));
    const float low = __fmaf_rn(rest, 8589934592.0f, magic_low);
    return (int64_t)(__float_as_int(high) - __float_as_int(magic)) * (1 << 23) +
           (__float_as_int(low) - __float_as_int(magic_low));
}

/* To the nearest float but for its last bit: conversions of 64 bits take as long as double precision does. */
PAIR_FN float float_of(int64_t v)
{
    const int32_t low = (int32_t)v;
    return __fmaf_rn((float)(int32_t)((v - low) >> 32), 4294967296.0f, (float)low);
}

/* ---- one axis of an atom ---- */

/* Kicked. RULE: friction and noise. kick: for a unit of fixed force; noise: onto the velocity, nm/ps. */
template <bool RULE>
PAIR_FN void hold_along32(const struct motion_rule32 &rule, float kick, float noise, double x, double v, int64_t f,
                          struct held32 *to, int d)
{
    const float whole = kick * float_of(f);
    to->x[d] = (int32_t)position_bits(x);
    to->v[d] = (float)v + rule.due * whole;
    to->push[d] = RULE ? noise : 0.5f * whole;
}

/* What noise adds to the velocity of an atom in a step; inverse_root: of its mass. */
static __device__ __forceinline__ void noise32(const struct ctl *c, uint64_t step, int32_t i, float noise,
                                               float inverse_root, float out[3])
{
    float deviate[4];
    philox_normal(philox_at(c->seed, c->replica, step, STREAM_TIMESTEP, (uint32_t)i), deviate);
#pragma unroll
    for (int d = 0; d < 3; d++)
        out[d] = noise * inverse_root * deviate[d];
}

/* Where a displacement leads to. */
PAIR_FN double moved32(double x, float dx)
{
    return position_of(position_bits(x) + displacement_bits(dx));
}

/* ---- vectors ---- */

PAIR_FN float dot32(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

PAIR_FN void sub32(const float a[3], const float b[3], float out[3])
{
#pragma unroll
    for (int d = 0; d < 3; d++)
        out[d] = a[d] - b[d];
}

/* By how much the square of a length is too long once one end has moved by `moved` from the other, nm^2. */
PAIR_FN float excess32(float before, const float r[3], const float moved[3])
{
    float sum = before;
#pragma unroll
    for (int d = 0; d < 3; d++)
        sum = __fmaf_rn(moved[d], __fmaf_rn(2.0f, r[d], moved[d]), sum);
    return sum;
}

/* a - b, which must be smaller than ROOM32. */
PAIR_FN int32_t apart32(const struct held32 &a, const struct held32 &b, int d)
{
    return (int32_t)((uint32_t)a.x[d] - (uint32_t)b.x[d]);
}

/* sum + a^2, which may wrap. */
PAIR_FN int64_t add_square32(int64_t sum, int32_t a)
{
    return (int64_t)((uint64_t)sum + (uint64_t)((int64_t)a * a));
}

/* Of a square in units of 2^-66 nm^2, nm^2. */
PAIR_FN float longer32(int64_t square, int64_t expected)
{
    return float_of((int64_t)((uint64_t)square - (uint64_t)expected)) * 0x1p-66f;
}

/* Push and drift of an atom along one axis. RULE: friction and noise. v becomes what it is then; how far it goes. */
template <bool RULE> PAIR_FN float drift32(const struct motion_rule32 &rule, float push, float *v)
{
    const float before = *v, pushed = before + push;
    *v = RULE ? __fmaf_rn(-rule.loss, before, pushed) : pushed;
    return rule.half * (RULE ? before + *v : 2 * *v);
}

#endif
