/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh in global memory to reciprocal space and back, see engine/cuda/mesh/mesh.h: planes of it in shared memory.
 */
#include "engine/cuda/mesh/fft_lines.cuh"
#include "engine/cuda/mesh/influence.cuh"

/* What a block works in: two planes, in shared memory or where they are too large for it in global, as lines along
 * their second axis in pairs or as half a spectrum, and two axes' twiddles and modes. */
struct plane_memory {
    float2 *plane[2], *twiddle[2], *mode[2];
    uint32_t row; /* of a pair of lines: an odd number of points */
};

/* Twiddles are on their way: copies_end. */
template <bool large>
static __device__ __forceinline__ struct plane_memory
plane_memory_of(float2 *shared, void *work, const struct mesh_axis *a, const struct mesh_axis *b)
{
    const uint32_t na = (uint32_t)a->size, nb = (uint32_t)b->size, points = mesh_plane_points(na, nb);
    float2 *plane = large ? (float2 *)work + (size_t)blockIdx.x * 2 * points : shared;
    float2 *twiddle = large ? shared : shared + 2 * points, *mode = twiddle + na + nb;
    const float2 *first = (const float2 *)a->twiddle, *second = (const float2 *)b->twiddle;
    BLOCK_LOOP(k, na + nb)
    copy_begin(&twiddle[k], k < na ? &first[k] : &second[k - na]);
    return {{plane, plane + points}, {twiddle, twiddle + na}, {mode, mode + na}, nb | 1};
}

template <bool large> static __device__ __forceinline__ void forward(const struct args_mesh_forward &a)
{
    extern __shared__ float2 shared[];
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const struct mesh_axis *axis_y = &t->axis[1], *axis_z = &t->axis[2];
    const struct plane_memory m = plane_memory_of<large>(shared, a.work, axis_y, axis_z);
    const uint32_t ny = axis_y->points.by, nz = axis_z->points.by, half = axis_z->half.by;
    const int32_t *charges = (const int32_t *)a.charges + (size_t)blockIdx.x * ny * nz;
    float2 *spectrum = (float2 *)a.spectrum + (size_t)blockIdx.x * ny * half;
    const bool odd = axis_z->npasses % 2;
    float2 *rows = odd ? m.plane[0] : m.plane[1], *other = odd ? m.plane[1] : m.plane[0];
    wait_for_previous();
    if (((const struct ctl *)a.ctl)->halt)
        return;
    transform_lines<!large, true>(
        {axis_y->pairs, m.row, 1}, axis_z, m.twiddle[1], m.plane[0], m.plane[1],
        [=](uint32_t pair, uint32_t z) {
            const int32_t *at = charges + 2 * pair * nz + z;
            return make_float2(MESH_CHARGE_UNIT * (float)at[0],
                               2 * pair + 1 < ny ? MESH_CHARGE_UNIT * (float)at[nz] : 0);
        },
        [=](uint32_t pair, uint32_t z, float2 value) { rows[pair * m.row + z] = value; });
    transform_lines<!large, false>(
        {axis_z->half, 1, half}, axis_y, m.twiddle[0], other, rows,
        [=](uint32_t k, uint32_t y) {
            const float2 *row = rows + y / 2 * m.row;
            return split_line(row[k], row[k ? nz - k : 0], y % 2);
        },
        [=](uint32_t k, uint32_t y, float2 value) { spectrum[y * half + k] = value; });
}

/* Energy and virial of the block's plane, or what the change of charge adds to the energies at windows. */
static __device__ void add_energies(const struct args_mesh_solve &a, const struct mode_plane &plane, const float2 *s)
{
    __shared__ struct fixed_sum part[CUDA_ONE_BLOCK / WARP];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    struct mode_sums sum;
    mode_sums_of(&sum, evaluates_slopes(a.mode) && !a.change, plane, s, (uint32_t)t->axis[2].half.by, threadIdx.x,
                 blockDim.x);
    if (threadIdx.x % WARP == 0) {
        part[threadIdx.x / WARP] = sum.energy;
        if (!a.change)
            mode_report(c, sum);
    }
    __syncthreads();
    if (!a.change)
        return;
    struct fixed_sum energy = part[0];
    for (uint32_t w = 1; w < blockDim.x / WARP; w++) {
        fixed_add(&energy, part[w].low);
        energy.wraps += part[w].wraps;
    }
    BLOCK_LOOP(w, (uint32_t)t->nwindows)
    mode_window(c, t, energy, w, (struct fixed_sum *)a.energy_at_window);
}

/* The factors of all waves of a plane, by the threads at the block's end: the first pass needs those at its beginning.
 */
static __device__ __forceinline__ void find_modes(const struct mesh_table *t, const struct ctl *c,
                                                  const struct plane_memory &mem, struct mode_plane *plane)
{
    const uint32_t nx = t->axis[0].points.by, half = t->axis[2].half.by;
    for (uint32_t i = blockDim.x - 1 - threadIdx.x; i <= nx + half; i += blockDim.x) {
        if (i == nx + half) {
            *plane = mode_plane_of(t, c, blockIdx.x, mem.mode[0], mem.mode[1]);
            continue;
        }
        const bool x = i < nx;
        const uint32_t k = x ? i : i - nx;
        mem.mode[x ? 0 : 1][k] = mode_of(t, c, x ? 0 : 2, k);
    }
}

/* Leaves the conjugate of the spectrum that goes back. */
template <bool large> static __device__ __forceinline__ void solve(const struct args_mesh_solve &a)
{
    extern __shared__ float2 shared[];
    __shared__ struct mode_plane plane; /* registers are short */
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const struct mesh_axis *axis_x = &t->axis[0], *axis_z = &t->axis[2];
    const struct plane_memory mem = plane_memory_of<large>(shared, a.work, axis_x, axis_z);
    const uint32_t ny = t->axis[1].points.by, half = axis_z->half.by;
    const struct lines along_x = {axis_z->half, 1, half};
    float2 *spectrum = (float2 *)a.spectrum + (size_t)blockIdx.x * half;
    const bool odd = axis_x->npasses % 2;
    float2 *s = odd ? mem.plane[0] : mem.plane[1], *other = odd ? mem.plane[1] : mem.plane[0];
    find_modes(t, c, mem, &plane);
    wait_for_previous();
    if (c->halt)
        return;
    transform_lines<!large, false>(
        along_x, axis_x, mem.twiddle[0], mem.plane[0], mem.plane[1],
        [=](uint32_t k, uint32_t x) { return spectrum[(size_t)x * ny * half + k]; },
        [=](uint32_t k, uint32_t x, float2 value) { s[x * half + k] = value; });
    if (a.mode != EVALUATE_STEP)
        add_energies(a, plane, s);
    if (a.change || !evaluates_forces(a.mode))
        return;
    transform_lines<!large, false>(
        along_x, axis_x, mem.twiddle[0], other, s,
        [=](uint32_t k, uint32_t x) {
            const float green = mode_at(plane, x, k).green;
            const float2 value = s[x * half + k];
            return make_float2(green * value.x, -green * value.y);
        },
        [=](uint32_t k, uint32_t x, float2 value) { spectrum[(size_t)x * ny * half + k] = value; });
}

template <bool large> static __device__ __forceinline__ void backward(const struct args_mesh_backward &a)
{
    extern __shared__ float2 shared[];
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const struct mesh_axis *axis_y = &t->axis[1], *axis_z = &t->axis[2];
    const struct plane_memory m = plane_memory_of<large>(shared, a.work, axis_y, axis_z);
    const uint32_t ny = axis_y->points.by, nz = axis_z->points.by, half = axis_z->half.by;
    const float2 *spectrum = (const float2 *)a.spectrum + (size_t)blockIdx.x * ny * half;
    float *potential = (float *)a.potential + (size_t)blockIdx.x * ny * nz;
    const bool odd = axis_y->npasses % 2;
    float2 *plane = odd ? m.plane[0] : m.plane[1], *other = odd ? m.plane[1] : m.plane[0];
    const bool triclinic = t->triclinic;
    wait_for_previous();
    if (((const struct ctl *)a.ctl)->halt)
        return;
    transform_lines<!large, false>(
        {axis_z->half, 1, half}, axis_y, m.twiddle[0], m.plane[0], m.plane[1],
        [=](uint32_t k, uint32_t y) { return spectrum[y * half + k]; },
        [=](uint32_t k, uint32_t y, float2 value) { plane[y * half + k] = value; });
    transform_lines<!large, true>(
        {axis_y->pairs, m.row, 1}, axis_z, m.twiddle[1], other, plane,
        [=](uint32_t pair, uint32_t z) {
            const float2 *line = plane + 2 * pair * half + (z < half ? z : nz - z);
            float2 first = line[0], second = 2 * pair + 1 < ny ? line[half] : make_float2(0, 0);
            if (triclinic && (z == 0 || 2 * z == nz)) /* as on the CPU device */
                first.y = second.y = 0;
            return z < half ? join_pair(first, second) : join_opposite(first, second);
        },
        [=](uint32_t pair, uint32_t z, float2 value) {
            float *at = potential + 2 * pair * nz + z;
            at[0] = value.x;
            if (2 * pair + 1 < ny)
                at[nz] = -value.y;
        });
}

#define PLANES(name)                                                                                                   \
    KERNEL(mesh_##name, a, __launch_bounds__(MESH_PLANE))                                                              \
    {                                                                                                                  \
        ECHO(a);                                                                                                       \
        let_next_begin();                                                                                              \
        if (a.work)                                                                                                    \
            name<true>(a);                                                                                             \
        else                                                                                                           \
            name<false>(a);                                                                                            \
    }
PLANES(forward)
PLANES(solve)
PLANES(backward)
#undef PLANES
