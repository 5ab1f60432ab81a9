/* SPDX-License-Identifier: Apache-2.0
 *
 * Differences of grid positions, and which image of an atom they lead to: the one that rounding fractions of the box gives, which
 * is what a difference of whole numbers modulo 2^32 does by itself, or, where that need not be the nearest, the nearest.
 */
#ifndef SHOAL_ENGINE_CUDA_PAIR_IMAGES_CUH
#define SHOAL_ENGINE_CUDA_PAIR_IMAGES_CUH

#include "engine/cuda/grid.cuh"
#include "engine/cuda/pair32.cuh"

enum box_kind { RECTANGULAR, TRICLINIC, ANY_IMAGE }; /* ANY_IMAGE: triclinic, and as pair_table.any_image has it */

struct point {
    int32_t x, y, z;
};

/* A vector of less than a whole edge along each. */
struct long_way {
    int64_t x, y, z;
};

/* Vectors from an atom to the trio's first. */
template <box_kind BOX> struct way_in {
    using type = struct point;
};
template <> struct way_in<ANY_IMAGE> {
    using type = struct long_way;
};

/* u to the other side of zero by a whole edge, if yes. */
static __device__ __forceinline__ int64_t across(int32_t u, uint32_t yes)
{
    const int64_t edge = (int64_t)1 << 32;
    return yes ? u - (u < 0 ? -edge : edge) : u;
}

static __device__ __forceinline__ float dot32(struct vec32 a, struct vec32 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Of the eight vectors that the fractions of one (x, y, z, grid units), and their neighbours on the other side of zero, make, the shortest:
 * a bit for each fraction that goes there. Without a sum s of edges the square of r is less by 2 r s - s^2. */
static __device__ __forceinline__ uint32_t shortest_image(const struct cell32 *cell, float x, float y, float z)
{
    const float u = copysignf(GRID_EDGE, x), v = copysignf(GRID_EDGE, y), w = copysignf(GRID_EDGE, z);
    const struct vec32 none = {0, 0, 0}, a = {u * cell->x, 0, 0}, b = {v * cell->yx, v * cell->y, 0},
                       c = {w * cell->zx, w * cell->zy, w * cell->z};
    const struct vec32 r = cell32_vector<true>(cell, x, y, z, none);
    const float less[3] = {2 * dot32(r, a) - dot32(a, a), 2 * dot32(r, b) - dot32(b, b), 2 * dot32(r, c) - dot32(c, c)};
    const float ab = 2 * dot32(a, b), ac = 2 * dot32(a, c), bc = 2 * dot32(b, c);
    uint32_t best = 0;
    float most = 0;
#pragma unroll
    for (uint32_t k = 1; k < 8; k++) {
        const float sum = (k & 1 ? less[0] : 0) + (k & 2 ? less[1] : 0) + (k & 4 ? less[2] : 0),
                    both = ((k & 3) == 3 ? ab : 0) + ((k & 5) == 5 ? ac : 0) + ((k & 6) == 6 ? bc : 0);
        if (sum - both > most)
            most = sum - both, best = k;
    }
    return best;
}

static __device__ __forceinline__ struct long_way shortest_way(const struct cell32 *cell, struct point d)
{
    const uint32_t image = shortest_image(cell, (float)d.x, (float)d.y, (float)d.z);
    return {across(d.x, image & 1), across(d.y, image & 2), across(d.z, image & 4)};
}

#endif
