/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bin of an rdf a pair is in.
 */
#ifndef SHOAL_ENGINE_KERNELS_RDF_H
#define SHOAL_ENGINE_KERNELS_RDF_H

#include "engine/math/box.h"

/* The nearest whole number, of what is below 2^51. */
MATH_FN double rdf_nearest(double v)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    return (v + magic) - magic;
}

/* Of a difference of positions, nm; per_edge: 1 / the box's diagonal. Images as box_nearest takes them: the shortest of
 * those that are nearer than half the box is wide. Nothing is fused, so that all devices count the same. */
MATH_FN int32_t rdf_bin(double x, double y, double z, const double box[BOX_SIZE], const double per_edge[3],
                        double width)
{
    const double along_z = rdf_nearest(z * per_edge[2]);
    x -= along_z * box[BOX_ZX];
    y -= along_z * box[BOX_ZY];
    z -= along_z * box[BOX_ZZ];
    const double along_y = rdf_nearest(y * per_edge[1]);
    x -= along_y * box[BOX_YX];
    y -= along_y * box[BOX_YY];
    x -= rdf_nearest(x * per_edge[0]) * box[BOX_XX];
    return (int32_t)(sqrt(x * x + y * y + z * z) / width);
}

#endif
