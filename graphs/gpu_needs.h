/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a GPU, and the driver it is used by, can run what this program was built with: said before anything is tried, as CUDA's
 * own errors name neither what there is nor what is needed. Pure functions.
 */
#ifndef SHOAL_GRAPHS_GPU_NEEDS_H
#define SHOAL_GRAPHS_GPU_NEEDS_H

#include "engine/base/err.h"

enum { GPU_MAJOR_LEAST = 8 }; /* compute capability; graphs/gpu_archs.sh has it too */

/* Versions as CUDA has them, 13020 for 13.2; driver: the newest CUDA that it has, 0: there is none. A runtime works with any driver
 * of its major version or a later one. ERR_DEVICE. */
int gpu_needs_driver(int driver, int runtime, struct err *e);
/* archs: "sm_80 sm_90", what kernels were compiled for: those for an architecture run on its later minor versions too. ERR_DEVICE. */
int gpu_needs_kernels(const char *archs, int major, int minor, struct err *e);

#endif
