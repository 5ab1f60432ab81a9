/* SPDX-License-Identifier: Apache-2.0
 *
 * All that interacts but plain pairs and the mesh, a thread each: warps of bonded terms, then of pairs outside the
 * lists, then of pairs with a perturbed atom, of which a thread has more in steps. Steps have few large blocks, which
 * keep others' pairs from fewer multiprocessors than many small ones.
 */
#include "engine/cuda/terms/bonded.cuh"
#include "engine/cuda/terms/perturbed.cuh"
#include "engine/cuda/terms/unlisted.cuh"
#include "engine/kernels/uniform.h"

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

/* Its forces, and at a change of lambda also what depends on no distance. */
template <bool RARE> static __device__ __forceinline__ void run_switch(const struct args_terms &a)
{
    const struct ctl *c = (const struct ctl *)a.ctl;
    const struct pair_table *t = (const struct pair_table *)a.table;
    run<RARE>(a, EVALUATE_SWITCH);
    if (blockIdx.x || threadIdx.x || c->halt)
        return;
    const struct foreign_rows rows = foreign_rows_of(EVALUATE_SWITCH, c, NULL, 0);
    for (uint32_t w = 0; w < rows.n; w++)
        uniform_at_window(t->uniform, c, rows.lambda[w], &((struct fixed_sum *)a.energy_at_window)[w]);
}

KERNEL(terms_switch, a, __launch_bounds__(TERMS_BLOCK))
{
    ECHO(a);
    run_switch<false>(a);
}

KERNEL(terms_rare_switch, a, __launch_bounds__(TERMS_BLOCK))
{
    ECHO(a);
    run_switch<true>(a);
}

/* The mode of kernels that have energies, of which their compiler knows no other. */
static __device__ __forceinline__ uint32_t with_energies(uint32_t mode)
{
    return mode == EVALUATE_SAMPLE || mode == EVALUATE_POTENTIAL ? mode : EVALUATE_ENERGY;
}

KERNEL(terms_energy, a, __launch_bounds__(CUDA_BLOCK, 4))
{
    ECHO(a);
    run<false>(a, with_energies(a.mode));
}

KERNEL(terms_rare_energy, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    run<true>(a, with_energies(a.mode));
}
