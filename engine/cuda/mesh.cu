/* SPDX-License-Identifier: Apache-2.0
 *
 * Between atoms and mesh, see engine/cuda/mesh.h: four threads an atom, each with some of the mesh's planes of constant x that
 * it touches.
 */
#include "engine/cuda/device.cuh"
#include "engine/cuda/mesh.h"
#include "engine/math/accumulate.h"

#define LANES 4
#define MAX_ORDER 6

/* Values w and derivatives dw (per mesh point) of the order's B-spline at the `order` points that an atom touches, whose place
 * behind the first is t. */
template <int order> static __device__ inline void splines(float t, float *w, float *dw)
{
    w[0] = 1 - t;
    w[1] = t;
#pragma unroll
    for (int n = 3; n <= order; n++) {
        float inverse = 1.0f / (n - 1);
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
            w[k] = inverse * ((t + (n - 1 - k)) * w[k - 1] + ((1 + k) - t) * w[k]);
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
static __device__ inline void find_spot(const struct mesh_table *t, const uint32_t *grid, struct spot<order> *s)
{
#pragma unroll
    for (int d = 0; d < 3; d++) {
        uint64_t at = (uint64_t)grid[d] * (uint32_t)t->axis[d].size;
        s->point[d] = (uint32_t)(at >> 32);
        splines<order>((float)(uint32_t)at * 0x1p-32f, s->w[d], s->dw[d]);
    }
}

static __device__ inline uint32_t wrapped(uint32_t point, int32_t size)
{
    return point < (uint32_t)size ? point : point - (uint32_t)size;
}

KERNEL(mesh_clear, a)
{
    ECHO(a);
    if (((const struct ctl *)a.ctl)->halt)
        return;
    GRID_LOOP(i, a.count)
    ((int32_t *)a.charges)[i] = 0;
}

template <int order> static __device__ void spread(const struct args_mesh_spread *a)
{
    const struct ctl *c = (const struct ctl *)a->ctl;
    const struct mesh_table *t = (const struct mesh_table *)a->table;
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, atom = thread / LANES;
    int32_t ny = t->axis[1].size, nz = t->axis[2].size;
    if (atom >= (uint32_t)t->natoms)
        return;
    float2 charge = ((const float2 *)t->charge)[atom];
    float q = a->change ? charge.y : (float)fma(c->lambda[LAMBDA_COULOMB], (double)charge.y, (double)charge.x);
    if (q == 0)
        return;
    struct spot<order> s;
    find_spot<order>(t, (const uint32_t *)a->grid + 4 * atom, &s);
#pragma unroll
    for (int x = 0; x < order; x++) {
        if (x % LANES != thread % LANES)
            continue;
        int32_t *plane = (int32_t *)a->charges + (size_t)wrapped(s.point[0] + x, t->axis[0].size) * ny * nz;
        float qx = q * s.w[0][x] * MESH_CHARGE_SCALE;
#pragma unroll
        for (int y = 0; y < order; y++) {
            int32_t *row = plane + wrapped(s.point[1] + y, ny) * nz;
#pragma unroll
            for (int z = 0; z < order; z++)
                atomicAdd(&row[wrapped(s.point[2] + z, nz)], __float2int_rn(qx * s.w[1][y] * s.w[2][z]));
        }
    }
}

KERNEL(mesh_spread, a)
{
    ECHO(a);
    if (((const struct ctl *)a.ctl)->halt)
        return;
    int order = ((const struct mesh_table *)a.table)->order;
    if (order == 4)
        spread<4>(&a);
    else if (order == 5)
        spread<5>(&a);
    else
        spread<6>(&a);
}

/* Adds up over the threads of an atom; the same in all of them. */
static __device__ inline float sum_lanes(float v)
{
    for (int step = LANES / 2; step > 0; step >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

/* Potential (kJ/mol/e) and its slopes per mesh point, this thread's share. */
template <int order>
static __device__ inline void sample_mesh(const struct mesh_table *t, const float *potential,
                                          const struct spot<order> *s, uint32_t lane, float *v, float *g)
{
    int32_t ny = t->axis[1].size, nz = t->axis[2].size;
#pragma unroll
    for (int x = 0; x < order; x++) {
        if (x % LANES != lane)
            continue;
        const float *plane = potential + (size_t)wrapped(s->point[0] + x, t->axis[0].size) * ny * nz;
        float p = 0, py = 0, pz = 0;
#pragma unroll
        for (int y = 0; y < order; y++) {
            const float *row = plane + wrapped(s->point[1] + y, ny) * nz;
            float r = 0, dr = 0;
#pragma unroll
            for (int z = 0; z < order; z++) {
                float value = row[wrapped(s->point[2] + z, nz)];
                r = fmaf(value, s->w[2][z], r);
                dr = fmaf(value, s->dw[2][z], dr);
            }
            p = fmaf(s->w[1][y], r, p);
            py = fmaf(s->dw[1][y], r, py);
            pz = fmaf(s->w[1][y], dr, pz);
        }
        *v = fmaf(s->w[0][x], p, *v);
        g[0] = fmaf(s->dw[0][x], p, g[0]);
        g[1] = fmaf(s->w[0][x], py, g[1]);
        g[2] = fmaf(s->w[0][x], pz, g[2]);
    }
}

/* dU/dlambda of one atom, and with it what each window gains to first order. */
static __device__ void add_slope(struct ctl *c, const struct mesh_table *t, double slope, uint32_t mode,
                                 struct fixed_sum *energy_at_window)
{
    struct accumulate sum = {0};
    acc_dvdl_within(&sum, LAMBDA_COULOMB, slope, FIXED_TOTAL_LIMIT);
    acc_finish(&sum, &c->sum);
    for (int32_t w = 0; mode == EVALUATE_SAMPLE && w < t->nwindows; w++)
        acc_window(&energy_at_window[w], (t->window[w][LAMBDA_COULOMB] - c->lambda[LAMBDA_COULOMB]) * slope,
                   FIXED_TOTAL_LIMIT);
}

template <int order> static __device__ void gather(const struct args_mesh_gather *a)
{
    struct ctl *c = (struct ctl *)a->ctl;
    const struct mesh_table *t = (const struct mesh_table *)a->table;
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread % LANES;
    uint32_t atom = min(thread / LANES, (uint32_t)t->natoms - 1);
    bool mine = thread / LANES < (uint32_t)t->natoms;
    float2 charge = ((const float2 *)t->charge)[atom];
    double q = fma(c->lambda[LAMBDA_COULOMB], (double)charge.y, (double)charge.x);
    struct spot<order> s;
    float v = 0, g[3] = {0, 0, 0};
    find_spot<order>(t, (const uint32_t *)a->grid + 4 * atom, &s);
    sample_mesh<order>(t, (const float *)a->potential, &s, lane, &v, g);
    v = sum_lanes(v);
#pragma unroll
    for (int d = 0; d < 3; d++)
        g[d] = sum_lanes(g[d]);
    if (!mine)
        return;
    struct accumulate sum = {0};
    for (uint32_t d = 0; d < 3; d++) {
        double force = -q * g[d] * t->axis[d].size / c->box[d];
        if (d != lane || q == 0)
            continue;
        acc_add((int64_t *)a->f + 3 * atom + d, fixed_clamped(force, FIXED_FORCE_LIMIT));
        acc_clamped(&sum, CLAMPED_FORCE, fixed_beyond(force, FIXED_FORCE_LIMIT));
    }
    acc_finish(&sum, &c->sum);
    if (a->mode != EVALUATE_STEP && charge.y != 0 && lane == 0)
        add_slope(c, t, (double)charge.y * v, a->mode, (struct fixed_sum *)a->energy_at_window);
}

KERNEL(mesh_gather, a)
{
    ECHO(a);
    if (((const struct ctl *)a.ctl)->halt)
        return;
    int order = ((const struct mesh_table *)a.table)->order;
    if (order == 4)
        gather<4>(&a);
    else if (order == 5)
        gather<5>(&a);
    else
        gather<6>(&a);
}
