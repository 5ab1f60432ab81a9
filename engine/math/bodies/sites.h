/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual sites: where they are, and what a force on one does to the atoms that place it (GROMACS manual, "Virtual
 * interaction sites"). The first of those atoms is the origin; r are the positions of the others relative to it, nm.
 */
#ifndef SHOAL_ENGINE_MATH_BODIES_SITES_H
#define SHOAL_ENGINE_MATH_BODIES_SITES_H

#include "engine/math/vec.h"

/* Sites of fixed weights (2, 3, n) are none of these. */
enum site_kind {
    SITE_LINEAR,
    SITE_2FD,  /* c[0] along r0 */
    SITE_3FD,  /* c[1] along r0 + c[0] (r1 - r0) */
    SITE_3FAD, /* c[0] along r0, c[1] across it towards r1 */
    SITE_3OUT, /* c[0] r0 + c[1] r1 + c[2] r0 x r1 */
    SITE_4FDN, /* c[2] along (c[0] r1 - r0) x (c[1] r2 - r0) */
    SITE_KINDS
};
enum { SITE_ATOMS_MOST = 4 }; /* of those that are not linear */

/* out: v of length 1; returns 1/|v| */
MATH_FN double site_unit(const double v[3], double out[3])
{
    double inverse = 1 / sqrt(vec_dot(v, v));
    for (int d = 0; d < 3; d++)
        out[d] = inverse * v[d];
    return inverse;
}

/* out: what of v is across the unit vector u */
MATH_FN void site_across(const double v[3], const double u[3], double out[3])
{
    double along = vec_dot(v, u);
    for (int d = 0; d < 3; d++)
        out[d] = v[d] - along * u[d];
}

MATH_FN void site_mixed(double a, const double v[3], double b, const double w[3], double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = a * v[d] + b * w[d];
}

/* out: the site relative to the origin */
MATH_FN void site_at(enum site_kind kind, const double c[3], const double r[3][3], double out[3])
{
    double a[3], b[3], n[3], u[3];
    switch (kind) {
    case SITE_2FD:
        site_unit(r[0], u);
        site_mixed(c[0], u, 0, u, out);
        return;
    case SITE_3FD:
        site_mixed(1 - c[0], r[0], c[0], r[1], a);
        site_unit(a, u);
        site_mixed(c[1], u, 0, u, out);
        return;
    case SITE_3FAD:
        site_unit(r[0], u);
        vec_sub(r[1], r[0], a);
        site_across(a, u, b);
        site_unit(b, n);
        site_mixed(c[0], u, c[1], n, out);
        return;
    case SITE_3OUT:
        vec_cross(r[0], r[1], n);
        site_mixed(c[0], r[0], c[1], r[1], a);
        site_mixed(1, a, c[2], n, out);
        return;
    case SITE_4FDN:
        site_mixed(c[0], r[1], -1, r[0], a);
        site_mixed(c[1], r[2], -1, r[0], b);
        vec_cross(a, b, n);
        site_unit(n, u);
        site_mixed(c[2], u, 0, u, out);
        return;
    case SITE_LINEAR:
    case SITE_KINDS:
        return;
    }
}

/* Force f on a site as forces on the atoms beside the origin, which has the rest of f. */
MATH_FN void site_spread(enum site_kind kind, const double c[3], const double r[3][3], const double f[3],
                         double out[3][3])
{
    double a[3], b[3], n[3], u[3], g[3], h[3], inverse;
    switch (kind) {
    case SITE_2FD:
        inverse = site_unit(r[0], u);
        site_across(f, u, g);
        site_mixed(c[0] * inverse, g, 0, g, out[0]);
        return;
    case SITE_3FD:
        site_mixed(1 - c[0], r[0], c[0], r[1], a);
        inverse = site_unit(a, u);
        site_across(f, u, g);
        site_mixed(c[1] * inverse * (1 - c[0]), g, 0, g, out[0]);
        site_mixed(c[1] * inverse * c[0], g, 0, g, out[1]);
        return;
    case SITE_3FAD: { /* b = (1 - u u) a, a = r1 - r0; the site is c0 u + c1 b/|b| */
        double along = site_unit(r[0], u), across;
        vec_sub(r[1], r[0], a);
        site_across(a, u, b);
        across = site_unit(b, n);
        site_across(f, n, g);
        site_mixed(c[1] * across, g, 0, g, g);
        site_mixed(c[0], f, -vec_dot(u, a), g, h);
        vec_add(h, -vec_dot(u, g), a);
        site_across(h, u, h);
        site_across(g, u, out[1]);
        site_mixed(along, h, -1, out[1], out[0]);
        return;
    }
    case SITE_3OUT:
        vec_cross(r[1], f, a);
        vec_cross(f, r[0], b);
        site_mixed(c[0], f, c[2], a, out[0]);
        site_mixed(c[1], f, c[2], b, out[1]);
        return;
    case SITE_4FDN:
        site_mixed(c[0], r[1], -1, r[0], a);
        site_mixed(c[1], r[2], -1, r[0], b);
        vec_cross(a, b, n);
        inverse = site_unit(n, u);
        site_across(f, u, g);
        site_mixed(c[2] * inverse, g, 0, g, g);
        vec_cross(b, g, u);
        vec_cross(g, a, h);
        site_mixed(-1, u, -1, h, out[0]);
        site_mixed(c[0], u, 0, u, out[1]);
        site_mixed(c[1], h, 0, h, out[2]);
        return;
    case SITE_LINEAR:
    case SITE_KINDS:
        return;
    }
}

#endif
