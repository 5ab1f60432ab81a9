/* SPDX-License-Identifier: Apache-2.0
 *
 * Energies and the virial of the plain pairs (plain.cu), once a warp's, a block's and the replica's trios are through.
 */
#ifndef SHOAL_ENGINE_CUDA_PAIRS_VIRIAL_CUH
#define SHOAL_ENGINE_CUDA_PAIRS_VIRIAL_CUH

#include "engine/cuda/pairs/formula32.cuh"
#include "engine/cuda/device/warp_sums.cuh"

#define VIRIAL_SHIFT 4 /* bits of a grid position that the virial leaves away */

/* Energies of a warp to the replica's, its virial to the lists' own sums. */
template <class PASS>
static __device__ void add_sums(struct accumulate *sum, struct pair_lists *lists, const PASS &pass)
{
    add_warp(&sum->energy[TERM_COULOMB], pass.coulomb);
    add_warp(&sum->energy[TERM_LJ], pass.lj);
    for (int k = 0; PASS::VIRIAL && k < 6; k++) {
        int64_t virial = warp_sum(pass.virial[k]);
        if (threadIdx.x % WARP == 0)
            acc_add(&lists->virial[k], virial);
    }
}

/* What energies lack because distances were taken with the box's edges as floats, kJ/mol: by the virial, as it is
 * little. u: -1/2 sum u f, u a difference along each edge and f the force along the axis that the edge's component is
 * of. */
static __device__ double stretched(const struct ctl *c, const double u[BOX_SIZE])
{
    const struct cell32 cell = cell32_of(c);
    const double used[BOX_SIZE] = {cell.x, cell.y, cell.z, cell.yx, cell.zx, cell.zy};
    double sum = 0;
    for (int k = 0; k < BOX_SIZE; k++)
        sum += 2 * (c->box[k] - FIXED_SCALE * used[k]) * u[k];
    return sum;
}

/* The virial's own sums, whole by now, to the replica's: Xi = -1/2 sum r f. They are u f, with u the differences of
 * grid positions and r = u_x a + u_y b + u_z c. Xi is symmetric, so the elements below the diagonal of the sum of u f
 * follow from the others. */
static __device__ void finish_virial(struct ctl *c, struct pair_lists *lists, uint32_t force_shift)
{
    const double unit = -0.5 * (double)(1 << VIRIAL_SHIFT) / FIXED_SCALE * (double)(1ull << force_shift) / FIXED_SCALE;
    const double *box = c->box;
    struct accumulate sum = {};
    double u[6], xi[9];
    for (int k = 0; k < 6; k++) {
        u[k] = unit * (double)(int64_t)__ldcg((const long long *)&lists->virial[k]);
        lists->virial[k] = 0;
    }
    xi[2] = xi[6] = box[BOX_XX] * u[2] + box[BOX_YX] * u[4] + box[BOX_ZX] * u[5];
    xi[5] = xi[7] = box[BOX_YY] * u[4] + box[BOX_ZY] * u[5];
    xi[8] = box[BOX_ZZ] * u[5];
    const double zx = xi[6] / box[BOX_ZZ], zy = xi[7] / box[BOX_ZZ];
    xi[1] = xi[3] = box[BOX_XX] * u[1] + box[BOX_YX] * u[3] + box[BOX_ZX] * zy;
    const double yx = (xi[3] - box[BOX_ZY] * zx) / box[BOX_YY];
    const double by_edge[BOX_SIZE] = {u[0], u[3], u[5], yx, zx, zy};
    xi[4] = box[BOX_YY] * u[3] + box[BOX_ZY] * zy;
    xi[0] = box[BOX_XX] * u[0] + box[BOX_YX] * yx + box[BOX_ZX] * zx;
    for (int k = 0; k < 9; k++)
        acc_virial_within(&sum, k, xi[k], FIXED_TOTAL_LIMIT);
    acc_energy_within(&sum, TERM_COULOMB, stretched(c, by_edge), FIXED_TOTAL_LIMIT);
    acc_finish(&sum, &c->sum);
}

#endif
