/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/motion/noise.h"

#include "engine/cpu/clones.h"

CPU_CLONES void noise_fill(uint64_t seed, uint32_t replica, uint64_t step, enum stream stream, uint32_t n, double *out)
{
#pragma omp simd
    for (uint32_t k = 0; k < (n + 1) / 2; k++)
        philox_normal(philox_at(seed, replica, step, stream, k), out + 2 * k);
}
