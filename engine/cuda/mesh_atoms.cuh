/* SPDX-License-Identifier: Apache-2.0
 *
 * Between atoms and mesh, see engine/cuda/mesh.h: MESH_LANES threads an atom, each with some of the mesh's planes of constant x
 * that it touches. The same bits wherever the mesh lies: what is fused is spelled out.
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_ATOMS_CUH
#define SHOAL_ENGINE_CUDA_MESH_ATOMS_CUH

#include "engine/cuda/device.cuh"
#include "engine/cuda/mesh.h"
#include "engine/math/accumulate.h"

/* A mesh's places in memory, in units of 4 bytes. */
struct mesh_shape {
    uint32_t size[3];
    uint32_t plane, row; /* from one x, from one y to the next */
};

static __device__ inline struct mesh_shape mesh_shape_of(const struct mesh_table *t, uint32_t plane, uint32_t row)
{
    return {{(uint32_t)t->axis[0].size, (uint32_t)t->axis[1].size, (uint32_t)t->axis[2].size}, plane, row};
}

/* What is read of an atom. */
struct mesh_atom {
    uint4 grid;
    float2 charge;
};

static __device__ inline struct mesh_atom mesh_atom_at(const struct mesh_table *t, const void *grid, uint32_t atom)
{
    return {((const uint4 *)grid)[atom], ((const float2 *)t->charge)[atom]};
}

static __device__ inline double charge_now(double lambda, float2 charge)
{
    return fma(lambda, (double)charge.y, (double)charge.x);
}

/* Values w and derivatives dw (per mesh point) of the order's B-spline at the `order` points that an atom touches, whose place
 * behind the first is t. */
template <int order> static __device__ inline void splines(float t, float *w, float *dw)
{
    w[0] = 1 - t;
    w[1] = t;
#pragma unroll
    for (int n = 3; n <= order; n++) {
        const float inverse = 1.0f / (n - 1);
        if (n == order) { /* from the values of order n - 1 */
            dw[0] = -w[0];
#pragma unroll
            for (int k = 1; k < n - 1; k++)
                dw[k] = w[k - 1] - w[k];
            dw[n - 1] = w[n - 2];
        }
        w[n - 1] = inverse * t * w[n - 2];
#pragma unroll
        for (int k = n - 2; k > 0; k--)
            w[k] = inverse * fmaf(t + (n - 1 - k), w[k - 1], ((1 + k) - t) * w[k]);
        w[0] = inverse * (1 - t) * w[0];
    }
}

/* Where an atom stands on the mesh. */
template <int order> struct spot {
    uint32_t point[3]; /* first point */
    float w[3][order], dw[3][order];
};

/* The fraction of the box times the points along it: the whole part is the point, the rest what lies behind it. */
template <int order>
static __device__ inline void find_spot(const struct mesh_shape &m, uint4 grid, struct spot<order> *s)
{
    const uint32_t fraction[3] = {grid.x, grid.y, grid.z};
#pragma unroll
    for (int d = 0; d < 3; d++) {
        uint64_t at = (uint64_t)fraction[d] * m.size[d];
        s->point[d] = (uint32_t)(at >> 32);
        splines<order>((float)(uint32_t)at * 0x1p-32f, s->w[d], s->dw[d]);
    }
}

static __device__ inline uint32_t wrapped(uint32_t point, uint32_t size)
{
    return point < size ? point : point - size;
}

/* w[k] of an array that stays in registers */
template <int order> static __device__ inline float pick(const float *w, uint32_t k)
{
    float v = w[0];
#pragma unroll
    for (uint32_t i = 1; i < order; i++)
        v = i == k ? w[i] : v;
    return v;
}

/* Offset of the first of a row's points, and of the z-th of those that an atom touches from there. Rows with a halo go on
 * behind their end. */
template <bool halo>
static __device__ inline uint32_t row_at(const struct mesh_shape &m, uint32_t x, uint32_t y, uint32_t z)
{
    return wrapped(x, m.size[0]) * m.plane + wrapped(y, m.size[1]) * m.row + (halo ? z : 0);
}

template <bool halo> static __device__ inline uint32_t along_row(const struct mesh_shape &m, uint32_t first, int z)
{
    return halo ? (uint32_t)z : wrapped(first + z, m.size[2]);
}

/* Adds a charge q (e) to the mesh, this lane's share of it. */
template <int order, bool halo>
static __device__ inline void spread_atom(const struct mesh_shape &m, int32_t *charges, uint4 grid, float q,
                                          uint32_t lane)
{
    struct spot<order> s;
    find_spot<order>(m, grid, &s);
#pragma unroll
    for (uint32_t first = 0; first < order; first += MESH_LANES) {
        uint32_t x = first + lane;
        if (x >= order)
            break;
        float qx = q * pick<order>(s.w[0], x) * MESH_CHARGE_SCALE;
#pragma unroll
        for (int y = 0; y < order; y++) {
            int32_t *row = charges + row_at<halo>(m, s.point[0] + x, s.point[1] + y, s.point[2]);
            float qxy = qx * s.w[1][y];
#pragma unroll
            for (int z = 0; z < order; z++)
                atomicAdd(&row[along_row<halo>(m, s.point[2], z)], __float2int_rn(qxy * s.w[2][z]));
        }
    }
}

/* Potential (kJ/mol/e) at an atom and its slopes per mesh point, this lane's share. */
template <int order, bool halo>
static __device__ inline void sample_mesh(const struct mesh_shape &m, const float *potential,
                                          const struct spot<order> &s, uint32_t lane, float *v, float *g)
{
#pragma unroll
    for (uint32_t first = 0; first < order; first += MESH_LANES) {
        uint32_t x = first + lane;
        if (x >= order)
            break;
        float p = 0, py = 0, pz = 0;
#pragma unroll
        for (int y = 0; y < order; y++) {
            const float *row = potential + row_at<halo>(m, s.point[0] + x, s.point[1] + y, s.point[2]);
            float r = 0, dr = 0;
#pragma unroll
            for (int z = 0; z < order; z++) {
                float value = row[along_row<halo>(m, s.point[2], z)];
                r = fmaf(value, s.w[2][z], r);
                dr = fmaf(value, s.dw[2][z], dr);
            }
            p = fmaf(s.w[1][y], r, p);
            py = fmaf(s.dw[1][y], r, py);
            pz = fmaf(s.w[1][y], dr, pz);
        }
        float w = pick<order>(s.w[0], x);
        *v = fmaf(w, p, *v);
        g[0] = fmaf(pick<order>(s.dw[0], x), p, g[0]);
        g[1] = fmaf(w, py, g[1]);
        g[2] = fmaf(w, pz, g[2]);
    }
}

/* Adds up over the threads of an atom; the same in all of them. */
static __device__ inline float sum_lanes(float v)
{
    for (int step = MESH_LANES / 2; step > 0; step >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

/* dU/dlambda of one atom, and with it what each window gains to first order. */
static __device__ inline void add_slope(struct ctl *c, const struct mesh_table *t, double slope, uint32_t mode,
                                        struct fixed_sum *energy_at_window)
{
    struct accumulate sum = {0};
    acc_dvdl_within(&sum, LAMBDA_COULOMB, slope, FIXED_TOTAL_LIMIT);
    acc_finish(&sum, &c->sum);
    for (int32_t w = 0; mode == EVALUATE_SAMPLE && w < t->nwindows; w++)
        acc_window(&energy_at_window[w], (t->window[w][LAMBDA_COULOMB] - c->lambda[LAMBDA_COULOMB]) * slope,
                   FIXED_TOTAL_LIMIT);
}

/* What the gathering of a lane adds to. */
struct mesh_sums {
    struct ctl *ctl;
    int64_t *f;
    struct fixed_sum *energy_at_window;
    uint32_t mode, lane, axis; /* lanes 0, 1, 2 have a component of the force */
    double lambda, points_per_nm;
    bool triclinic;
    double tilt[2]; /* what slopes along x and y add to this lane's component, points per nm */
};

static __device__ inline struct mesh_sums mesh_sums_of(struct ctl *c, const struct mesh_table *t,
                                                       const struct mesh_shape &m, void *f, void *energy_at_window,
                                                       uint32_t mode)
{
    uint32_t lane = threadIdx.x % MESH_LANES, axis = min(lane, 2u);
    uint32_t size = axis == 0 ? m.size[0] : axis == 1 ? m.size[1] : m.size[2];
    struct mesh_sums sums = {c,
                             (int64_t *)f,
                             (struct fixed_sum *)energy_at_window,
                             mode,
                             lane,
                             axis,
                             c->lambda[LAMBDA_COULOMB],
                             size / c->box[axis],
                             t->triclinic != 0,
                             {}};
    if (!sums.triclinic)
        return sums;
    double inverse[BOX_SIZE];
    box_invert(c->box, inverse);
    if (axis > 0)
        sums.tilt[0] = m.size[0] * inverse[axis == 1 ? BOX_YX : BOX_ZX];
    if (axis == 2)
        sums.tilt[1] = m.size[1] * inverse[BOX_ZY];
    return sums;
}

/* Force on an atom. For whole warps; not `mine`: an atom that others do. */
template <int order, bool halo>
static __device__ inline void gather_atom(const struct mesh_table *t, const struct mesh_shape &m,
                                          const float *potential, const struct mesh_atom &a, uint32_t atom, bool mine,
                                          const struct mesh_sums &to)
{
    struct spot<order> s;
    float v = 0, g[3] = {0, 0, 0};
    find_spot<order>(m, a.grid, &s);
    sample_mesh<order, halo>(m, potential, s, to.lane, &v, g);
    v = sum_lanes(v);
#pragma unroll
    for (int d = 0; d < 3; d++)
        g[d] = sum_lanes(g[d]);
    double q = charge_now(to.lambda, a.charge), force = -q * pick<3>(g, to.axis) * to.points_per_nm;
    if (to.triclinic)
        force -= q * (to.tilt[0] * g[0] + to.tilt[1] * g[1]);
    if (!mine)
        return;
    if (to.lane < 3 && q != 0) {
        acc_add(to.f + 3 * atom + to.axis, fixed_clamped(force, FIXED_FORCE_LIMIT));
        if (fixed_beyond(force, FIXED_FORCE_LIMIT)) {
            struct accumulate sum = {0};
            acc_clamped(&sum, CLAMPED_FORCE, 1);
            acc_finish(&sum, &to.ctl->sum);
        }
    }
    if (to.mode != EVALUATE_STEP && a.charge.y != 0 && to.lane == 0)
        add_slope(to.ctl, t, (double)a.charge.y * v, to.mode, to.energy_at_window);
}

#endif
