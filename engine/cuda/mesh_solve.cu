/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh in reciprocal space, see engine/cuda/mesh.h.
 *   E = f/(2 pi V) sum over m != 0 of exp(-pi^2 m^2/beta^2)/m^2 B(m) |S(m)|^2
 *   Xi = -1/2 sum of each m's share of E times (1 - 2 (1/m^2 + pi^2/beta^2) m m)
 * (Essmann et al. 1995, eqs. 4.7 and 2.8.)
 */
#include "engine/base/units.h"
#include "engine/cuda/lines.cuh"
#include "engine/math/accumulate.h"

#define PI_F 3.14159265f

/* Real lines go through in pairs, one as the real part and one as the imaginary: Z = A + iB, so
 * A(k) = (Z(k) + Z*(n - k))/2, B(k) = (Z(k) - Z*(n - k))/2i. */

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
    const float unit = 1 / MESH_CHARGE_SCALE;
    BLOCK_LOOP(i, pairs * nz)
    {
        uint32_t y = 2 * (i / nz), z = i % nz;
        float second = y + 1 < ny ? unit * (float)charges[(y + 1) * nz + z] : 0;
        m.plane[0][i] = make_float2(unit * (float)charges[y * nz + z], second);
    }
    struct lines along_z = {pairs, nz, 1}, along_y = {half, 1, half};
    float2 *rows = transform_lines(m.plane[0], m.plane[1], along_z, &t->axis[2], m.twiddle[1], -1);
    float2 *plane = rows == m.plane[0] ? m.plane[1] : m.plane[0];
    BLOCK_LOOP(i, pairs * half)
    {
        uint32_t y = 2 * (i / half), k = i % half;
        float2 z = rows[y / 2 * nz + k], w = rows[y / 2 * nz + (k ? nz - k : 0)];
        plane[y * half + k] = make_float2(0.5f * (z.x + w.x), 0.5f * (z.y - w.y));
        if (y + 1 < ny)
            plane[(y + 1) * half + k] = make_float2(0.5f * (z.y + w.y), 0.5f * (w.x - z.x));
    }
    float2 *result = transform_lines(plane, rows, along_y, &t->axis[1], m.twiddle[0], -1);
    float2 *spectrum = (float2 *)a.spectrum + (size_t)blockIdx.x * ny * half;
    BLOCK_LOOP(i, ny * half)
    spectrum[i] = result[i];
}

/* Sums of one thread: energy and virial xx xy xz yy yz zz. */
struct solved {
    double energy, virial[6];
};

static __device__ inline float wave(uint32_t k, uint32_t size, float edge)
{
    return (float)(k < (size + 1) / 2 ? (int32_t)k : (int32_t)(k - size)) / edge;
}

/* Multiplies one coefficient by f/(pi V) exp(..)/m^2 B, of which its energy is half. */
static __device__ inline float2 convolve(float2 s, float green)
{
    return make_float2(green * s.x, green * s.y);
}

static __device__ inline void add_mode(struct solved *sum, float2 s, float green, float weight, const float m[3],
                                       float m2, float decay)
{
    double e = 0.5 * weight * green * ((double)s.x * s.x + (double)s.y * s.y), g = 2 * (1 / (double)m2 + decay) * e;
    sum->energy += e;
    sum->virial[0] += e - g * m[0] * m[0];
    sum->virial[1] -= g * m[0] * m[1];
    sum->virial[2] -= g * m[0] * m[2];
    sum->virial[3] += e - g * m[1] * m[1];
    sum->virial[4] -= g * m[1] * m[2];
    sum->virial[5] += e - g * m[2] * m[2];
}

static __device__ void report_sums(struct ctl *c, const struct mesh_table *t, const struct solved *mine, bool change,
                                   struct fixed_sum *energy_at_window)
{
    const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double energy = block_sum(mine->energy), virial[6];
    for (int k = 0; k < 6; k++)
        virial[k] = block_sum(mine->virial[k]);
    if (change) {
        BLOCK_LOOP(w, (uint32_t)t->nwindows)
        {
            double dl = t->window[w][LAMBDA_COULOMB] - c->lambda[LAMBDA_COULOMB];
            acc_window(&energy_at_window[w], dl * dl * energy, FIXED_TOTAL_LIMIT);
        }
        return;
    }
    if (threadIdx.x != 0)
        return;
    struct accumulate sum = {0};
    acc_energy_within(&sum, TERM_COULOMB_RECIPROCAL, energy, FIXED_TOTAL_LIMIT);
    for (int k = 0; k < 9; k++)
        acc_virial_within(&sum, k, -0.5 * virial[place[k]], FIXED_TOTAL_LIMIT);
    acc_finish(&sum, &c->sum);
}

KERNEL(mesh_solve, a)
{
    ECHO(a);
    extern __shared__ float2 shared[];
    struct ctl *c = (struct ctl *)a.ctl;
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    if (c->halt)
        return;
    struct plane_memory mem = plane_memory_of(shared, &t->axis[0], &t->axis[2]);
    uint32_t nx = (uint32_t)t->axis[0].size, ny = (uint32_t)t->axis[1].size, nz = (uint32_t)t->axis[2].size;
    uint32_t half = nz / 2 + 1, y = blockIdx.x;
    float2 *spectrum = (float2 *)a.spectrum;
    BLOCK_LOOP(i, nx * half)
    mem.plane[0][i] = spectrum[((size_t)(i / half) * ny + y) * half + i % half];
    struct lines along_x = {half, 1, half};
    float2 *s = transform_lines(mem.plane[0], mem.plane[1], along_x, &t->axis[0], mem.twiddle[0], -1);

    float box[3] = {(float)c->box[0], (float)c->box[1], (float)c->box[2]};
    float prefactor = (float)UNIT_COULOMB / (PI_F * box[0] * box[1] * box[2]) / t->axis[1].modulus[y];
    float decay = PI_F * PI_F / (t->beta * t->beta);
    bool energies = a.mode != EVALUATE_STEP;
    struct solved sum = {};
    BLOCK_LOOP(i, nx * half)
    {
        uint32_t x = i / half, z = i % half;
        float m[3] = {wave(x, nx, box[0]), wave(y, ny, box[1]), (float)z / box[2]};
        float m2 = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
        float green = m2 > 0 ? prefactor * expf(-decay * m2) / (m2 * t->axis[0].modulus[x] * t->axis[2].modulus[z]) : 0;
        float weight = z == 0 || 2 * z == nz ? 1 : 2; /* the other half of the spectrum */
        if (energies && m2 > 0)
            add_mode(&sum, s[i], green, weight, m, m2, decay);
        s[i] = convolve(s[i], green);
    }
    if (energies)
        report_sums(c, t, &sum, a.change, (struct fixed_sum *)a.energy_at_window);
    float2 *other = s == mem.plane[0] ? mem.plane[1] : mem.plane[0];
    float2 *back = transform_lines(s, other, along_x, &t->axis[0], mem.twiddle[0], 1);
    BLOCK_LOOP(i, nx * half)
    spectrum[((size_t)(i / half) * ny + y) * half + i % half] = back[i];
}

/* The other half of a row's spectrum is the conjugate of this one; two rows make one complex line. */
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
    float2 *plane = transform_lines(m.plane[0], m.plane[1], along_y, &t->axis[1], m.twiddle[0], 1);
    float2 *rows = plane == m.plane[0] ? m.plane[1] : m.plane[0];
    BLOCK_LOOP(i, pairs * nz)
    {
        uint32_t y = 2 * (i / nz), z = i % nz, k = z < half ? z : nz - z;
        float2 first = plane[y * half + k], second = y + 1 < ny ? plane[(y + 1) * half + k] : make_float2(0, 0);
        float side = z < half ? 1 : -1; /* conjugates */
        rows[i] = make_float2(first.x - side * second.y, side * first.y + second.x);
    }
    float2 *result = transform_lines(rows, plane, along_z, &t->axis[2], m.twiddle[1], 1);
    float *potential = (float *)a.potential + (size_t)blockIdx.x * ny * nz;
    BLOCK_LOOP(i, pairs * nz)
    {
        uint32_t y = 2 * (i / nz), z = i % nz;
        potential[y * nz + z] = result[i].x;
        if (y + 1 < ny)
            potential[(y + 1) * nz + z] = result[i].y;
    }
}
