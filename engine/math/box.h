/* SPDX-License-Identifier: Apache-2.0
 *
 * A periodic box: edge vectors a = (xx, 0, 0), b = (yx, yy, 0), c = (zx, zy, zz) in nm, as double[BOX_SIZE] in the
 * order of terms.h. A rectangular one has zeros behind its three edges. Fractions f of the edges give the point f_x a +
 * f_y b + f_z c.
 */
#ifndef SHOAL_ENGINE_MATH_BOX_H
#define SHOAL_ENGINE_MATH_BOX_H

#include <string.h>

#include "engine/math/terms.h"
#include "engine/math/vec.h"

struct box_vector {
    double d[3]; /* nm */
};

/* What a box must not come down to, nm. */
struct box_limits {
    double edge;  /* twice what cut-offs stay below (box_cutoff_limit) */
    double width; /* between opposite faces */
};

MATH_FN int box_triclinic(const double box[BOX_SIZE])
{
    return box[BOX_YX] != 0 || box[BOX_ZX] != 0 || box[BOX_ZY] != 0;
}

MATH_FN double box_volume(const double box[BOX_SIZE])
{
    return box[BOX_XX] * box[BOX_YY] * box[BOX_ZZ];
}

/* The point at fractions f; with an inverse box, the fractions of a point. out may be f. */
MATH_FN void box_apply(const double box[BOX_SIZE], const double f[3], double out[3])
{
    out[0] = MATH_FMA(f[0], box[BOX_XX], MATH_FMA(f[1], box[BOX_YX], f[2] * box[BOX_ZX]));
    out[1] = MATH_FMA(f[1], box[BOX_YY], f[2] * box[BOX_ZY]);
    out[2] = f[2] * box[BOX_ZZ];
}

/* The inverse triangle, 1/nm. */
MATH_FN void box_invert(const double box[BOX_SIZE], double inverse[BOX_SIZE])
{
    double ix = 1 / box[BOX_XX], iy = 1 / box[BOX_YY], iz = 1 / box[BOX_ZZ];
    inverse[BOX_XX] = ix;
    inverse[BOX_YY] = iy;
    inverse[BOX_ZZ] = iz;
    inverse[BOX_YX] = -box[BOX_YX] * ix * iy;
    inverse[BOX_ZX] = (box[BOX_YX] * box[BOX_ZY] * iy - box[BOX_ZX]) * ix * iz;
    inverse[BOX_ZY] = -box[BOX_ZY] * iy * iz;
}

/* The gradient of a function of the fractions whose derivatives are g; of whole numbers g, the wave vector. */
MATH_FN void box_gradient(const double inverse[BOX_SIZE], const double g[3], double out[3])
{
    double x = g[0], y = g[1], z = g[2];
    out[0] = x * inverse[BOX_XX];
    out[1] = MATH_FMA(x, inverse[BOX_YX], y * inverse[BOX_YY]);
    out[2] = MATH_FMA(x, inverse[BOX_ZX], MATH_FMA(y, inverse[BOX_ZY], z * inverse[BOX_ZZ]));
}

/* The lengths of the three edges, nm. */
MATH_FN void box_edges(const double box[BOX_SIZE], double out[3])
{
    out[0] = box[BOX_XX];
    out[1] = sqrt(box[BOX_YX] * box[BOX_YX] + box[BOX_YY] * box[BOX_YY]);
    out[2] = sqrt(box[BOX_ZX] * box[BOX_ZX] + box[BOX_ZY] * box[BOX_ZY] + box[BOX_ZZ] * box[BOX_ZZ]);
}

/* The distances between opposite faces, nm, one for each fraction. */
MATH_FN void box_widths(const double box[BOX_SIZE], double out[3])
{
    double inverse[BOX_SIZE];
    box_invert(box, inverse);
    double x =
        inverse[BOX_XX] * inverse[BOX_XX] + inverse[BOX_YX] * inverse[BOX_YX] + inverse[BOX_ZX] * inverse[BOX_ZX];
    double y = inverse[BOX_YY] * inverse[BOX_YY] + inverse[BOX_ZY] * inverse[BOX_ZY];
    out[0] = 1 / sqrt(x);
    out[1] = 1 / sqrt(y);
    out[2] = box[BOX_ZZ];
}

/* The least of them: two points closer than that differ by less than 1 in every fraction. */
MATH_FN double box_least_width(const double box[BOX_SIZE])
{
    double width[3];
    box_widths(box, width);
    return fmin(fmin(width[0], width[1]), width[2]);
}

/* No lattice vector is shorter than the least of the diagonal. */
MATH_FN double box_least_edge(const double box[BOX_SIZE])
{
    return fmin(fmin(box[BOX_XX], box[BOX_YY]), box[BOX_ZZ]);
}

/* Cut-offs stay below this, nm: half the shortest edge vector, what the diagonal allows (GROMACS's rule), and half the
 * shortest of all lattice vectors, so that no two images of an atom are as close (GROMACS sees both). Vectors of two
 * edges and more are no shorter than twice the rest allows, as no edge is farther along another than half of it. */
MATH_FN_APART double box_cutoff_limit(const double box[BOX_SIZE])
{
    double diagonal = fmin(box[BOX_XX], fmin(box[BOX_YY] - fabs(box[BOX_ZY]), box[BOX_ZZ]));
    double least2 = 4 * diagonal * diagonal;
    for (int k = 14; k < 27; k++) { /* of a vector and its opposite, one */
        double v[3] = {(double)(k / 9 - 1), (double)(k / 3 % 3 - 1), (double)(k % 3 - 1)};
        box_apply(box, v, v);
        least2 = fmin(least2, vec_dot(v, v));
    }
    return 0.5 * sqrt(least2);
}

/* Slanted so that faces are hardly farther apart than cut-offs may be long. Else what is in reach of a cut-off and a
 * list's buffer is less than a whole edge away along each edge. */
#define BOX_FLAT 1.15

/* How far opposite faces are apart, at least, of what cut-offs may be long: 2 of a cube. */
MATH_FN double box_thickness(const double box[BOX_SIZE])
{
    return box_least_width(box) / box_cutoff_limit(box);
}

/* What cut-offs stay below on a GPU, nm, where no pair sees an image that is a whole edge away. */
MATH_FN double box_gpu_cutoff_limit(const double box[BOX_SIZE])
{
    return box_thickness(box) < BOX_FLAT ? 0.5 * box_least_width(box) : box_cutoff_limit(box);
}

/* d moved by whole edges, taken off from the last to the first: to its shortest image, if that is shorter than half of
 * each edge of the diagonal. */
MATH_FN void box_nearest(const double box[BOX_SIZE], double d[3])
{
    if (fabs(d[0]) <= 0.5 * box[BOX_XX] && fabs(d[1]) <= 0.5 * box[BOX_YY] &&
        fabs(d[2]) <= 0.5 * box[BOX_ZZ]) /* nothing to take off, without divisions: most bonded atoms */
        return;
    double z = rint(d[2] / box[BOX_ZZ]);
    d[0] -= z * box[BOX_ZX];
    d[1] -= z * box[BOX_ZY];
    d[2] -= z * box[BOX_ZZ];
    double y = rint(d[1] / box[BOX_YY]);
    d[0] -= y * box[BOX_YX];
    d[1] -= y * box[BOX_YY];
    d[0] -= rint(d[0] / box[BOX_XX]) * box[BOX_XX];
}

/* box_shortest of a d that may not be its shortest image. */
MATH_FN_APART struct box_vector box_shortest_far(const double box[BOX_SIZE], double x, double y, double z)
{
    struct box_vector v = {{x, y, z}};
    box_nearest(box, v.d);
    double best = vec_dot(v.d, v.d), safe = 0.5 * box_least_edge(box);
    if (!box_triclinic(box) || best <= safe * safe)
        return v;
    const double from[3] = {v.d[0], v.d[1], v.d[2]};
    for (int k = 0; k < 27; k++) {
        double shift[3] = {(double)(k / 9 - 1), (double)(k / 3 % 3 - 1), (double)(k % 3 - 1)}, near[3];
        box_apply(box, shift, near);
        vec_add(near, 1, from);
        if (vec_dot(near, near) < best) {
            best = vec_dot(near, near);
            memcpy(v.d, near, sizeof near);
        }
    }
    return v;
}

/* d moved by whole edges to its shortest image: in a triclinic box what is longer than half a lattice vector may have a
 * shorter one next to the one found by taking off edges. Most bonded atoms are closer than that, and stay. */
MATH_FN void box_shortest(const double box[BOX_SIZE], double d[3])
{
    double safe = 0.5 * box_least_edge(box);
    if (vec_dot(d, d) <= safe * safe)
        return;
    const struct box_vector v = box_shortest_far(box, d[0], d[1], d[2]);
    memcpy(d, v.d, sizeof v.d);
}

/* a - b, shortest image */
MATH_FN void box_image(const double a[3], const double b[3], const double box[BOX_SIZE], double out[3])
{
    vec_sub(a, b, out);
    box_shortest(box, out);
}

#endif
