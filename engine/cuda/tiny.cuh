/* SPDX-License-Identifier: Apache-2.0
 *
 * A tiny system's replica in the shared memory of its block, see engine/cuda/tiny.h.
 */
#ifndef SHOAL_ENGINE_CUDA_TINY_CUH
#define SHOAL_ENGINE_CUDA_TINY_CUH

#include "engine/cuda/bodies.cuh"
#include "engine/cuda/grid.cuh"
#include "engine/cuda/tiny.h"

enum : uint32_t { NO_STAR = UINT32_MAX, NO_SLOT = UINT32_MAX, SLOT_ATOMS = 8 };

static_assert(sizeof(struct held) == TINY_HELD_BYTES && sizeof(struct star) == TINY_STAR_BYTES,
              "as the host counts on");

struct tiny_here {
    const struct tiny_table *t;
    uint32_t natoms, ncolumns, stride, quads, groups; /* as in the table */
    struct ctl *c;
    double (*x)[3], (*v)[3], (*x_old)[3], (*v_old)[3], (*noise)[3];
    int64_t (*f)[3];
    uint4 *grid;
    float *charge; /* at the replica's lambda, e */
    double *kick;  /* of an atom: velocity for a unit of force */
    struct held *held;
    struct star *star; /* of a body that is one; else its arms are NO_STAR */
    uint32_t *
        slot; /* of an atom: SLOT_ATOMS times its body, plus its place there; NO_SLOT where a body is moved in memory */
    struct tiny_chunk *chunk;
    float *wave[3], *slope[3];
    float2 *turn[3];
    struct tiny_column *column;
    float4 *green, *value;
    double *inverse; /* of the box, [BOX_SIZE], 1/nm */
};

/* For the whole block; `inverse` is there after its next barrier. */
static __device__ inline struct tiny_here tiny_here_of(const struct tiny_table *t, void *shared, const double *box)
{
    __shared__ double inverse[BOX_SIZE];
    const struct tiny_places &p = t->places;
    char *base = (char *)shared;
    struct tiny_here h;
    h.t = t;
    h.natoms = t->natoms, h.ncolumns = t->ncolumns, h.stride = t->stride, h.quads = t->quads, h.groups = t->groups;
    h.c = (struct ctl *)(base + p.ctl);
    h.x = (double(*)[3])(base + p.x);
    h.v = (double(*)[3])(base + p.v);
    h.x_old = (double(*)[3])(base + p.x_old);
    h.v_old = (double(*)[3])(base + p.v_old);
    h.noise = (double(*)[3])(base + p.noise);
    h.f = (int64_t(*)[3])(base + p.f);
    h.grid = (uint4 *)(base + p.grid);
    h.charge = (float *)(base + p.charge);
    h.kick = (double *)(base + p.kick);
    h.held = (struct held *)(base + p.held);
    h.star = (struct star *)(base + p.star);
    h.slot = (uint32_t *)(base + p.slot);
    h.chunk = (struct tiny_chunk *)(base + p.chunk);
    for (int d = 0; d < 3; d++) {
        h.wave[d] = (float *)(base + p.wave[d]);
        h.slope[d] = (float *)(base + p.slope[d]);
        h.turn[d] = (float2 *)(base + p.turn[d]);
    }
    h.column = (struct tiny_column *)(base + p.column);
    h.green = (float4 *)(base + p.green);
    h.value = (float4 *)(base + p.value);
    h.inverse = inverse;
    if (threadIdx.x == 0)
        box_invert(box, inverse);
    return h;
}

/* v[axis] of an array that stays in registers */
template <class T> static __device__ inline T of_axis(const T *v, uint32_t axis)
{
    return axis == 0 ? v[0] : axis == 1 ? v[1] : v[2];
}

#endif
