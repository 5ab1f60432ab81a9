/* SPDX-License-Identifier: Apache-2.0
 *
 * Between atoms and a mesh in global memory, see engine/cuda/mesh.h.
 */
#include "engine/cuda/mesh_atoms.cuh"

KERNEL(mesh_clear, a)
{
    ECHO(a);
    if (((const struct ctl *)a.ctl)->halt)
        return;
    GRID_LOOP(i, a.count)
    ((int32_t *)a.charges)[i] = 0;
}

static __device__ inline struct mesh_shape dense(const struct mesh_table *t)
{
    uint32_t nz = (uint32_t)t->axis[2].size;
    return mesh_shape_of(t, (uint32_t)t->axis[1].size * nz, nz);
}

template <int order> static __device__ void spread(const struct args_mesh_spread &a)
{
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, atom = thread / MESH_LANES;
    if (atom >= (uint32_t)t->natoms)
        return;
    struct mesh_atom at = mesh_atom_at(t, a.grid, atom);
    double lambda = ((const struct ctl *)a.ctl)->lambda[LAMBDA_COULOMB];
    float q = a.change ? at.charge.y : (float)charge_now(lambda, at.charge);
    if (q != 0)
        spread_atom<order, false>(dense(t), (int32_t *)a.charges, at.grid, q, thread % MESH_LANES);
}

KERNEL(mesh_spread, a)
{
    ECHO(a);
    if (((const struct ctl *)a.ctl)->halt)
        return;
    int order = ((const struct mesh_table *)a.table)->order;
    if (order == 4)
        spread<4>(a);
    else if (order == 5)
        spread<5>(a);
    else
        spread<6>(a);
}

template <int order> static __device__ void gather(const struct args_mesh_gather &a)
{
    const struct mesh_table *t = (const struct mesh_table *)a.table;
    uint32_t place = (blockIdx.x * blockDim.x + threadIdx.x) / MESH_LANES;
    uint32_t atom = min(place, (uint32_t)t->natoms - 1);
    struct mesh_shape m = dense(t);
    gather_atom<order, false>(t, m, (const float *)a.potential, mesh_atom_at(t, a.grid, atom), atom, place == atom,
                              mesh_sums_of((struct ctl *)a.ctl, t, m, a.f, a.energy_at_window, a.mode));
}

KERNEL(mesh_gather, a)
{
    ECHO(a);
    if (((const struct ctl *)a.ctl)->halt)
        return;
    int order = ((const struct mesh_table *)a.table)->order;
    if (order == 4)
        gather<4>(a);
    else if (order == 5)
        gather<5>(a);
    else
        gather<6>(a);
}
