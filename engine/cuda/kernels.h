/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the CUDA program: numbers, argument structs and emit functions, from engine/cuda/kernels.def.
 */
#ifndef SHOAL_ENGINE_CUDA_KERNELS_H
#define SHOAL_ENGINE_CUDA_KERNELS_H

#define KERNELS_DEF "engine/cuda/kernels.def"
#include "graphs/kernels.h"

extern const struct kernel_table cuda_kernels;

/* Threads of the kernels that are launched as one block, and of those that are not. */
enum { CUDA_ONE_BLOCK = 1024, CUDA_BLOCK = 128 };

/* What the last block of a step needs of the others, in a replica's working memory. */
struct motion_tail {
    int64_t momentum[3]; /* of all atoms, u nm/ps in fixed point; only in steps that take it off */
    uint32_t arrived;    /* blocks that are through */
    uint32_t pad_;
};

#endif
