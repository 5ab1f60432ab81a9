/* SPDX-License-Identifier: Apache-2.0
 *
 * All that interacts but plain pairs and the mesh, a thread each: blocks of bonded terms, then of pairs outside the
 * lists, then of pairs with a perturbed atom, of which a thread has more in steps.
 */
#include "engine/cuda/terms/bonded.cuh"
#include "engine/cuda/terms/perturbed.cuh"
#include "engine/cuda/terms/unlisted.cuh"

template <bool RARE> static __device__ __forceinline__ void run(const struct args_terms &a, uint32_t mode)
{
    const uint32_t block = blockIdx.x;
    if (!block_goes_on((const struct ctl *)a.ctl))
        return;
    if (block < a.bonded_blocks)
        bonded_block<RARE>(a, mode, block);
    else if (block < a.bonded_blocks + a.unlisted_blocks)
        unlisted_block(a, mode, block - a.bonded_blocks);
    else
        perturbed_block<RARE>(a, mode, block - a.bonded_blocks - a.unlisted_blocks,
                              gridDim.x - a.bonded_blocks - a.unlisted_blocks);
}

KERNEL(terms, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    run<false>(a, EVALUATE_STEP);
}

KERNEL(terms_rare, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    run<true>(a, EVALUATE_STEP);
}

KERNEL(terms_energy, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    run<false>(a, a.mode);
}

KERNEL(terms_rare_energy, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    run<true>(a, a.mode);
}
