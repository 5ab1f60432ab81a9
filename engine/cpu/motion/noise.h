/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_ENGINE_CPU_MOTION_NOISE_H
#define SHOAL_ENGINE_CPU_MOTION_NOISE_H

#include "engine/math/philox.h"

/* out [natoms][3]: standard normal deviates (philox_noise). */
void noise_fill(uint64_t seed, uint32_t replica, uint64_t step, enum stream stream, uint32_t natoms, double (*out)[3]);

#endif
