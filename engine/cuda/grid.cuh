/* SPDX-License-Identifier: Apache-2.0
 *
 * Grid positions: fractions of the box in units of 2^-32.
 */
#ifndef SHOAL_ENGINE_CUDA_GRID_CUH
#define SHOAL_ENGINE_CUDA_GRID_CUH

#include "engine/cuda/device.cuh"

#define GRID_EDGE 4294967296.0f

/* What lies outside of the box comes in. inverse: of the box */
static __device__ inline void grid_position(const double *x, const double inverse[BOX_SIZE], uint32_t g[3])
{
    double fraction[3];
    box_apply(inverse, x, fraction);
    for (int d = 0; d < 3; d++)
        g[d] = (uint32_t)(uint64_t)__double2ll_rn(fraction[d] * (double)GRID_EDGE);
}

#endif
