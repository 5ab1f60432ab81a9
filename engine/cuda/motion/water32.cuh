/* SPDX-License-Identifier: Apache-2.0
 *
 * A timestep of a rigid water in single precision (held32.cuh). Constraint forces act along the sides as they were, as
 * in SETTLE (engine/math/bodies/settle.h); the matrix is that of the ideal shape.
 */
#ifndef SHOAL_ENGINE_CUDA_MOTION_WATER32_CUH
#define SHOAL_ENGINE_CUDA_MOTION_WATER32_CUH

#include "engine/cuda/motion/held32.cuh"

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
        const int32_t a = apart32(atom[0], atom[1], d), b = apart32(atom[0], atom[2], d);
        square[0] = add_square32(square[0], a);
        square[1] = add_square32(square[1], b);
        square[2] = add_square32(square[2], apart32(atom[1], atom[2], d));
        s.side[0][d] = (float)a * 0x1p-33f;
        s.side[1][d] = (float)b * 0x1p-33f;
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
        s.excess[k] = longer32(square[k], w.side2[k == 2]);
    return s;
}

/* How far O, H1 and H2 go, put onto the constraints; u: what that took. False: there is no solution. */
PAIR_FN bool water32_constrain(const struct water_shape32 &w, const struct sides32 &s, const float step[3][3],
                               float u[3][3])
{
    float moved[3][3], third[3], l[3] = {0, 0, 0}, largest = INFINITY;
    sub32(s.side[1], s.side[0], third);
    sub32(step[0], step[1], moved[0]);
    sub32(step[0], step[2], moved[1]);
    for (int n = 0; n < ROUNDS32 && !(largest <= LAST32) && !(n > 0 && largest > WRONG32); n++) {
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
    return largest <= MOST32;
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
        for (int d = 0; d < 3; d++)
            step[k][d] = drift32<RULE>(rule, atom[k].push[d], &v[k][d]);
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
