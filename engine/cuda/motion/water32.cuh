/* SPDX-License-Identifier: Apache-2.0
 *
 * A timestep of a rigid water in single precision: of a hundred atoms most are waters', and consumer cards do double
 * precision at a sixty-fourth of single. Positions are whole multiples of 2^-33 nm while they move. Single precision
 * has the sides of the water, of which it knows the directions to 6e-8, and how far its atoms go in the step, to 6e-8
 * of 1e-3 nm. Lengths do not suffer from that: how much the square of a side is off at the begin of a step is a sum of
 * whole numbers, exact, and the rest is of the order of the step. So sides are right to 1e-9 of themselves, where
 * SETTLE's formulas in single precision leave 1e-7.
 *
 * Constraint forces act along the sides as they were, as in SETTLE (engine/math/bodies/settle.h). They are found by
 * iteration: with the matrix of the ideal shape each round leaves a part as small as the angle by which the water turns
 * in the step.
 */
#ifndef SHOAL_ENGINE_CUDA_MOTION_WATER32_CUH
#define SHOAL_ENGINE_CUDA_MOTION_WATER32_CUH

#include "engine/cuda/device/vector32.cuh"
#include "engine/kernels/motion.h"

#define WATER32_ROUNDS 100 /* of the iteration, at most */
#define WATER32_LAST 1e-7f /* relative deviation of a side's square, from which on one round is enough */
#define WATER32_MOST 1e-6f /* where rounding holds it above that in waters that turn far: what is accepted */

/* One of its atoms between its threads. */
struct held32 {
    int32_t x[3];  /* position, the last 32 bits: differences within a water are smaller */
    float v[3];    /* nm/ps */
    float push[3]; /* onto v once it obeys the constraints, nm/ps; then how far the atom goes, nm */
};

/* struct motion_rule; `keep` as what it lacks to 1, which is small. */
struct motion_rule32 {
    float loss, noise, half, kick; /* kick: of a whole step, for a unit of fixed force, u nm/ps */
};

PAIR_FN struct motion_rule32 motion_rule32_of(const struct motion_rule *r, double timestep)
{
    struct motion_rule32 s = {0, 0, (float)(0.5 * timestep), (float)(timestep / FIXED_SCALE)};
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

/* ---- the water ---- */

/* b: what is to be taken off along the sides; l: the impulses along them that do it. */
PAIR_FN void water32_pulls(const struct water_shape32 &w, const float b[3], float l[3])
{
    l[0] = w.k00 * b[0] + w.k01 * b[1] + w.k02 * b[2];
    l[1] = w.k01 * b[0] + w.k00 * b[1] + w.k02 * b[2];
    l[2] = w.k02 * (b[0] + b[1]) + w.k22 * b[2];
}

/* What such impulses do to O, H1 and H2; side: O - H1, O - H2. */
PAIR_FN void water32_moves(const struct water_shape32 &w, const float side[2][3], const float l[3], float u[3][3])
{
    const float o0 = w.inverse_mass[0] * l[0], o1 = w.inverse_mass[0] * l[1];
    const float h0 = w.inverse_mass[1] * (l[0] + l[2]), h1 = w.inverse_mass[1] * (l[1] + l[2]);
    const float h2 = w.inverse_mass[1] * l[2];
#pragma unroll
    for (int d = 0; d < 3; d++) {
        u[0][d] = o0 * side[0][d] + o1 * side[1][d];
        u[1][d] = h2 * side[1][d] - h0 * side[0][d];
        u[2][d] = h2 * side[0][d] - h1 * side[1][d];
    }
}

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

/* settle_velocities() */
PAIR_FN void water32_project(const struct water_shape32 &w, const float side[2][3], float v[3][3])
{
    float third[3], rel[3], b[3], l[3], u[3][3];
    sub32(side[1], side[0], third);
    sub32(v[1], v[0], rel);
    b[0] = dot32(side[0], rel);
    sub32(v[2], v[0], rel);
    b[1] = dot32(side[1], rel);
    sub32(v[2], v[1], rel);
    b[2] = dot32(third, rel);
    water32_pulls(w, b, l);
    water32_moves(w, side, l, u);
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int d = 0; d < 3; d++)
            v[k][d] += u[k][d];
}

/* The sides before the step: the two at O, and by how much the squares of all three are too long, nm^2. */
struct sides32 {
    float side[2][3], excess[3];
};

PAIR_FN struct sides32 sides32_of(const struct water_shape32 &w, const struct held32 atom[3])
{
    struct sides32 s;
    int64_t square[3] = {0, 0, 0};
#pragma unroll
    for (int d = 0; d < 3; d++) {
        const int32_t a = (int32_t)((uint32_t)atom[0].x[d] - (uint32_t)atom[1].x[d]),
                      b = (int32_t)((uint32_t)atom[0].x[d] - (uint32_t)atom[2].x[d]),
                      c = (int32_t)((uint32_t)atom[1].x[d] - (uint32_t)atom[2].x[d]);
        square[0] = (int64_t)((uint64_t)square[0] + (uint64_t)((int64_t)a * a));
        square[1] = (int64_t)((uint64_t)square[1] + (uint64_t)((int64_t)b * b));
        square[2] = (int64_t)((uint64_t)square[2] + (uint64_t)((int64_t)c * c));
        s.side[0][d] = (float)a * 0x1p-33f;
        s.side[1][d] = (float)b * 0x1p-33f;
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        s.excess[k] = float_of((int64_t)((uint64_t)square[k] - (uint64_t)w.side2[k == 2])) * 0x1p-66f;
    return s;
}

/* By how much the square of a side is too long once its end has moved by `moved` from the other, nm^2. */
PAIR_FN float excess32(float before, const float side[3], const float moved[3])
{
    float sum = before;
#pragma unroll
    for (int d = 0; d < 3; d++)
        sum = __fmaf_rn(moved[d], __fmaf_rn(2.0f, side[d], moved[d]), sum);
    return sum;
}

/* How far O, H1 and H2 go, put onto the constraints; u: what that took. False: there is no solution. */
PAIR_FN bool water32_constrain(const struct water_shape32 &w, const struct sides32 &s, const float step[3][3],
                               float u[3][3])
{
    float moved[3][3], third[3], l[3] = {0, 0, 0}, largest = INFINITY;
    sub32(s.side[1], s.side[0], third);
    sub32(step[0], step[1], moved[0]);
    sub32(step[0], step[2], moved[1]);
    for (int n = 0; n < WATER32_ROUNDS && !(largest <= WATER32_LAST); n++) {
        float off[3], more[3];
        sub32(moved[1], moved[0], moved[2]);
        off[0] = excess32(s.excess[0], s.side[0], moved[0]);
        off[1] = excess32(s.excess[1], s.side[1], moved[1]);
        off[2] = excess32(s.excess[2], third, moved[2]);
        largest = fmaxf(fmaxf(fabsf(off[0]), fabsf(off[1])) * w.inverse_side2[0], fabsf(off[2]) * w.inverse_side2[1]);
#pragma unroll
        for (int k = 0; k < 3; k++)
            off[k] *= -0.5f;
        water32_pulls(w, off, more);
        water32_moves(w, s.side, more, u);
#pragma unroll
        for (int d = 0; d < 3; d++) {
            moved[0][d] += u[0][d] - u[1][d];
            moved[1][d] += u[0][d] - u[2][d];
            l[d] += more[d];
        }
    }
    water32_moves(w, s.side, l, u);
    return largest <= WATER32_MOST;
}

/* One timestep. v becomes what it is after it; push: how far each atom goes. RULE: friction and noise. */
template <bool RULE>
static __device__ __forceinline__ bool water32_advance(const struct water_shape32 &w, const struct motion_rule32 &rule,
                                                       struct held32 atom[3])
{
    const struct sides32 s = sides32_of(w, atom);
    const float over = 0.5f / rule.half;
    float v[3][3], step[3][3], u[3][3];
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int d = 0; d < 3; d++)
            v[k][d] = atom[k].v[d];
    water32_project(w, s.side, v);
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int d = 0; d < 3; d++) {
            const float before = v[k][d], pushed = before + atom[k].push[d];
            v[k][d] = RULE ? __fmaf_rn(-rule.loss, before, pushed) : pushed;
            step[k][d] = rule.half * (RULE ? before + v[k][d] : 2 * v[k][d]);
        }
    const bool good = water32_constrain(w, s, step, u);
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int d = 0; d < 3; d++) {
            atom[k].push[d] = step[k][d] + u[k][d];
            atom[k].v[d] = __fmaf_rn(u[k][d], over, v[k][d]);
        }
    return good;
}

#endif
