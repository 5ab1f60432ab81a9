/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors and boxes in single precision, spelled out operation by operation, so that the same pair gives the same bits
 * in every kernel that meets it.
 */
#ifndef SHOAL_ENGINE_CUDA_DEVICE_VECTOR32_CUH
#define SHOAL_ENGINE_CUDA_DEVICE_VECTOR32_CUH

#include "engine/cuda/device/device.cuh"

#define PAIR_FN static __device__ __forceinline__

/* Box: nm per grid position; rounded to float, so distances are off by up to 6e-8 of themselves, all alike. */
struct cell32 {
    float x, y, z, yx, zx, zy; /* the last three are zero but for triclinic boxes */
};

struct vec32 {
    float x, y, z;
};

PAIR_FN struct cell32 cell32_of(const struct ctl *c)
{
    const double unit = 1.0 / 4294967296.0;
    struct cell32 cell = {(float)(c->box[BOX_XX] * unit), (float)(c->box[BOX_YY] * unit),
                          (float)(c->box[BOX_ZZ] * unit), (float)(c->box[BOX_YX] * unit),
                          (float)(c->box[BOX_ZX] * unit), (float)(c->box[BOX_ZY] * unit)};
    return cell;
}

/* `from` plus the vector, nm, of a difference of two grid positions (to the nearest image). */
template <bool TRICLINIC>
PAIR_FN struct vec32 cell32_vector(const struct cell32 *cell, float x, float y, float z, struct vec32 from)
{
    if (TRICLINIC) {
        from.x = __fmaf_rn(z, cell->zx, __fmaf_rn(y, cell->yx, from.x));
        from.y = __fmaf_rn(z, cell->zy, from.y);
    }
    struct vec32 v = {__fmaf_rn(x, cell->x, from.x), __fmaf_rn(y, cell->y, from.y), __fmaf_rn(z, cell->z, from.z)};
    return v;
}

PAIR_FN float square32(struct vec32 d)
{
    return __fmaf_rn(d.x, d.x, __fmaf_rn(d.y, d.y, __fmul_rn(d.z, d.z)));
}

#endif
