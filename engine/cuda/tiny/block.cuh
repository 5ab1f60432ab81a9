/* SPDX-License-Identifier: Apache-2.0
 *
 * A tiny system's replica in the shared memory of its block, see engine/cuda/tiny/tiny.h.
 */
#ifndef SHOAL_ENGINE_CUDA_TINY_BLOCK_CUH
#define SHOAL_ENGINE_CUDA_TINY_BLOCK_CUH

#include "engine/cuda/motion/star32.cuh"
#include "engine/cuda/motion/water32.cuh"
#include "engine/cuda/terms/perturbed.cuh"
#include "engine/cuda/lists/position.cuh"
#include "engine/cuda/tiny/tiny.h"

enum : uint32_t { NO_SLOT = UINT32_MAX, SLOT_ATOMS = 8 };

static_assert(sizeof(struct held_star32) == TINY_HELD_BYTES, "as the host counts on");

typedef double tiny_vector[3];
typedef float tiny_vector32[3];

/* What the threads of a block know of their replica, in shared memory itself: pointers in registers would be pushed in
 * and out of them all the time. */
struct tiny_here {
    const struct tiny_table *t;
    const struct bonded_table *bonded;
    const struct motion_table *motion_table;
    struct tiny_places at;
    uint32_t natoms, ncolumns, stride, quads, groups; /* as in the table; no columns while no atom has a charge */
    uint32_t taken;                                   /* chunks of this step */
    bool charged;                                     /* some atom is, now */
    bool has_rule;                                    /* the integrator has one */
    struct motion_rule its_rule;
    struct motion_rule32 rule32;
    float farthest; /* nm: no atom goes half an edge in one step */
    double timestep;
    double inverse[BOX_SIZE]; /* of the box, 1/nm */
    struct grid_units units;
    struct perturbed_now now;

    template <class T> __device__ __forceinline__ T *in(uint32_t place) const
    {
        extern __shared__ __align__(16) float2 shared[];
        return (T *)((char *)shared + place);
    }
#define AT(type, name)                                                                                                 \
    __device__ __forceinline__ type *name() const                                                                      \
    {                                                                                                                  \
        return in<type>(at.name);                                                                                      \
    }
    AT(tiny_vector, x)
    AT(tiny_vector, v)
    AT(tiny_vector, x_old)
    AT(tiny_vector, v_old)
    AT(tiny_vector32, noise)
    AT(uint4, grid)
    AT(float, charge)            /* charges that the mesh uses */
    AT(float, inverse_mass)      /* of atoms, 1/u */
    AT(struct held_star32, held) /* of each body, a water too */
    AT(uint32_t,
       slot) /* of an atom: SLOT_ATOMS times its body, plus its place there; NO_SLOT: its body is moved in memory */
    AT(struct tiny_chunk, chunk)
    AT(struct tiny_column, column)
    AT(float4, green)
    AT(float4, value)
#undef AT
    __device__ __forceinline__ struct ctl *c() const
    {
        return in<struct ctl>(at.ctl);
    }
    __device__ __forceinline__ int64_t (*f() const)[3]
    {
        return (int64_t(*)[3])in<int64_t>(at.f);
    }
    __device__ __forceinline__ float *wave(uint32_t axis) const
    {
        return in<float>(at.wave[axis]);
    }
    __device__ __forceinline__ float *slope(uint32_t axis) const
    {
        return in<float>(at.slope[axis]);
    }
    __device__ __forceinline__ float2 *turn(uint32_t axis) const
    {
        return in<float2>(at.turn[axis]);
    }
    __device__ __forceinline__ struct motion motion() const
    {
        return {c(), motion_table, masses_of(motion_table, c()), x(), v(), x_old(), f(), timestep};
    }
    __device__ __forceinline__ const struct motion_rule *rule() const
    {
        return has_rule ? &its_rule : NULL;
    }
};

static __device__ __forceinline__ struct tiny_here &here()
{
    __shared__ struct tiny_here here;
    return here;
}

/* Of the block. */
static __device__ __forceinline__ uint32_t tiny_warps()
{
    return blockDim.x / WARP;
}

/* By one thread. */
static __device__ inline void tiny_begin(const struct tiny_row &a)
{
    struct tiny_here &h = here();
    const struct tiny_table *t = (const struct tiny_table *)a.table;
    h.t = t;
    h.bonded = (const struct bonded_table *)a.bonded;
    h.motion_table = (const struct motion_table *)a.motion;
    h.at = t->places;
    h.natoms = t->natoms, h.ncolumns = t->ncolumns, h.stride = t->stride, h.quads = t->quads, h.groups = t->groups;
    h.has_rule = motion_has_rule(a.integrator);
    h.its_rule = motion_rule_of(a.timestep, a.friction, a.kt);
    h.rule32 = motion_rule32_of(h.has_rule ? &h.its_rule : NULL, a.timestep,
                                motion_kick_due(h.has_rule, ((const struct ctl *)a.ctl)->pending));
    h.farthest = (float)(0.5 * box_least_edge(((const struct ctl *)a.ctl)->box));
    h.timestep = a.timestep;
    box_invert(((const struct ctl *)a.ctl)->box, h.inverse);
    h.units = grid_units_of(((const struct ctl *)a.ctl)->box);
    h.now = perturbed_now_of((const struct ctl *)a.ctl);
}

#endif
