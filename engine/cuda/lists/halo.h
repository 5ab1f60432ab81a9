/* SPDX-License-Identifier: Apache-2.0
 *
 * The halo of a region: what is above its upper faces, in reach of what is not.
 */
#ifndef SHOAL_ENGINE_CUDA_LISTS_HALO_H
#define SHOAL_ENGINE_CUDA_LISTS_HALO_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/math/box.h"

/* A region's edges, nm, as those of the box are, and their squared lengths. */
struct halo_edges {
    float along[3][3];
    float square[3];
};

MATH_FN struct halo_edges halo_edges_of(const double box[BOX_SIZE])
{
    struct halo_edges e = {{{(float)box[BOX_XX], 0, 0},
                            {(float)box[BOX_YX], (float)box[BOX_YY], 0},
                            {(float)box[BOX_ZX], (float)box[BOX_ZY], (float)box[BOX_ZZ]}},
                           {0, 0, 0}};
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 3; k++)
            e.square[d] += e.along[d][k] * e.along[d][k];
    return e;
}

MATH_FN float halo_product(const float a[3], const float b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Of the shortest x with n x = a for some faces, a bit each (below): its square; 0 where it is no sum of their normals
 * without negative factors. */
MATH_FN float halo_of_faces(const struct halo_edges *e, const float above[3], uint32_t faces)
{
    float x[3] = {0, 0, 0};
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t k = 0; k < 3; k++)
            x[k] += faces >> d & 1 ? above[d] * e->along[d][k] : 0;
    for (uint32_t d = 0; d < 3; d++) {
        const float along = faces >> d & 1 ? 0 : halo_product(x, e->along[d]) / e->square[d];
        for (uint32_t k = 0; k < 3; k++)
            x[k] -= along * e->along[d][k];
    }
    bool sum = true;
    for (uint32_t d = 0; d < 3; d++)
        sum = sum && (!(faces >> d & 1) || (above[d] > 0 && halo_product(x, e->along[d]) >= 0));
    return sum ? halo_product(x, x) : 0;
}

/* The square of how far a point is at least from all that are below each face it is above, nm^2; of one face: 0, as
 * that is known. above: how far it is above each upper face, along the edge that is not in it, in edges of the box; 0
 * where it is not.
 *
 * From a point below these faces to this one, x has n x >= a for each of them, with the face's normal n and a the
 * distance from it. No such x is shorter than the shortest with n x = a for some of the faces, if that is a sum of
 * their normals without negative factors (the dual of a quadratic program). For the faces of two edges it is
 * perpendicular to the third, and the factor of a normal has the sign of the product of x and the face's edge. */
MATH_FN float halo_square(const struct halo_edges *e, const float above[3])
{
    const float two = fmaxf(fmaxf(halo_of_faces(e, above, 3), halo_of_faces(e, above, 5)), halo_of_faces(e, above, 6));
    return fmaxf(two, halo_of_faces(e, above, 7));
}

#endif
