/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cpu/motion/noise.h"

#include "engine/cpu/clones.h"

CPU_CLONES void noise_fill(uint64_t seed, uint32_t replica, uint64_t step, enum stream stream, uint32_t natoms,
                           double (*out)[3])
{
#pragma omp simd
    for (uint32_t atom = 0; atom < natoms; atom++)
        philox_noise(seed, replica, step, stream, atom, out[atom]);
}
