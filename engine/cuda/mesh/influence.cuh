/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh in reciprocal space, see engine/cuda/mesh/mesh.h.
 *   E = f/(2 pi V) sum over m != 0 of exp(-pi^2 m^2/beta^2)/m^2 B(m) |S(m)|^2
 *   Xi = -1/2 sum of each m's share of E times (1 - 2 (1/m^2 + pi^2/beta^2) m m)
 * (Essmann et al. 1995, eqs. 4.7 and 2.8.) Exponential and B are products of factors of the three axes. Each m's share
 * is rounded to fixed point, so the sum does not depend on the order of threads.
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_INFLUENCE_CUH
#define SHOAL_ENGINE_CUDA_MESH_INFLUENCE_CUH

#include "engine/base/units.h"
#include "engine/cuda/device/device.cuh"
#include "engine/cuda/mesh/mesh.h"
#include "engine/math/accumulate.h"

#define PI_F ((float)M_PI)

static __device__ inline float mode_decay(const struct mesh_table *t)
{
    return PI_F * PI_F / (t->beta * t->beta);
}

/* f/(pi V) */
static __device__ inline float mode_prefactor(const struct ctl *c)
{
    return (float)UNIT_COULOMB / (PI_F * (float)c->box[BOX_XX] * (float)c->box[BOX_YY] * (float)c->box[BOX_ZZ]);
}

/* Of wave k along an axis: x is the component of m (1/nm), y its factor. In a triclinic box m is no sum of what the
 * axes have: x is the number of the wave, and y lacks the exponential. */
static __device__ inline float2 mode_of(const struct mesh_table *t, const struct ctl *c, int d, uint32_t k)
{
    uint32_t n = (uint32_t)t->axis[d].size;
    float wave = (float)(k < (n + 1) / 2 ? (int32_t)k : (int32_t)(k - n)), m = wave / (float)c->box[d];
    if (t->triclinic) /* of the third axis only waves up to the half are stored, and that one with a plus */
        return make_float2(d == 2 ? (float)k : wave, 1 / t->axis[d].modulus[k]);
    return make_float2(m, expf(-mode_decay(t) * (m * m)) / t->axis[d].modulus[k]);
}

/* What all m of one line along x have in common. */
struct mode_line {
    float square, factor;
};

static __device__ inline struct mode_line mode_line_of(float prefactor, float2 y, float2 z)
{
    return {fmaf(y.x, y.x, z.x * z.x), prefactor * y.y * z.y};
}

static __device__ inline float mode_square(struct mode_line line, float2 x)
{
    return fmaf(x.x, x.x, line.square);
}

/* By what a coefficient is multiplied: half of that is its energy. */
static __device__ inline float mode_green(struct mode_line line, float2 x)
{
    float square = mode_square(line, x);
    return square > 0 ? __fdividef(line.factor * x.y, square) : 0;
}

/* kJ/mol: a thread's sum of 2^17 of less than that is no more than a whole number of 64 bits. */
#define MODE_USUAL 16384.0

/* Sums of one thread: energy, and virial xx xy xz yy yz zz. */
struct mode_sums {
    struct fixed_sum energy, virial[6];
    uint32_t beyond;
};

/* The same of modes of usual size, in registers. */
struct usual_sums {
    int64_t energy, virial[6];
};

/* Of one mode: energy e, kJ/mol, and 2 (1/m^2 + pi^2/beta^2) e. */
struct mode_energy {
    double e, g;
};

/* An element of its virial. */
static __device__ __forceinline__ double mode_virial(struct mode_energy mode, const float m[3], int i, int j)
{
    return -0.5 * ((i == j ? mode.e : 0) - mode.g * m[i] * m[j]);
}

static __device__ inline void mode_add_any(struct fixed_sum *sum, double v, uint32_t *beyond)
{
    fixed_add(sum, fixed_clamped(v, FIXED_TOTAL_LIMIT));
    *beyond += fixed_beyond(v, FIXED_TOTAL_LIMIT);
}

/* Apart, as it is rare and long. */
template <bool VIRIAL>
static __device__ __noinline__ void mode_add_large(struct mode_sums *sum, struct mode_energy mode, float mx, float my,
                                                   float mz)
{
    const float m[3] = {mx, my, mz};
    mode_add_any(&sum->energy, mode.e, &sum->beyond);
    for (int i = 0, k = 0; VIRIAL && i < 3; i++)
        for (int j = i; j < 3; j++, k++)
            mode_add_any(&sum->virial[k], mode_virial(mode, m, i, j), &sum->beyond);
}

/* weight: 2 where the other half of the spectrum has another like it. */
template <bool VIRIAL>
static __device__ inline void mode_add(struct usual_sums *usual, struct mode_sums *large, float2 s, float green,
                                       float weight, const float m[3], float square, float decay)
{
    const double e = 0.5 * weight * green * fma((double)s.x, (double)s.x, (double)s.y * s.y);
    const struct mode_energy mode = {e, 2 * (double)(1 / square + decay) * e};
    if (!(e + mode.g * square < MODE_USUAL)) {
        mode_add_large<VIRIAL>(large, mode, m[0], m[1], m[2]);
        return;
    }
    usual->energy += fixed_within(e);
#pragma unroll
    for (int i = 0, k = 0; VIRIAL && i < 3; i++)
#pragma unroll
        for (int j = i; j < 3; j++, k++)
            usual->virial[k] += fixed_within(mode_virial(mode, m, i, j));
}

static __device__ inline void warp_total(struct fixed_sum *s)
{
    for (int step = WARP / 2; step > 0; step >>= 1) {
        int64_t wraps = __shfl_xor_sync(WARP_ALL, s->wraps, step);
        fixed_add(s, __shfl_xor_sync(WARP_ALL, s->low, step));
        s->wraps += wraps;
    }
}

/* What all m have in common. */
struct mode_space {
    float prefactor, decay;
    bool triclinic;
    float inverse[BOX_SIZE]; /* of a triclinic box, 1/nm */
};

static __device__ inline struct mode_space mode_space_of(const struct mesh_table *t, const struct ctl *c)
{
    double inverse[BOX_SIZE];
    struct mode_space s = {mode_prefactor(c), mode_decay(t), t->triclinic != 0};
    if (!s.triclinic)
        return s;
    box_invert(c->box, inverse);
    for (int k = 0; k < BOX_SIZE; k++)
        s.inverse[k] = (float)inverse[k];
    return s;
}

/* One m, its square and by what its coefficient is multiplied. */
struct mode {
    float m[3], square, green;
};

/* Of a triclinic box, by mode_of the waves along the axes. */
static __device__ __forceinline__ struct mode mode_triclinic(const struct mode_space &s, float2 mx, float2 my,
                                                             float2 mz)
{
    struct mode o;
    o.m[0] = mx.x * s.inverse[BOX_XX];
    o.m[1] = fmaf(mx.x, s.inverse[BOX_YX], my.x * s.inverse[BOX_YY]);
    o.m[2] = fmaf(mx.x, s.inverse[BOX_ZX], fmaf(my.x, s.inverse[BOX_ZY], mz.x * s.inverse[BOX_ZZ]));
    o.square = fmaf(o.m[0], o.m[0], fmaf(o.m[1], o.m[1], o.m[2] * o.m[2]));
    o.green = o.square > 0 ? s.prefactor * mx.y * my.y * mz.y * expf(-s.decay * o.square) / o.square : 0;
    return o;
}

/* All m of one y; x, y and z: mode_of the waves along the axes. */
struct mode_plane {
    struct mode_space space;
    uint32_t nx, nz;
    const float2 *x, *z;
    float2 y;
};

static __device__ inline struct mode_plane mode_plane_of(const struct mesh_table *t, const struct ctl *c, uint32_t y,
                                                         const float2 *mode_x, const float2 *mode_z)
{
    return {mode_space_of(t, c), (uint32_t)t->axis[0].size, (uint32_t)t->axis[2].size, mode_x, mode_z,
            mode_of(t, c, 1, y)};
}

/* Apart, as it is rare and long. */
static __device__ __noinline__ struct mode mode_apart(const struct mode_plane &p, float2 mx, float2 mz)
{
    return mode_triclinic(p.space, mx, p.y, mz);
}

static __device__ inline struct mode mode_at(const struct mode_plane &p, uint32_t x, uint32_t z)
{
    const float2 mx = p.x[x], mz = p.z[z];
    if (p.space.triclinic)
        return mode_apart(p, mx, mz);
    struct mode_line line = mode_line_of(p.space.prefactor, p.y, mz);
    return {{mx.x, p.y.x, mz.x}, mode_square(line, mx), mode_green(line, mx)};
}

/* Every of-th m of the plane from `from` on, with coefficients s as they are before the convolution, at x * stride + z;
 * then, in all threads of the warp, the warp's. VIRIAL: not the energy alone. */
template <bool VIRIAL>
static __device__ inline void mode_plane_sums(struct mode_sums *sum, const struct mode_plane &p, const float2 *s,
                                              uint32_t stride, uint32_t from, uint32_t of)
{
    uint32_t half = p.nz / 2 + 1;
    struct usual_sums usual = {};
    *sum = {};
    for (uint32_t i = from; i < p.nx * half; i += of) {
        uint32_t x = i / half, z = i % half;
        const struct mode mode = mode_at(p, x, z);
        if (mode.square > 0)
            mode_add<VIRIAL>(&usual, sum, s[x * stride + z], mode.green, z == 0 || 2 * z == p.nz ? 1 : 2, mode.m,
                             mode.square, p.space.decay);
    }
    fixed_add(&sum->energy, usual.energy);
    warp_total(&sum->energy);
    for (int k = 0; VIRIAL && k < 6; k++) {
        fixed_add(&sum->virial[k], usual.virial[k]);
        warp_total(&sum->virial[k]);
    }
    sum->beyond = warp_sum(sum->beyond);
}

/* The same: with the virial where it is asked for. */
static __device__ inline void mode_sums_of(struct mode_sums *sum, bool virial, const struct mode_plane &p,
                                           const float2 *s, uint32_t stride, uint32_t from, uint32_t of)
{
    if (virial)
        mode_plane_sums<true>(sum, p, s, stride, from, of);
    else
        mode_plane_sums<false>(sum, p, s, stride, from, of);
}

/* One thread for a warp's sums. */
static __device__ inline void mode_report(struct ctl *c, const struct mode_sums &sum)
{
    const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    struct accumulate total = {0};
    total.energy[TERM_COULOMB_RECIPROCAL] = sum.energy;
    for (int k = 0; k < 9; k++)
        total.virial[k] = sum.virial[place[k]];
    acc_clamped(&total, TERM_COULOMB_RECIPROCAL, sum.beyond);
    acc_finish(&total, &c->sum);
}

/* At window w, of the change of charge: its energy on one plane of constant y, which is quadratic in the Coulomb
 * lambda. */
static __device__ inline void mode_window(const struct ctl *c, const struct mesh_table *t, struct fixed_sum energy,
                                          uint32_t w, struct fixed_sum *energy_at_window)
{
    double dl = t->window[w][LAMBDA_COULOMB] - c->lambda[LAMBDA_COULOMB];
    acc_window(&energy_at_window[w], dl * dl * fixed_total(energy), FIXED_TOTAL_LIMIT);
}

#endif
