/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh's forces without a mesh, see engine/cuda/tiny/tiny.h. All of it in single precision, as on a mesh; each
 * share of a force is rounded to fixed point before it is added.
 */
#ifndef SHOAL_ENGINE_CUDA_TINY_WAVES_CUH
#define SHOAL_ENGINE_CUDA_TINY_WAVES_CUH

#include "engine/cuda/mesh/atoms.cuh"
#include "engine/cuda/mesh/influence.cuh"
#include "engine/cuda/tiny/block.cuh"

/* ---- once for a launch ---- */

static __device__ inline uint32_t wave_of(uint32_t function)
{
    return (function + 1) / 2;
}

/* Waves of either sign. */
static __device__ inline float waves_alike(uint32_t wave, uint32_t points)
{
    return wave == 0 || 2 * wave == points ? 1 : 2;
}

static __device__ inline uint32_t quads_of(const struct tiny_column column)
{
    return (column.count + 3u) / 4;
}

/* Of the columns' products, in a rectangular box. Functions behind a column's last do not count. */
static __device__ inline void influence_of_columns()
{
    const struct tiny_here &h = here();
    const struct mesh_table *m = h.t->mesh;
    const float prefactor = mode_prefactor(h.c());
    BLOCK_LOOP(i, h.ncolumns)
    {
        const struct tiny_column column = h.t->column[i];
        const uint32_t kx = wave_of(column.x), ky = wave_of(column.y);
        const float2 x = mode_of(m, h.c(), 0, kx), y = mode_of(m, h.c(), 1, ky);
        const float alike =
            waves_alike(kx, (uint32_t)m->axis[0].size) * waves_alike(ky, (uint32_t)m->axis[1].size) * prefactor;
        float *green = (float *)(h.green() + column.at);
        for (uint32_t k = 0; k < 4 * quads_of(column); k++) {
            const uint32_t kz = wave_of(4u * column.z + k);
            const float weight = k < column.count ? alike * waves_alike(kz, (uint32_t)m->axis[2].size) : 0;
            green[k] = weight == 0 ? 0 : mode_green(mode_line_of(weight, y, mode_of(m, h.c(), 2, kz)), x);
        }
    }
}

/* Of the wave that has these numbers along the mesh's axes. */
static __device__ inline float influence_of(const struct mesh_table *m, const struct ctl *c, uint32_t x, uint32_t y,
                                            uint32_t z)
{
    const float2 mx = mode_of(m, c, 0, x), mz = mode_of(m, c, 2, z);
    return mode_at(mode_plane_of(m, c, y, &mx, &mz), 0, 0).green;
}

/* In a triclinic box: of +x +y, +x -y, and what is -x +y and -x -y with +z, so +x -y and +x +y with -z; a wave that has
 * no other of the opposite sign is counted twice for each axis. */
static __device__ inline void influence_of_octets()
{
    const struct tiny_here &h = here();
    const struct mesh_table *m = h.t->mesh;
    const uint32_t nx = (uint32_t)m->axis[0].size, ny = (uint32_t)m->axis[1].size, nz = (uint32_t)m->axis[2].size;
    BLOCK_LOOP(i, h.t->noctets)
    {
        const uint8_t *k = h.t->octet[i].k;
        const uint32_t x = k[0], y = k[1], z = k[2], other_x = x ? nx - x : 0, other_y = y ? ny - y : 0;
        const float w = 0.25f * waves_alike(x, nx) * waves_alike(y, ny) * waves_alike(z, nz);
        h.green()[i] =
            make_float4(w * influence_of(m, h.c(), x, y, z), w * influence_of(m, h.c(), x, other_y, z),
                        w * influence_of(m, h.c(), other_x, other_y, z), w * influence_of(m, h.c(), other_x, y, z));
    }
}

static __device__ __noinline__ void tiny_prepare_waves()
{
    const struct tiny_here &h = here();
    const struct mesh_table *m = h.t->mesh;
    for (int d = 0; d < 3; d++)
        BLOCK_LOOP(k, (uint32_t)m->axis[d].size)
    h.turn(d)[k] = ((const float2 *)m->axis[d].twiddle)[k];
    BLOCK_LOOP(i, h.natoms * h.quads + TINY_QUADS)
    ((float4 *)h.wave(2))[i] = ((float4 *)h.slope(2))[i] = make_float4(0, 0, 0, 0);
    BLOCK_LOOP(i, h.ncolumns)
    h.column()[i] = h.t->column[i];
    if (h.t->noctets)
        influence_of_octets();
    else
        influence_of_columns();
}

/* ---- functions of one atom along one axis ---- */

/* Where the functions of an atom are: function k at first + k * step. */
struct wave_place {
    float *wave, *slope;
    uint32_t step;
};

static __device__ inline struct wave_place wave_place_of(uint32_t axis, uint32_t atom)
{
    const struct tiny_here &h = here();
    const uint32_t z = 4 * h.quads * atom;
    if (axis == 2)
        return {h.wave(2) + z, h.slope(2) + z, 1};
    return {h.wave(axis) + atom, h.slope(axis) + atom, h.stride};
}

/* Waves from .. to - 1. Those along x are times the charge. */
template <int order>
static __device__ inline void tiny_waves_from(uint32_t axis, uint32_t atom, uint32_t from, uint32_t to)
{
    const struct tiny_here &h = here();
    const uint32_t size = (uint32_t)h.t->mesh->axis[axis].size, functions = h.t->functions[axis];
    const uint4 grid = h.grid()[atom];
    const uint64_t at = (uint64_t)(axis == 0 ? grid.x : axis == 1 ? grid.y : grid.z) * size;
    const struct wave_place to_place = wave_place_of(axis, atom);
    const float2 *turn = h.turn(axis);
    const float q = axis == 0 ? h.charge()[atom] : 1;
    float w[order], dw[order];
    uint32_t step[order], turned[order]; /* points from the first of the box; wave times that, in points */
    splines<order>((float)(uint32_t)at * 0x1p-32f, w, dw);
#pragma unroll
    for (uint32_t j = 0; j < order; j++) {
        step[j] = wrapped((uint32_t)(at >> 32) + j, size);
        turned[j] = from * step[j] % size;
        w[j] *= q;
        dw[j] *= q;
    }
    for (uint32_t k = from; k < to; k++) {
        float2 value = make_float2(0, 0), slope = make_float2(0, 0);
#pragma unroll
        for (int j = 0; j < order; j++) {
            const float2 e = turn[turned[j]];
            value = make_float2(fmaf(w[j], e.x, value.x), fmaf(w[j], e.y, value.y));
            slope = make_float2(fmaf(dw[j], e.x, slope.x), fmaf(dw[j], e.y, slope.y));
            turned[j] = wrapped(turned[j] + step[j], size);
        }
        const uint32_t cosine = k ? 2 * k - 1 : 0;
        to_place.wave[cosine * to_place.step] = value.x;
        to_place.slope[cosine * to_place.step] = slope.x;
        if (k && 2 * k < functions) {
            to_place.wave[2 * k * to_place.step] = value.y;
            to_place.slope[2 * k * to_place.step] = slope.y;
        }
    }
}

/* Item (2 axis + half) natoms + atom. */
static __device__ __noinline__ void tiny_waves(uint32_t item)
{
    const struct tiny_here &h = here();
    const uint32_t atom = item % h.natoms, axis = item / h.natoms / 2, half = item / h.natoms % 2;
    const uint32_t waves = h.t->functions[axis] / 2 + 1, middle = (waves + 1) / 2;
    const uint32_t from = half ? middle : 0, to = half ? waves : middle;
    switch (h.t->mesh->order) {
    case 4:
        tiny_waves_from<4>(axis, atom, from, to);
        break;
    case 5:
        tiny_waves_from<5>(axis, atom, from, to);
        break;
    default:
        tiny_waves_from<6>(axis, atom, from, to);
    }
}

/* ---- coefficients: TINY_SPLIT threads a column, each with every TINY_SPLIT-th atom ---- */

static __device__ inline float sum_split(float v)
{
    for (int step = TINY_SPLIT / 2; step > 0; step >>= 1)
        v += __shfl_xor_sync(WARP_ALL, v, step);
    return v;
}

/* 1 for each of four functions that is one of the column's, 0 behind its last. */
static __device__ inline float4 counted(const struct tiny_column column, uint32_t quad)
{
    const uint32_t left = column.count - 4 * quad;
    return make_float4(1, left > 1, left > 2, left > 3);
}

/* For whole warps, none of whose columns is longer than `quads`. */
template <int quads> static __device__ __forceinline__ void tiny_column_there(const struct tiny_column column)
{
    const struct tiny_here &h = here();
    const uint32_t split = threadIdx.x % TINY_SPLIT, natoms = h.natoms, stride = h.quads;
    const bool octets = h.t->noctets != 0; /* they are multiplied later */
    const float *x = h.wave(0) + column.x * h.stride, *y = h.wave(1) + column.y * h.stride;
    const float4 *z = (const float4 *)h.wave(2) + column.z;
    float4 sum[quads];
#pragma unroll
    for (int q = 0; q < quads; q++)
        sum[q] = make_float4(0, 0, 0, 0);
    for (uint32_t i = split; i < natoms; i += TINY_SPLIT) {
        const float p = x[i] * y[i];
        const float4 *of = z + i * stride;
#pragma unroll
        for (int q = 0; q < quads; q++) {
            const float4 w = of[q];
            sum[q] = make_float4(fmaf(p, w.x, sum[q].x), fmaf(p, w.y, sum[q].y), fmaf(p, w.z, sum[q].z),
                                 fmaf(p, w.w, sum[q].w));
        }
    }
#pragma unroll
    for (int q = 0; q < quads; q++) {
        const float4 s =
            make_float4(sum_split(sum[q].x), sum_split(sum[q].y), sum_split(sum[q].z), sum_split(sum[q].w));
        if (4 * q < column.count && q % TINY_SPLIT == split) {
            const float4 g = octets ? counted(column, q) : h.green()[column.at + q];
            h.value()[column.at + q] = make_float4(g.x * s.x, g.y * s.y, g.z * s.z, g.w * s.w);
        }
    }
}

static_assert(TINY_QUADS == 5, "as the cases below say");

static __device__ __noinline__ void tiny_waves_there()
{
    const struct tiny_here &h = here();
    const uint32_t all = TINY_SPLIT * h.ncolumns, lane = threadIdx.x % WARP;
    for (uint32_t first = threadIdx.x - lane; first < all; first += blockDim.x) {
        struct tiny_column column = {};
        if (first + lane < all)
            column = h.column()[(first + lane) / TINY_SPLIT];
        switch (__reduce_max_sync(WARP_ALL, quads_of(column))) {
        case 1:
            tiny_column_there<1>(column);
            break;
        case 2:
            tiny_column_there<2>(column);
            break;
        case 3:
            tiny_column_there<3>(column);
            break;
        case 4:
            tiny_column_there<4>(column);
            break;
        default:
            tiny_column_there<TINY_QUADS>(column);
        }
    }
}

/* ---- coefficients times the influence function, in a triclinic box ---- */

/* With R the sums of products of cosines (c) and sines (s) along x, y and z, the coefficient of wave (k_x, p k_y, q
 * k_z) is R_ccc - p R_ssc - q R_scs - pq R_css + i (R_scc + p R_csc + q R_ccs - pq R_sss) and the potential is the real
 * part of the sum of coefficients times influence function g(p, q) times conjugate waves, which have the same parts. So
 * each of the four terms in front of i becomes a sum of shares of those four, and each of the four behind i of those.
 */
static __device__ inline void mix_four(float4 g, float r[4])
{
    const float pp = g.x * (r[0] - r[1] - r[2] - r[3]), mp = g.y * (r[0] + r[1] - r[2] + r[3]),
                pm = g.z * (r[0] - r[1] + r[2] + r[3]), mm = g.w * (r[0] + r[1] + r[2] - r[3]);
    r[0] = pp + mp + pm + mm;
    r[1] = -pp + mp - pm + mm;
    r[2] = -pp - mp + pm + mm;
    r[3] = -pp + mp + pm - mm;
}

static __device__ __noinline__ void tiny_octets()
{
    const struct tiny_here &h = here();
    float *value = (float *)h.value();
    BLOCK_LOOP(i, h.t->noctets)
    {
        const struct tiny_octet o = h.t->octet[i];
        const uint32_t front[4] = {o.at[0], o.at[6], o.at[5], o.at[3]},
                       behind[4] = {o.at[4], o.at[2], o.at[1], o.at[7]};
        float r[4], s[4];
        for (int k = 0; k < 4; k++) {
            r[k] = front[k] == NO_PRODUCT ? 0 : value[front[k]];
            s[k] = behind[k] == NO_PRODUCT ? 0 : (k == 1 || k == 2 ? -1 : 1) * value[behind[k]];
        }
        mix_four(h.green()[i], r);
        mix_four(h.green()[i], s);
        for (int k = 0; k < 4; k++) {
            if (front[k] != NO_PRODUCT)
                value[front[k]] = r[k];
            if (behind[k] != NO_PRODUCT)
                value[behind[k]] = (k == 1 || k == 2 ? -1 : 1) * s[k];
        }
    }
}

/* ---- forces: a lane for each of 32 atoms, a warp for some columns ---- */

static __device__ inline float dot4(float4 a, float4 b, float from)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, from))));
}

/* What of a block's shared memory a warp needs, in registers of its own. */
struct waves_back {
    const struct tiny_column *column;
    const float4 *value, *wave_z, *slope_z; /* of the lane's atom along z */
    const float *wave_x, *slope_x, *wave_y, *slope_y;
    uint32_t stride;

    __device__ __forceinline__ waves_back(const struct tiny_here &h, uint32_t atom)
        : column(h.column()), value(h.value()), wave_z((const float4 *)h.wave(2) + atom * h.quads),
          slope_z((const float4 *)h.slope(2) + atom * h.quads), wave_x(h.wave(0) + atom), slope_x(h.slope(0) + atom),
          wave_y(h.wave(1) + atom), slope_y(h.slope(1) + atom), stride(h.stride)
    {
    }
};

/* Of columns with the same x: what is left to be multiplied by the function or the slope along x. */
struct wave_sums {
    float slope_x, slope_y, slope_z;
};

/* Of the energy, per mesh point along each axis. */
struct slopes {
    float along[3];
};

static __device__ inline void close_sums(const struct waves_back &w, uint32_t x, struct wave_sums *sum, float g[3])
{
    const uint32_t at = x * w.stride;
    g[0] = fmaf(w.slope_x[at], sum->slope_x, g[0]);
    g[1] = fmaf(w.wave_x[at], sum->slope_y, g[1]);
    g[2] = fmaf(w.wave_x[at], sum->slope_z, g[2]);
    *sum = {0, 0, 0};
}

/* From column k on those that are as long, `quads`, and begin at the same function along z, but none from `end` on.
 * Returns the first that is left. */
template <int quads>
static __device__ __forceinline__ uint32_t tiny_columns_back(const struct waves_back &w, uint32_t k, uint32_t end,
                                                             float g[3])
{
    const struct tiny_column first = w.column[k];
    const float4 *value = w.value + first.at; /* the columns' coefficients follow one another */
    float4 wave[quads], slope[quads];
    struct wave_sums sum = {0, 0, 0};
    uint32_t x = first.x;
#pragma unroll
    for (int q = 0; q < quads; q++) {
        wave[q] = w.wave_z[first.z + q];
        slope[q] = w.slope_z[first.z + q];
    }
    for (end = min(end, k + first.alike); k < end; k++, value += quads) {
        const struct tiny_column column = w.column[k];
        const float wy = w.wave_y[column.y * w.stride], sy = w.slope_y[column.y * w.stride];
        if (column.x != x) {
            close_sums(w, x, &sum, g);
            x = column.x;
        }
        float along[2] = {0, 0}, sloped[2] = {0, 0}; /* of every second quad: shorter chains */
#pragma unroll
        for (int q = 0; q < quads; q++) {
            along[q % 2] = dot4(value[q], wave[q], along[q % 2]);
            sloped[q % 2] = dot4(value[q], slope[q], sloped[q % 2]);
        }
        along[0] += along[1];
        sum.slope_x = fmaf(wy, along[0], sum.slope_x);
        sum.slope_y = fmaf(sy, along[0], sum.slope_y);
        sum.slope_z = fmaf(wy, sloped[0] + sloped[1], sum.slope_z);
    }
    close_sums(w, x, &sum, g);
    return k;
}

/* Of columns k .. end - 1, of one atom. Out of line, so that the loops over columns have the registers to themselves.
 */
static __device__ __noinline__ struct slopes tiny_part_back(uint32_t atom, uint32_t k, uint32_t end)
{
    const struct waves_back w(here(), atom);
    struct slopes s = {{0, 0, 0}};
    float *g = s.along;
    while (k < end)
        switch (quads_of(w.column[k])) {
        case 1:
            k = tiny_columns_back<1>(w, k, end, g);
            break;
        case 2:
            k = tiny_columns_back<2>(w, k, end, g);
            break;
        case 3:
            k = tiny_columns_back<3>(w, k, end, g);
            break;
        case 4:
            k = tiny_columns_back<4>(w, k, end, g);
            break;
        default:
            k = tiny_columns_back<TINY_QUADS>(w, k, end, g);
        }
    return s;
}

static __device__ inline void tiny_share_back(uint32_t share)
{
    const struct tiny_here &h = here();
    const uint32_t group = share % h.groups, part = share / h.groups;
    const uint32_t own = WARP * group + threadIdx.x % WARP, atom = min(own, h.natoms - 1);
    if (part >= TINY_SHARES / h.groups)
        return;
    const struct slopes g = tiny_part_back(atom, h.t->part[part], h.t->part[part + 1]);
    if (own >= h.natoms)
        return;
    double per_box[3], force[3];
    for (int d = 0; d < 3; d++)
        per_box[d] = -(double)g.along[d] * h.t->mesh->axis[d].size;
    box_gradient(h.inverse, per_box, force);
    struct accumulate acc = {};
    acc_force(&acc, h.f()[own], force);
    finish_warp(&acc, &h.c()->sum, EVALUATE_STEP);
}

/* What is rounded are shares, of which there are as many whatever the warps. */
static __device__ inline void tiny_waves_back()
{
    for (uint32_t share = threadIdx.x / WARP; share < TINY_SHARES; share += tiny_warps()) {
        tiny_share_back(share);
        __syncwarp();
    }
}

#endif
