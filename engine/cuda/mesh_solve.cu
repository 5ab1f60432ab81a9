/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh in global memory to reciprocal space and back, see engine/cuda/mesh.h: planes of it in shared memory.
 */
#include "engine/cuda/lines.cuh"
#include "engine/cuda/mesh_modes.cuh"

/* A block's shared memory: two planes, and two axes' twiddles and modes. */
struct plane_memory {
    float2 *plane[2], *twiddle[2], *mode[2];
};

static __device__ struct plane_memory plane_memory_of(float2 *shared, const struct mesh_axis *a,
                                                      const struct mesh_axis *b)
{
    uint32_t half = (uint32_t)b->size / 2 + 1, lines = ((uint32_t)a->size + 1) / 2,
             sizes = (uint32_t)(a->size + b->size);
    uint32_t points = max((uint32_t)a->size * half, lines * (uint32_t)b->size);
    float2 *twiddle = shared + 2 * points, *mode = twiddle + sizes;
    BLOCK_LOOP(k, (uint32_t)a->size)
    twiddle[k] = ((const float2 *)a->twiddle)[k];
    BLOCK_LOOP(k, (uint32_t)b->size)
    twiddle[a->size + k] = ((const float2 *)b->twiddle)[k];
    return {{shared, shared + points}, {twiddle, twiddle + a->size}, {mode, mode + a->size}};
}

KERNEL(mesh_forward, a)
{
    ECHO(a);
    extern __shared__ float2 shared[];
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    if (c->halt)
        return;
    struct plane_memory m = plane_memory_of(shared, &t->axis[1], &t->axis[2]);
    uint32_t ny = (uint32_t)t->axis[1].size, nz = (uint32_t)t->axis[2].size, half = nz / 2 + 1, pairs = (ny + 1) / 2;
    const int32_t *charges = (const int32_t *)a.charges + (size_t)blockIdx.x * ny * nz;
    BLOCK_LOOP(i, pairs * nz)
    {
        uint32_t y = 2 * (i / nz), z = i % nz;
        float second = y + 1 < ny ? MESH_CHARGE_UNIT * (float)charges[(y + 1) * nz + z] : 0;
        m.plane[0][i] = make_float2(MESH_CHARGE_UNIT * (float)charges[y * nz + z], second);
    }
    struct lines along_z = {pairs, nz, 1}, along_y = {half, 1, half};
    float2 *rows = transform_lines(m.plane[0], m.plane[1], along_z, &t->axis[2], m.twiddle[1]);
    float2 *plane = rows == m.plane[0] ? m.plane[1] : m.plane[0];
    BLOCK_LOOP(i, pairs * half)
    {
        uint32_t y = 2 * (i / half), k = i % half;
        float2 first, second;
        split_pair(rows[y / 2 * nz + k], rows[y / 2 * nz + (k ? nz - k : 0)], &first, &second);
        plane[y * half + k] = first;
        if (y + 1 < ny)
            plane[(y + 1) * half + k] = second;
    }
    float2 *result = transform_lines(plane, rows, along_y, &t->axis[1], m.twiddle[0]);
    float2 *spectrum = (float2 *)a.spectrum + (size_t)blockIdx.x * ny * half;
    BLOCK_LOOP(i, ny * half)
    spectrum[i] = result[i];
}

/* Energy and virial of the block's plane, or what the change of charge adds to the energies at windows. */
static __device__ void add_energies(const struct args_mesh_solve &a, const struct mode_plane &plane)
{
    __shared__ struct fixed_sum part[32];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    struct mode_sums sum;
    mode_plane_sums(&sum, plane, threadIdx.x, blockDim.x);
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
KERNEL(mesh_solve, a)
{
    ECHO(a);
    extern __shared__ float2 shared[];
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    if (c->halt)
        return;
    struct plane_memory mem = plane_memory_of(shared, &t->axis[0], &t->axis[2]);
    uint32_t nx = (uint32_t)t->axis[0].size, ny = (uint32_t)t->axis[1].size, nz = (uint32_t)t->axis[2].size;
    uint32_t half = nz / 2 + 1, y = blockIdx.x;
    BLOCK_LOOP(k, nx)
    mem.mode[0][k] = mode_of(t, c, 0, k);
    BLOCK_LOOP(k, half)
    mem.mode[1][k] = mode_of(t, c, 2, k);
    float2 *spectrum = (float2 *)a.spectrum;
    BLOCK_LOOP(i, nx * half)
    mem.plane[0][i] = spectrum[((size_t)(i / half) * ny + y) * half + i % half];
    struct lines along_x = {half, 1, half};
    float2 *s = transform_lines(mem.plane[0], mem.plane[1], along_x, &t->axis[0], mem.twiddle[0]);

    struct mode_plane plane = mode_plane_of(t, c, y);
    plane.s = s, plane.stride = half;
    plane.x = mem.mode[0], plane.z = mem.mode[1];
    if (a.mode != EVALUATE_STEP)
        add_energies(a, plane);
    if (a.change)
        return;
    BLOCK_LOOP(i, nx * half)
    {
        const float green = mode_at(plane, i / half, i % half).green;
        s[i] = make_float2(green * s[i].x, -green * s[i].y);
    }
    float2 *other = s == mem.plane[0] ? mem.plane[1] : mem.plane[0];
    float2 *back = transform_lines(s, other, along_x, &t->axis[0], mem.twiddle[0]);
    BLOCK_LOOP(i, nx * half)
    spectrum[((size_t)(i / half) * ny + y) * half + i % half] = back[i];
}

KERNEL(mesh_backward, a)
{
    ECHO(a);
    extern __shared__ float2 shared[];
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    if (c->halt)
        return;
    struct plane_memory m = plane_memory_of(shared, &t->axis[1], &t->axis[2]);
    uint32_t ny = (uint32_t)t->axis[1].size, nz = (uint32_t)t->axis[2].size, half = nz / 2 + 1, pairs = (ny + 1) / 2;
    const float2 *spectrum = (const float2 *)a.spectrum + (size_t)blockIdx.x * ny * half;
    BLOCK_LOOP(i, ny * half)
    m.plane[0][i] = spectrum[i];
    struct lines along_z = {pairs, nz, 1}, along_y = {half, 1, half};
    float2 *plane = transform_lines(m.plane[0], m.plane[1], along_y, &t->axis[1], m.twiddle[0]);
    float2 *rows = plane == m.plane[0] ? m.plane[1] : m.plane[0];
    BLOCK_LOOP(i, pairs * nz)
    {
        uint32_t y = 2 * (i / nz), z = i % nz, k = z < half ? z : nz - z;
        float2 first = plane[y * half + k], second = y + 1 < ny ? plane[(y + 1) * half + k] : make_float2(0, 0);
        if (t->triclinic && (z == 0 || 2 * z == nz)) /* as on the CPU device */
            first.y = second.y = 0;
        rows[i] = z < half ? join_pair(first, second) : join_opposite(first, second);
    }
    float2 *result = transform_lines(rows, plane, along_z, &t->axis[2], m.twiddle[1]);
    float *potential = (float *)a.potential + (size_t)blockIdx.x * ny * nz;
    BLOCK_LOOP(i, pairs * nz)
    {
        uint32_t y = 2 * (i / nz), z = i % nz;
        potential[y * nz + z] = result[i].x;
        if (y + 1 < ny)
            potential[(y + 1) * nz + z] = -result[i].y;
    }
}
