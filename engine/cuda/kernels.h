/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the CUDA program: numbers, argument structs and emit functions, from engine/cuda/kernels.def.
 */
#ifndef SHOAL_ENGINE_CUDA_KERNELS_H
#define SHOAL_ENGINE_CUDA_KERNELS_H

#include "engine/math/potentials/lj.h" /* LJ_RULE_OF_FORCES */

/* Terms of the Ewald polynomials in float: as few as most models need, more, all; and those that have a remainder. */
enum { EWALD32_TERMS_USUAL = 13, EWALD32_TERMS_LONG = 15, EWALD32_TERMS = 19, EWALD32_TERMS_REST = 4 };

#define KERNELS_DEF "engine/cuda/kernels.def"
#include "graphs/kernels.h"

extern const struct kernel_table cuda_kernels;

/* Threads of the kernels that are launched as one block, and of those that are not. */
enum { CUDA_ONE_BLOCK = 1024, CUDA_BLOCK = 128 };

/* Blocks, each of which does `size` of them. */
static inline uint32_t blocks_of(uint64_t items, uint32_t size)
{
    return (uint32_t)((items + size - 1) / size);
}

/* Bytes of static shared memory that kernels may have where a launch gives them all that a block can have beside it. */
enum { CUDA_STATIC_SHARED = 1024 };

/* Threads of the block that exchanges waters: a warp for each move that is looked at at a time. */
enum { WATERS_BLOCK = 512 };

/* Bodies that a block of CUDA_BLOCK threads moves in a timestep (motion/timestep.cu), none of them a water; and waters
 * at most. */
enum { STEP_BODIES = 64, STEP_WATERS = 128 };

/* Threads of a block of all that interacts but plain pairs and the mesh, in a timestep. */
enum { TERMS_BLOCK = 512 };

/* How the last block of a step knows that it is, in a replica's working memory; behind it MOTION_SUMS doubles for each
 * block of CUDA_BLOCK bodies, sums of a sample. */
struct motion_tail {
    uint32_t arrived; /* blocks that are through */
    uint32_t pad_;
};
enum { MOTION_SUMS = 11 };

#endif
