/* SPDX-License-Identifier: Apache-2.0
 *
 * Grid positions: fractions of the box in units of 2^-32.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_POSITION_CUH
#define SHOAL_ENGINE_CUDA_LISTS_POSITION_CUH

#include "engine/cuda/device/device.cuh"

#define GRID_EDGE 4294967296.0f

/* What lies outside of the box comes in. */
static __device__ __forceinline__ uint32_t grid_of(double fraction)
{
    return (uint32_t)(uint64_t)__double2ll_rn(fraction * (double)GRID_EDGE);
}

/* inverse: of the box */
static __device__ inline void grid_position(const double *x, const double inverse[BOX_SIZE], uint32_t g[3])
{
    double fraction[3];
    box_apply(inverse, x, fraction);
    for (int d = 0; d < 3; d++)
        g[d] = grid_of(fraction[d]);
}

/* One of the three. */
static __device__ __forceinline__ uint32_t grid_along(const double *x, const double inverse[BOX_SIZE], uint32_t d)
{
    double fraction[3];
    box_apply(inverse, x, fraction);
    return grid_of(d == 0 ? fraction[0] : d == 1 ? fraction[1] : fraction[2]);
}

#endif
