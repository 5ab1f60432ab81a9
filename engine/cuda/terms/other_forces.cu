/* SPDX-License-Identifier: Apache-2.0
 *
 * All that interacts but plain pairs and the mesh, a thread each: warps of bonded terms, then of pairs outside the
 * lists, then of pairs with a perturbed atom, of which a thread has more in steps. Steps have few large blocks, which
 * keep others' pairs from fewer multiprocessors than many small ones.
 */
#include "engine/cuda/terms/bonded.cuh"
#include "engine/cuda/terms/perturbed.cuh"
#include "engine/cuda/terms/unlisted.cuh"

template <bool RARE> static __device__ __forceinline__ void run(const struct args_terms &a, uint32_t mode)
{
    const uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, unlisted = a.bonded_warps,
                   perturbed = unlisted + a.unlisted_warps;
    if (!block_goes_on((const struct ctl *)a.ctl))
        return;
    if (warp < unlisted)
        bonded_warp<RARE>(a, mode, warp);
    else if (warp < perturbed)
        unlisted_warp(a, mode, warp - unlisted);
    else if (warp - perturbed < a.perturbed_warps)
        perturbed_warp<RARE>(a, mode, warp - perturbed);
}

KERNEL(terms, a, __launch_bounds__(TERMS_BLOCK))
{
    ECHO(a);
    run<false>(a, EVALUATE_STEP);
}

KERNEL(terms_rare, a, __launch_bounds__(TERMS_BLOCK))
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
