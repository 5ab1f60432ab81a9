/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh in global memory to reciprocal space and back, see engine/cuda/mesh.h: planes of it in shared memory.
 */
#include "engine/cuda/lines.cuh"
#include "engine/cuda/mesh_modes.cuh"

/* What a block works in: two planes, in shared memory or where they are too large for it in global, as lines along their second axis in pairs or as half a spectrum, and two axes' twiddles and
 * modes. */
struct plane_memory {
    float2 *plane[2], *twiddle[2], *mode[2];
    uint32_t row; /* of a pair of lines: an odd number of points */
};

template <bool large>
static __device__ __forceinline__ struct plane_memory
plane_memory_of(float2 *shared, void *work, const struct mesh_axis *a, const struct mesh_axis *b)
{
    const uint32_t na = (uint32_t)a->size, nb = (uint32_t)b->size, points = mesh_plane_points(na, nb);
    float2 *plane = large ? (float2 *)work + (size_t)blockIdx.x * 2 * points : shared;
    float2 *twiddle = large ? shared : shared + 2 * points, *mode = twiddle + na + nb;
    BLOCK_LOOP(k, na)
    twiddle[k] = ((const float2 *)a->twiddle)[k];
    BLOCK_LOOP(k, nb)
    twiddle[na + k] = ((const float2 *)b->twiddle)[k];
    return {{plane, plane + points}, {twiddle, twiddle + na}, {mode, mode + na}, nb | 1};
}

template <bool large> static __device__ __forceinline__ void forward(const struct args_mesh_forward &a)
{
    extern __shared__ float2 shared[];
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const struct mesh_axis *axis_y = &t->axis[1], *axis_z = &t->axis[2];
    const struct plane_memory m = plane_memory_of<large>(shared, a.work, axis_y, axis_z);
    const uint32_t ny = axis_y->points.by, nz = axis_z->points.by, half = axis_z->half.by, pairs = axis_y->pairs.by;
    const int32_t *charges = (const int32_t *)a.charges + (size_t)blockIdx.x * ny * nz;
    BLOCK_LOOP(i, pairs * nz)
    {
        const uint32_t pair = divided(i, axis_z->points), z = i - pair * nz, first = 2 * pair * nz + z;
        const float second = 2 * pair + 1 < ny ? MESH_CHARGE_UNIT * (float)charges[first + nz] : 0;
        m.plane[0][pair * m.row + z] = make_float2(MESH_CHARGE_UNIT * (float)charges[first], second);
    }
    const struct lines along_z = {axis_y->pairs, m.row, 1}, along_y = {axis_z->half, 1, half};
    float2 *rows = transform_lines(m.plane[0], m.plane[1], along_z, axis_z, m.twiddle[1]);
    float2 *plane = rows == m.plane[0] ? m.plane[1] : m.plane[0];
    BLOCK_LOOP(i, pairs * half)
    {
        const uint32_t pair = divided(i, axis_z->half), k = i - pair * half, y = 2 * pair;
        const float2 *row = rows + pair * m.row;
        float2 first, second;
        split_pair(row[k], row[k ? nz - k : 0], &first, &second);
        plane[y * half + k] = first;
        if (y + 1 < ny)
            plane[(y + 1) * half + k] = second;
    }
    const float2 *result = transform_lines(plane, rows, along_y, axis_y, m.twiddle[0]);
    float2 *spectrum = (float2 *)a.spectrum + (size_t)blockIdx.x * ny * half;
    BLOCK_LOOP(i, ny * half)
    spectrum[i] = result[i];
}

/* Energy and virial of the block's plane, or what the change of charge adds to the energies at windows. */
static __device__ void add_energies(const struct args_mesh_solve &a, const struct mode_plane &plane, const float2 *s)
{
    __shared__ struct fixed_sum part[32];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    struct mode_sums sum;
    mode_plane_sums(&sum, plane, s, (uint32_t)t->axis[2].half.by, threadIdx.x, blockDim.x);
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum.energy;
        if (!a.change)
            mode_report(c, sum);
    }
    __syncthreads();
    if (!a.change)
        return;
    struct fixed_sum energy = part[0];
    for (uint32_t w = 1; w < blockDim.x / 32; w++) {
        fixed_add(&energy, part[w].low);
        energy.wraps += part[w].wraps;
    }
    BLOCK_LOOP(w, (uint32_t)t->nwindows)
    mode_window(c, t, energy, w, (struct fixed_sum *)a.energy_at_window);
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
    const uint32_t nx = axis_x->points.by, ny = t->axis[1].points.by, half = axis_z->half.by, y = blockIdx.x;
    if (threadIdx.x == 0)
        plane = mode_plane_of(t, c, y, mem.mode[0], mem.mode[1]);
    BLOCK_LOOP(k, nx)
    mem.mode[0][k] = mode_of(t, c, 0, k);
    BLOCK_LOOP(k, half)
    mem.mode[1][k] = mode_of(t, c, 2, k);
    float2 *spectrum = (float2 *)a.spectrum;
    BLOCK_LOOP(i, nx * half)
    {
        const uint32_t x = divided(i, axis_z->half);
        mem.plane[0][i] = spectrum[(size_t)(x * (ny - 1) + y) * half + i];
    }
    const struct lines along_x = {axis_z->half, 1, half};
    float2 *s = transform_lines(mem.plane[0], mem.plane[1], along_x, axis_x, mem.twiddle[0]);
    if (a.mode != EVALUATE_STEP)
        add_energies(a, plane, s);
    if (a.change)
        return;
    BLOCK_LOOP(i, nx * half)
    {
        const uint32_t x = divided(i, axis_z->half);
        const float green = mode_at(plane, x, i - x * half).green;
        s[i] = make_float2(green * s[i].x, -green * s[i].y);
    }
    float2 *other = s == mem.plane[0] ? mem.plane[1] : mem.plane[0];
    const float2 *back = transform_lines(s, other, along_x, axis_x, mem.twiddle[0]);
    BLOCK_LOOP(i, nx * half)
    {
        const uint32_t x = divided(i, axis_z->half);
        spectrum[(size_t)(x * (ny - 1) + y) * half + i] = back[i];
    }
}

template <bool large> static __device__ __forceinline__ void backward(const struct args_mesh_backward &a)
{
    extern __shared__ float2 shared[];
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    const struct mesh_axis *axis_y = &t->axis[1], *axis_z = &t->axis[2];
    const struct plane_memory m = plane_memory_of<large>(shared, a.work, axis_y, axis_z);
    const uint32_t ny = axis_y->points.by, nz = axis_z->points.by, half = axis_z->half.by, pairs = axis_y->pairs.by;
    const float2 *spectrum = (const float2 *)a.spectrum + (size_t)blockIdx.x * ny * half;
    BLOCK_LOOP(i, ny * half)
    m.plane[0][i] = spectrum[i];
    const struct lines along_z = {axis_y->pairs, m.row, 1}, along_y = {axis_z->half, 1, half};
    float2 *plane = transform_lines(m.plane[0], m.plane[1], along_y, axis_y, m.twiddle[0]);
    float2 *rows = plane == m.plane[0] ? m.plane[1] : m.plane[0];
    BLOCK_LOOP(i, pairs * nz)
    {
        const uint32_t pair = divided(i, axis_z->points), z = i - pair * nz, k = z < half ? z : nz - z;
        const float2 *line = plane + 2 * pair * half + k;
        float2 first = line[0], second = 2 * pair + 1 < ny ? line[half] : make_float2(0, 0);
        if (t->triclinic && (z == 0 || 2 * z == nz)) /* as on the CPU device */
            first.y = second.y = 0;
        rows[pair * m.row + z] = z < half ? join_pair(first, second) : join_opposite(first, second);
    }
    const float2 *result = transform_lines(rows, plane, along_z, axis_z, m.twiddle[1]);
    float *potential = (float *)a.potential + (size_t)blockIdx.x * ny * nz;
    BLOCK_LOOP(i, pairs * nz)
    {
        const uint32_t pair = divided(i, axis_z->points), z = i - pair * nz, first = 2 * pair * nz + z;
        const float2 value = result[pair * m.row + z];
        potential[first] = value.x;
        if (2 * pair + 1 < ny)
            potential[first + nz] = -value.y;
    }
}

#define PLANES(name)                                                                                                   \
    KERNEL(mesh_##name, a, __launch_bounds__(MESH_PLANE, 2))                                                           \
    {                                                                                                                  \
        ECHO(a);                                                                                                       \
        if (((const struct ctl *)a.ctl)->halt)                                                                         \
            return;                                                                                                    \
        if (a.work)                                                                                                    \
            name<true>(a);                                                                                             \
        else                                                                                                           \
            name<false>(a);                                                                                            \
    }
PLANES(forward)
PLANES(solve)
PLANES(backward)
#undef PLANES
