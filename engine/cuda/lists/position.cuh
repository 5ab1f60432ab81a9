/* SPDX-License-Identifier: Apache-2.0
 *
 * Grid positions: fractions of the box in units of 2^-32.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_POSITION_CUH
#define SHOAL_ENGINE_CUDA_LISTS_POSITION_CUH

#include "engine/cuda/device/device.cuh"
#include "engine/math/roots.h"

#define GRID_EDGE 4294967296.0f

/* What lies outside of the box comes in. */
static __device__ __forceinline__ uint32_t grid_of(double fraction)
{
    return (uint32_t)(uint64_t)__double2ll_rn(fraction * (double)GRID_EDGE);
}

/* Positions are nearer to the origin than this, nm: fractions of all boxes are below 2^19, and timesteps of waters have
 * enough bits for them. */
#define POSITION_MOST 131072.0

/* What takes positions to the grid. In double precision, in as few operations as can be: consumer cards have little of
 * it. */
struct grid_units {
    double per_nm[BOX_SIZE]; /* the inverse box in units of the grid */
    bool triclinic;
};

static __device__ inline struct grid_units grid_units_of(const double box[BOX_SIZE])
{
    struct grid_units u;
    const double ix = root_reciprocal(box[BOX_XX]), iy = root_reciprocal(box[BOX_YY]),
                 iz = root_reciprocal(box[BOX_ZZ]);
    u.triclinic = box_triclinic(box);
    u.per_nm[BOX_XX] = ix * (double)GRID_EDGE;
    u.per_nm[BOX_YY] = iy * (double)GRID_EDGE;
    u.per_nm[BOX_ZZ] = iz * (double)GRID_EDGE;
    if (!u.triclinic)
        return u;
    double inverse[BOX_SIZE];
    box_invert(box, inverse);
    for (int k = 0; k < BOX_SIZE; k++)
        u.per_nm[k] = inverse[k] * (double)GRID_EDGE;
    return u;
}

/* The nearest whole number's last bits, of one below 2^51. */
static __device__ __forceinline__ uint32_t grid_bits(double sum)
{
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (uint32_t)bits;
}

#define GRID_MAGIC 6755399441055744.0 /* 1.5 * 2^52: the last bit of a double is 1 */

/* One of the three. What lies outside of the box comes in. */
static __device__ __forceinline__ uint32_t grid_along(const double *x, const struct grid_units *u, uint32_t d)
{
    const double *s = u->per_nm;
    const double own = d == 0 ? s[BOX_XX] : d == 1 ? s[BOX_YY] : s[BOX_ZZ];
    if (!u->triclinic)
        return grid_bits(fma(x[d], own, GRID_MAGIC));
    const double above = d == 0 ? fma(x[1], s[BOX_YX], x[2] * s[BOX_ZX]) : d == 1 ? x[2] * s[BOX_ZY] : 0;
    return grid_bits(fma(x[d], own, above) + GRID_MAGIC);
}

static __device__ __forceinline__ void grid_position(const double *x, const struct grid_units *u, uint32_t g[3])
{
    for (uint32_t d = 0; d < 3; d++)
        g[d] = grid_along(x, u, d);
}

#endif
