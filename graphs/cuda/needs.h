/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a GPU, and the driver it is used by, can run what this program was built with: said before anything is tried,
 * as CUDA's own errors name neither what there is nor what is needed. Pure functions, but for the one that counts.
 */
#ifndef SHOAL_GRAPHS_CUDA_NEEDS_H
#define SHOAL_GRAPHS_CUDA_NEEDS_H

#include <stdint.h>

#include "engine/base/err.h"

/* Where NVIDIA's driver lists its GPUs, a folder each; there without its library, and without CUDA. */
#define GPU_LIST "/proc/driver/nvidia/gpus"

enum {
    GPU_MAJOR_LEAST = 8, /* compute capability; graphs/cuda/archs.sh has it too */
    GPU_CUDA_LEAST = 13  /* of nvcc; graphs/cuda/meson.build has it too */
};

/* Versions as CUDA has them, 13020 for 13.2; driver: the newest CUDA that it has, 0: there is none. A runtime works
 * with any driver of its major version or a later one. ERR_DEVICE. */
int gpu_needs_driver(int driver, int runtime, struct err *e);
/* archs: "sm_80 sm_90", what kernels were compiled for: those for an architecture run on its later minor versions too.
 * ERR_DEVICE. */
int gpu_needs_kernels(const char *archs, int major, int minor, struct err *e);
/* How many GPUs such a list has; none where there is no driver. */
uint32_t gpu_needs_listed(const char *list);
/* ERR_DEVICE where so many GPUs are listed: the driver's library is missing; it finds none of them; this program has no
 * CUDA. */
int gpu_needs_library(uint32_t listed, struct err *e);
int gpu_needs_access(uint32_t listed, struct err *e);
int gpu_needs_cuda(uint32_t listed, struct err *e);

#endif
