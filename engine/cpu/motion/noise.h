/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOAL_ENGINE_CPU_MOTION_NOISE_H
#define SHOAL_ENGINE_CPU_MOTION_NOISE_H

#include "engine/math/philox.h"

/* out[0 .. n): standard normal deviates; block k gives out[2k] and out[2k + 1]. out has room for n + 1. */
void noise_fill(uint64_t seed, uint32_t replica, uint64_t step, enum stream stream, uint32_t n, double *out);

#endif
