/* SPDX-License-Identifier: Apache-2.0
 *
 * A timestep of a star, an atom and up to STAR_ARMS others at fixed distances from it, in single precision
 * (held32.cuh). Its equations are those of engine/math/bodies/star.h. An atom by itself is a star without arms.
 */
#ifndef SHOAL_ENGINE_CUDA_MOTION_STAR32_CUH
#define SHOAL_ENGINE_CUDA_MOTION_STAR32_CUH

#include "engine/cuda/motion/body_registers.cuh"
#include "engine/cuda/motion/held32.cuh"

/* A star between its threads. */
struct held_star32 {
    struct held32 atom[1 + STAR_ARMS];
    float inverse_mass[1 + STAR_ARMS]; /* 1/u */
    float pad_;                        /* an odd number of words: neighbours' are in different banks */
};

/* Of a number in states A and B, without arithmetic where it is the same in both. */
PAIR_FN double at_lambda(const double state[2], double lambda)
{
    const double a = state[0], b = state[1];
    uint64_t bits_a, bits_b;
    memcpy(&bits_a, &a, sizeof bits_a);
    memcpy(&bits_b, &b, sizeof bits_b);
    return bits_a == bits_b ? a : (1 - lambda) * a + lambda * b;
}

/* 1/u */
PAIR_FN float inverse_mass32(const struct masses &masses, int32_t i)
{
    return 1.0f / (float)at_lambda(masses.mass[i], masses.lambda);
}

struct star32 {
    uint32_t arms;
    float arm[STAR_ARMS][3], excess[STAR_ARMS]; /* before the step; by how much their squares are too long, nm^2 */
    float inverse_r2[STAR_ARMS];                /* 1/nm^2 */
    float inverse[STAR_ARMS][STAR_ARMS];        /* star_couplings() */
};

PAIR_FN void star32_invert(float a[STAR_ARMS][STAR_ARMS])
{
#pragma unroll
    for (int p = 0; p < STAR_ARMS; p++) {
        const float pivot = __fdividef(1.0f, a[p][p]);
        a[p][p] = 1;
#pragma unroll
        for (int j = 0; j < STAR_ARMS; j++)
            a[p][j] *= pivot;
#pragma unroll
        for (int i = 0; i < STAR_ARMS; i++) {
            if (i == p)
                continue;
            const float factor = a[i][p];
            a[i][p] = 0;
#pragma unroll
            for (int j = 0; j < STAR_ARMS; j++)
                a[i][j] -= factor * a[p][j];
        }
    }
}

/* An arm and what its square is to be: at the replica's lambda. */
PAIR_FN void star32_arm(const struct motion *s, const struct fixed_distance &distance, const struct held_star32 &h,
                        uint32_t k, struct star32 *star)
{
    const double r = at_lambda(distance.r0, s->c->lambda[LAMBDA_BONDED]), r2 = r * r;
    int64_t square = 0;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        const int32_t a = apart32(h.atom[k + 1], h.atom[0], d);
        square = add_square32(square, a);
        star->arm[k][d] = (float)a * 0x1p-33f;
    }
    star->excess[k] = longer32(square, __double2ll_rn(r2 * 0x1p66));
    star->inverse_r2[k] = __fdividef(1.0f, (float)r2);
}

/* i: among bodies that are no waters. */
PAIR_FN struct star32 star32_of(const struct motion *s, uint32_t i, const struct held_star32 &h, uint32_t arms)
{
    struct star32 star = {arms};
    const struct fixed_distance *distance = in_global(s->m->distances) + in_global(s->m->clusters)[i].first;
#pragma unroll
    for (uint32_t k = 0; k < STAR_ARMS; k++) {
        if (k < arms)
            star32_arm(s, distance[k], h, k, &star);
    }
#pragma unroll
    for (uint32_t k = 0; k < STAR_ARMS; k++)
#pragma unroll
        for (uint32_t l = 0; l < STAR_ARMS; l++) {
            const float both = dot32(star.arm[k], star.arm[l]);
            star.inverse[k][l] = both * h.inverse_mass[0] + (k == l ? both * h.inverse_mass[k + 1] : 0);
            if (k == l && k >= arms)
                star.inverse[k][l] = 1;
        }
    star32_invert(star.inverse);
    return star;
}

PAIR_FN void star32_pulls(const struct star32 &star, const float off[STAR_ARMS], float pull[STAR_ARMS])
{
#pragma unroll
    for (int k = 0; k < STAR_ARMS; k++) {
        pull[k] = 0;
#pragma unroll
        for (int l = 0; l < STAR_ARMS; l++)
            pull[k] += star.inverse[k][l] * off[l];
    }
}

/* What pulls along the arms do to the atom in the middle. */
PAIR_FN void star32_recoil(const struct star32 &star, float inverse_mass, const float pull[STAR_ARMS], float u[3])
{
#pragma unroll
    for (int d = 0; d < 3; d++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < STAR_ARMS; k++)
            sum += pull[k] * star.arm[k][d];
        u[d] = -inverse_mass * sum;
    }
}

/* y of each atom, by pulls along the arms. */
PAIR_FN void star32_apply(const struct star32 &star, const float *inverse_mass, const float pull[STAR_ARMS],
                          float scale, float y[1 + STAR_ARMS][3])
{
    float recoil[3];
    star32_recoil(star, inverse_mass[0], pull, recoil);
#pragma unroll
    for (int d = 0; d < 3; d++) {
        y[0][d] += scale * recoil[d];
#pragma unroll
        for (int k = 0; k < STAR_ARMS; k++)
            y[k + 1][d] += scale * inverse_mass[k + 1] * pull[k] * star.arm[k][d];
    }
}

PAIR_FN void star32_project(const struct star32 &star, const float *inverse_mass, float v[1 + STAR_ARMS][3])
{
    float along[STAR_ARMS], pull[STAR_ARMS], rel[3];
#pragma unroll
    for (int k = 0; k < STAR_ARMS; k++) {
        sub32(v[0], v[k + 1], rel);
        along[k] = dot32(star.arm[k], rel);
    }
    star32_pulls(star, along, pull);
    star32_apply(star, inverse_mass, pull, 1, v);
}

/* The pulls that put what atoms do onto the constraints; *worst: the arm that is furthest off. Its relative deviation.
 */
PAIR_FN float star32_constrain(const struct star32 &star, const float *inverse_mass, const float step[1 + STAR_ARMS][3],
                               float pull[STAR_ARMS], uint32_t *worst)
{
    float moved[STAR_ARMS][3], largest = INFINITY;
    *worst = 0;
#pragma unroll
    for (int k = 0; k < STAR_ARMS; k++) {
        pull[k] = 0;
        sub32(step[k + 1], step[0], moved[k]);
    }
    for (int n = 0; n < ROUNDS32 && !(largest <= LAST32) && !(n > 0 && largest > WRONG32); n++) {
        float off[STAR_ARMS], more[STAR_ARMS], recoil[3];
        largest = 0;
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++) {
            const float excess = k < star.arms ? excess32(star.excess[k], star.arm[k], moved[k]) : 0;
            const float deviation = fabsf(excess) * star.inverse_r2[k];
            *worst = deviation <= largest ? *worst : k;
            largest = deviation <= largest ? largest : deviation;
            off[k] = -0.5f * excess;
        }
        star32_pulls(star, off, more);
        star32_recoil(star, inverse_mass[0], more, recoil);
#pragma unroll
        for (int k = 0; k < STAR_ARMS; k++) {
            pull[k] += more[k];
#pragma unroll
            for (int d = 0; d < 3; d++)
                moved[k][d] += inverse_mass[k + 1] * more[k] * star.arm[k][d] - recoil[d];
        }
    }
    return largest;
}

/* One timestep of the i-th of the bodies that are no waters. v becomes what it is after it; push: how far each atom
 * goes. False, and *bad: there is no solution. */
template <bool RULE>
static __device__ __forceinline__ bool star32_advance(const struct motion *s, const struct motion_rule32 &rule,
                                                      uint32_t i, const struct body &b, struct held_star32 *h,
                                                      struct constrain_failure *bad)
{
    const uint32_t arms = b.natoms - 1;
    if (!arms) {
        for (int d = 0; d < 3; d++)
            h->atom[0].push[d] = drift32<RULE>(rule, h->atom[0].push[d], &h->atom[0].v[d]);
        return true;
    }
    float v[1 + STAR_ARMS][3], step[1 + STAR_ARMS][3], inverse_mass[1 + STAR_ARMS], pull[STAR_ARMS];
#pragma unroll
    for (uint32_t k = 0; k <= STAR_ARMS; k++) {
        inverse_mass[k] = k <= arms ? h->inverse_mass[k] : 0;
#pragma unroll
        for (int d = 0; d < 3; d++)
            v[k][d] = k <= arms ? h->atom[k].v[d] : 0;
    }
    const struct star32 star = star32_of(s, i, *h, arms);
    star32_project(star, inverse_mass, v);
#pragma unroll
    for (uint32_t k = 0; k <= STAR_ARMS; k++)
#pragma unroll
        for (int d = 0; d < 3; d++)
            step[k][d] = k <= arms ? drift32<RULE>(rule, h->atom[k].push[d], &v[k][d]) : 0;
    uint32_t worst;
    const float deviation = star32_constrain(star, inverse_mass, step, pull, &worst);
    star32_apply(star, inverse_mass, pull, 1, step);
    star32_apply(star, inverse_mass, pull, 0.5f / rule.half, v);
#pragma unroll
    for (uint32_t k = 0; k <= STAR_ARMS; k++)
#pragma unroll
        for (int d = 0; d < 3; d++)
            if (k <= arms) {
                h->atom[k].push[d] = step[k][d];
                h->atom[k].v[d] = v[k][d];
            }
    return deviation <= MOST32 || fail(bad, b.atom[0], b.atom[worst + 1], 0.5 * deviation);
}

#endif
