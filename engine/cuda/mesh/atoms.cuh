/* SPDX-License-Identifier: Apache-2.0
 *
 * Between atoms and mesh, see engine/cuda/mesh/mesh.h: a thread an atom. The same bits wherever the mesh lies: what is
 * fused is spelled out.
 */
#ifndef SHOAL_ENGINE_CUDA_MESH_ATOMS_CUH
#define SHOAL_ENGINE_CUDA_MESH_ATOMS_CUH

#include "engine/cuda/device/device.cuh"
#include "engine/cuda/mesh/mesh.h"
#include "engine/math/accumulate.h"

/* A mesh's places in memory, in units of 4 bytes. */
struct mesh_shape {
    uint32_t size[3];
    uint32_t plane, row; /* from one x, from one y to the next */
    uint32_t first[3];   /* point of a part; 0 where all of the mesh is meant */
};

/* All of the mesh, which wraps; with rows that go on behind their end; or a part that holds every point that is asked
 * for. */
enum mesh_lies { MESH_WRAPS, MESH_ROWS_GO_ON, MESH_PART };

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
    return {((const uint4 *)grid)[atom], in_global((const float2 *)t->charge)[atom]};
}

static __device__ inline double charge_now(double lambda, float2 charge)
{
    return fma(lambda, (double)charge.y, (double)charge.x);
}

/* Values w and derivatives dw (per mesh point) of the order's B-spline at the `order` points that an atom touches,
 * whose place behind the first is t. */
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

/* An atom's place on the mesh. */
template <int order> struct mesh_spot {
    uint32_t point[3]; /* first point, from the mesh's or the part's first */
    float w[3][order], dw[3][order];
};

/* The fraction of the box times the points along it: the whole part is the point, the rest what lies behind it. */
template <int order>
static __device__ inline void find_spot(const struct mesh_shape &m, uint4 grid, struct mesh_spot<order> *s)
{
    const uint32_t fraction[3] = {grid.x, grid.y, grid.z};
#pragma unroll
    for (int d = 0; d < 3; d++) {
        uint64_t at = (uint64_t)fraction[d] * m.size[d];
        s->point[d] = (uint32_t)(at >> 32) - m.first[d];
        splines<order>((float)(uint32_t)at * 0x1p-32f, s->w[d], s->dw[d]);
    }
}

static __device__ inline uint32_t wrapped(uint32_t point, uint32_t size)
{
    return point < size ? point : point - size;
}

/* Offset of the first of a row's points, and of the z-th of those that an atom touches from there. */
template <enum mesh_lies lies>
static __device__ inline uint32_t row_at(const struct mesh_shape &m, uint32_t x, uint32_t y, uint32_t z)
{
    if (lies == MESH_PART)
        return x * m.plane + y * m.row + z;
    return wrapped(x, m.size[0]) * m.plane + wrapped(y, m.size[1]) * m.row + (lies == MESH_ROWS_GO_ON ? z : 0);
}

template <enum mesh_lies lies>
static __device__ inline uint32_t along_row(const struct mesh_shape &m, uint32_t first, int z)
{
    return lies == MESH_WRAPS ? wrapped(first + z, m.size[2]) : (uint32_t)z;
}

/* A charge of `whole` units in shares of whole units, about q w[k] each: what rounding leaves goes to the middle one.
 * Then no charge is lost or made; the error that would be is what long waves see most of. */
template <int order> static __device__ inline void share(int32_t whole, float q, const float *w, int32_t *out)
{
    constexpr int middle = (order - 1) / 2;
#pragma unroll
    for (int k = 0; k < order; k++) {
        if (k == middle)
            continue;
        out[k] = __float2int_rn(q * w[k]);
        whole -= out[k];
    }
    out[middle] = whole;
}

/* Adds a charge q (e) to the mesh. */
template <int order, enum mesh_lies lies>
static __device__ __forceinline__ void spread_atom(const struct mesh_shape &m, int32_t *charges, uint4 grid, float q)
{
    struct mesh_spot<order> s;
    int32_t of_plane[order], of_row[order], of_point[order];
    find_spot<order>(m, grid, &s);
    q *= MESH_CHARGE_SCALE;
    share<order>(__float2int_rn(q), q, s.w[0], of_plane);
#pragma unroll
    for (int x = 0; x < order; x++) {
        float qx = q * s.w[0][x];
        share<order>(of_plane[x], qx, s.w[1], of_row);
#pragma unroll
        for (int y = 0; y < order; y++) {
            int32_t *row = charges + row_at<lies>(m, s.point[0] + x, s.point[1] + y, s.point[2]);
            share<order>(of_row[y], qx * s.w[1][y], s.w[2], of_point);
#pragma unroll
            for (int z = 0; z < order; z++)
                atomicAdd(&row[along_row<lies>(m, s.point[2], z)], of_point[z]);
        }
    }
}

/* Potential (kJ/mol/e) at an atom and its slopes per mesh point. */
template <int order, enum mesh_lies lies>
static __device__ __forceinline__ float sample_mesh(const struct mesh_shape &m, const float *potential,
                                                    const struct mesh_spot<order> &s, float g[3])
{
    float v = 0;
    g[0] = g[1] = g[2] = 0;
#pragma unroll
    for (int x = 0; x < order; x++) {
        float p = 0, py = 0, pz = 0;
#pragma unroll
        for (int y = 0; y < order; y++) {
            const float *row = potential + row_at<lies>(m, s.point[0] + x, s.point[1] + y, s.point[2]);
            float r = 0, dr = 0;
#pragma unroll
            for (int z = 0; z < order; z++) {
                float value = row[along_row<lies>(m, s.point[2], z)];
                r = fmaf(value, s.w[2][z], r);
                dr = fmaf(value, s.dw[2][z], dr);
            }
            p = fmaf(s.w[1][y], r, p);
            py = fmaf(s.dw[1][y], r, py);
            pz = fmaf(s.w[1][y], dr, pz);
        }
        v = fmaf(s.w[0][x], p, v);
        g[0] = fmaf(s.dw[0][x], p, g[0]);
        g[1] = fmaf(s.w[0][x], py, g[1]);
        g[2] = fmaf(s.w[0][x], pz, g[2]);
    }
    return v;
}

/* dU/dlambda of one atom, and with it what each foreign row gains to first order. */
static __device__ inline void add_slope(struct ctl *c, const struct mesh_table *t, double slope, uint32_t mode,
                                        struct fixed_sum *energy_at_window)
{
    struct accumulate sum = {0};
    const struct foreign_rows rows = foreign_rows_of(mode, c, t->window, (uint32_t)t->nwindows);
    if (evaluates_energies(mode)) {
        acc_dvdl_within(&sum, LAMBDA_COULOMB, slope, FIXED_TOTAL_LIMIT);
        acc_finish(&sum, &c->sum);
    }
    for (uint32_t w = 0; w < rows.n; w++)
        acc_window(&energy_at_window[w], (rows.lambda[w][LAMBDA_COULOMB] - c->lambda[LAMBDA_COULOMB]) * slope,
                   FIXED_TOTAL_LIMIT);
}

/* Where gathering adds to, and what it takes: the same for all atoms, so one thread of a block finds it. */
struct mesh_sums {
    struct ctl *ctl;
    const struct mesh_table *table;
    int64_t *f;
    struct fixed_sum *energy_at_window;
    uint32_t mode, triclinic;
    double lambda;
    double per_nm[BOX_SIZE]; /* mesh points, times the impulse of a timestep; a slope along x adds to forces along y and
                                z in a triclinic box, and so on */
};

static __device__ inline struct mesh_sums mesh_sums_of(void *ctl, const struct mesh_table *t, void *f,
                                                       void *energy_at_window, uint32_t mode)
{
    struct ctl *c = (struct ctl *)ctl;
    struct mesh_sums sums = {c,
                             t,
                             (int64_t *)f,
                             (struct fixed_sum *)energy_at_window,
                             mode,
                             (uint32_t)t->triclinic,
                             c->lambda[LAMBDA_COULOMB]};
    double inverse[BOX_SIZE];
    const double times = evaluates_energies(mode) ? 1 : t->impulse;
    for (int d = 0; d < 3; d++)
        sums.per_nm[d] = times * (t->axis[d].size / c->box[d]);
    if (!sums.triclinic)
        return sums;
    box_invert(c->box, inverse);
    sums.per_nm[BOX_YX] = times * (t->axis[0].size * inverse[BOX_YX]);
    sums.per_nm[BOX_ZX] = times * (t->axis[0].size * inverse[BOX_ZX]);
    sums.per_nm[BOX_ZY] = times * (t->axis[1].size * inverse[BOX_ZY]);
    return sums;
}

/* Force on an atom. */
template <int order, enum mesh_lies lies>
static __device__ __forceinline__ void gather_atom(const struct mesh_shape &m, const float *potential,
                                                   const struct mesh_atom &a, uint32_t atom, const struct mesh_sums &to)
{
    struct mesh_spot<order> s;
    float g[3];
    find_spot<order>(m, a.grid, &s);
    const float v = sample_mesh<order, lies>(m, potential, s, g);
    const double q = charge_now(to.lambda, a.charge);
    double force[3] = {-q * g[0] * to.per_nm[BOX_XX], -q * g[1] * to.per_nm[BOX_YY], -q * g[2] * to.per_nm[BOX_ZZ]};
    if (to.triclinic) {
        force[1] -= q * (to.per_nm[BOX_YX] * g[0]);
        force[2] -= q * (to.per_nm[BOX_ZX] * g[0] + to.per_nm[BOX_ZY] * g[1]);
    }
    int64_t *f = in_global(to.f) + 3 * (size_t)atom;
    if (!force_within(force)) {
        struct accumulate sum = {0};
        acc_clamped(&sum, CLAMPED_FORCE, acc_force_clamped(f, force[0], force[1], force[2]));
        acc_finish(&sum, &to.ctl->sum);
    } else if (q != 0) {
#pragma unroll
        for (int d = 0; d < 3; d++)
            acc_add(&f[d], fixed_within(force[d]));
    }
    if (to.mode != EVALUATE_STEP && a.charge.y != 0)
        add_slope(to.ctl, to.table, (double)a.charge.y * v, to.mode, to.energy_at_window);
}

#endif
