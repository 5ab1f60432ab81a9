/* SPDX-License-Identifier: Apache-2.0
 *
 * Differences of grid positions, and which image of an atom they lead to: the one that rounding fractions of the box
 * gives, which is what a difference of whole numbers modulo 2^32 does by itself, or, where that need not be the
 * nearest, the nearest.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_IMAGES_CUH
#define SHOAL_ENGINE_CUDA_LISTS_IMAGES_CUH

#include "engine/cuda/device/vector32.cuh"
#include "engine/cuda/lists/position.cuh"
#include "engine/cuda/lists/layout.h"

struct point {
    int32_t x, y, z;
};

/* From an atom to another: as rounded fractions have it. */
template <box_kind BOX> struct way_in {
    struct point d;

    /* nm, from an atom that is `arm` away from the other */
    __device__ __forceinline__ struct vec32 vector(const struct cell32 *cell, struct vec32 arm) const
    {
        return cell32_vector<BOX != RECTANGULAR>(cell, (float)d.x, (float)d.y, (float)d.z, arm);
    }

    __device__ __forceinline__ int32_t along(int k) const
    {
        return k == 0 ? d.x : k == 1 ? d.y : d.z;
    }
};

/* Of the eight vectors that the fractions of one, and their neighbours on the other side of zero, make, the shortest.
 */
struct shortest32 {
    struct vec32 r; /* nm */
    uint32_t image; /* a bit for each fraction that is the neighbour */
};

/* To its nearest image: less than a whole edge away along each. */
template <> struct way_in<ANY_IMAGE> {
    struct point d;
    struct shortest32 to;

    __device__ __forceinline__ struct vec32 vector(const struct cell32 *cell, struct vec32 arm) const
    {
        return {__fadd_rn(to.r.x, arm.x), __fadd_rn(to.r.y, arm.y), __fadd_rn(to.r.z, arm.z)};
    }

    __device__ __forceinline__ int64_t along(int k) const
    {
        const int64_t edge = (int64_t)1 << 32, u = k == 0 ? d.x : k == 1 ? d.y : d.z;
        return to.image >> k & 1 ? u - (u < 0 ? -edge : edge) : u;
    }
};

/* The larger of `most` and `less`, whose last three bits say of which edges it is, one each: they travel with it. */
static __device__ __forceinline__ float with_image(float most, float less, uint32_t image)
{
    return fmaxf(most, __uint_as_float((__float_as_uint(less) & ~7u) | image));
}

/* a (2 r - a): what r^2 is less by without a */
static __device__ __forceinline__ float less_without(float a, float twice_r, float sum)
{
    return __fmaf_rn(a, __fsub_rn(twice_r, a), sum);
}

/* x, y, z: grid units. Without edges a and b the square of r is less by a (2 r - a) + b (2 r - b) - 2 a b. */
static __device__ __forceinline__ struct shortest32 shortest32_of(const struct cell32 *cell, float x, float y, float z)
{
    const float u = copysignf(GRID_EDGE, x), v = copysignf(GRID_EDGE, y), w = copysignf(GRID_EDGE, z);
    const float ax = __fmul_rn(u, cell->x), bx = __fmul_rn(v, cell->yx), by = __fmul_rn(v, cell->y),
                cx = __fmul_rn(w, cell->zx), cy = __fmul_rn(w, cell->zy), cz = __fmul_rn(w, cell->z);
    struct vec32 r = cell32_vector<true>(cell, x, y, z, {0, 0, 0});
    const float rx = __fmul_rn(2, r.x), ry = __fmul_rn(2, r.y), rz = __fmul_rn(2, r.z),
                less_a = less_without(ax, rx, 0), less_b = less_without(by, ry, less_without(bx, rx, 0)),
                less_c = less_without(cz, rz, less_without(cy, ry, less_without(cx, rx, 0)));
    const float a2 = __fmul_rn(-2, ax), less_ab = __fmaf_rn(a2, bx, __fadd_rn(less_a, less_b)),
                less_ac = __fmaf_rn(a2, cx, __fadd_rn(less_a, less_c)),
                less_bc = __fmaf_rn(__fmul_rn(-2, by), cy, __fmaf_rn(__fmul_rn(-2, bx), cx, __fadd_rn(less_b, less_c))),
                less_abc = __fadd_rn(less_bc, __fmaf_rn(a2, __fadd_rn(bx, cx), less_a));
    float most = with_image(with_image(with_image(0, less_a, 1), less_b, 2), less_ab, 3);
    most = with_image(with_image(with_image(with_image(most, less_c, 4), less_ac, 5), less_bc, 6), less_abc, 7);
    const uint32_t image = __float_as_uint(most) & 7;
    if (image & 1)
        r.x = __fsub_rn(r.x, ax);
    if (image & 2)
        r.x = __fsub_rn(r.x, bx), r.y = __fsub_rn(r.y, by);
    if (image & 4)
        r.x = __fsub_rn(r.x, cx), r.y = __fsub_rn(r.y, cy), r.z = __fsub_rn(r.z, cz);
    return {r, image};
}

/* The same in double precision, of the vector d, nm, with fractions f. */
static __device__ inline void shortest_of(const double box[BOX_SIZE], const double f[3], double d[3])
{
    const double from[3] = {d[0], d[1], d[2]};
    double best = vec_dot(d, d);
#pragma unroll 1
    for (uint32_t k = 1; k < 8; k++) {
        double v[3];
        for (int b = 0; b < 3; b++)
            v[b] = k >> b & 1 ? copysign(1.0, f[b]) : 0;
        box_apply(box, v, v);
        vec_sub(from, v, v);
        if (vec_dot(v, v) < best) {
            best = vec_dot(v, v);
            d[0] = v[0], d[1] = v[1], d[2] = v[2];
        }
    }
}

#endif
