/* SPDX-License-Identifier: Apache-2.0
 *
 * Rigid three-site water: SETTLE (Miyamoto and Kollman 1992, doi 10.1002/jcc.540130805). Atoms are ordered O, H1, H2;
 * the two hydrogens have equal mass.
 */
#ifndef SHOAL_ENGINE_MATH_BODIES_SETTLE_H
#define SHOAL_ENGINE_MATH_BODIES_SETTLE_H

#include <stdint.h>

#include "engine/math/vec.h"

#define WATER_SIDE_MOST 0.24 /* nm: of a water that struct water_shape32 is right for */

/* What timesteps in single precision need of a rigid water (engine/cuda/motion/water32.cuh). */
struct water_shape32 {
    int64_t side2[2];                       /* squares of OH and HH, 2^-66 nm^2 */
    float inverse_side2[2];                 /* 1/nm^2 */
    float inverse_mass[2], inverse_root[2]; /* of O and H, 1/u, and the roots of that */
    float k00, k01, k02, k22;               /* as in struct water_shape */
};

/* Of a rigid water: what follows from its sides and masses. */
struct water_shape {
    double oxygen, hydrogen;         /* each one's share of the mass */
    double ra, rb, rc;               /* nm: the center of mass from O, and from the line of H; half that line */
    double inverse_ra, inverse_line; /* 1/nm */
    double inverse_mass[2];          /* of O and H, 1/u */
    double k00, k01, k02, k22;       /* inverse of the matrix of settle_velocities, u/nm^2 */
    struct water_shape32 single;
};

/* r_oh, r_hh: sides, nm; masses in u */
MATH_FN struct water_shape water_shape_of(double r_oh, double r_hh, double mass_o, double mass_h)
{
    const double total = mass_o + 2 * mass_h, rc = 0.5 * r_hh, height = sqrt(r_oh * r_oh - rc * rc);
    const double ra = 2 * mass_h / total * height, im_o = 1 / mass_o, im_h = 1 / mass_h;
    const double oh2 = r_oh * r_oh, hh2 = r_hh * r_hh;
    const double m00 = (im_o + im_h) * oh2, m22 = 2 * im_h * hh2;        /* m11 = m00 */
    const double m01 = im_o * (oh2 - 0.5 * hh2), m12 = 0.5 * im_h * hh2; /* m02 = m12 */
    const double k00 = m00 * m22 - m12 * m12, k01 = m12 * m12 - m01 * m22, k02 = m12 * (m01 - m00);
    const double k22 = m00 * m00 - m01 * m01, inv = 1 / (m00 * k00 + m01 * k01 + m12 * k02);
    const struct water_shape32 single = {{(int64_t)rint(oh2 * 0x1p66), (int64_t)rint(hh2 * 0x1p66)},
                                         {(float)(1 / oh2), (float)(1 / hh2)},
                                         {(float)im_o, (float)im_h},
                                         {(float)sqrt(im_o), (float)sqrt(im_h)},
                                         (float)(inv * k00),
                                         (float)(inv * k01),
                                         (float)(inv * k02),
                                         (float)(inv * k22)};
    const struct water_shape s = {mass_o / total, mass_h / total, ra,        height - ra, rc,        1 / ra, 1 / r_hh,
                                  {im_o, im_h},   inv * k00,      inv * k01, inv * k02,   inv * k22, single};
    return s;
}

/* Puts the triangle x (moved freely from the rigid triangle `old`) back to its shape: constraint forces act along the
 * sides of `old` and leave the center of mass alone. False: it was moved too far for any solution. */
MATH_FN int settle_positions(const struct water_shape *w, const double old[3][3], double x[3][3])
{
    double b0[3], c0[3], com[3], a1[3], b1[3], c1[3];
    vec_sub(old[1], old[0], b0);
    vec_sub(old[2], old[0], c0);
    for (int d = 0; d < 3; d++)
        com[d] = w->oxygen * x[0][d] + w->hydrogen * (x[1][d] + x[2][d]);
    vec_sub(x[0], com, a1);
    vec_sub(x[1], com, b1);
    vec_sub(x[2], com, c1);

    /* axes: z normal to the old plane, x normal to z and a1 */
    double ez[3], ex[3], ey[3];
    vec_cross(b0, c0, ez);
    vec_cross(a1, ez, ex);
    vec_cross(ez, ex, ey);
    double sx = 1 / sqrt(vec_dot(ex, ex)), sy = 1 / sqrt(vec_dot(ey, ey)), sz = 1 / sqrt(vec_dot(ez, ez));
    for (int d = 0; d < 3; d++) {
        ex[d] *= sx;
        ey[d] *= sy;
        ez[d] *= sz;
    }
    double b0x = vec_dot(ex, b0), b0y = vec_dot(ey, b0), c0x = vec_dot(ex, c0), c0y = vec_dot(ey, c0);
    double a1z = vec_dot(ez, a1);
    double b1x = vec_dot(ex, b1), b1y = vec_dot(ey, b1), b1z = vec_dot(ez, b1);
    double c1x = vec_dot(ex, c1), c1y = vec_dot(ey, c1), c1z = vec_dot(ez, c1);

    /* rotations phi and psi from the heights above the plane, theta from the constraint forces' torque (eqs. A4-A15) */
    double sin_phi = a1z * w->inverse_ra, cos2_phi = 1 - sin_phi * sin_phi;
    double cos_phi = sqrt(fmax(cos2_phi, 0.0));
    double sin_psi = (b1z - c1z) * w->inverse_line / cos_phi, cos2_psi = 1 - sin_psi * sin_psi;
    double cos_psi = sqrt(fmax(cos2_psi, 0.0));
    double a2y = w->ra * cos_phi, b2x = -w->rc * cos_psi;
    double turned = w->rc * sin_psi * sin_phi, b2y = -w->rb * cos_phi - turned, c2y = -w->rb * cos_phi + turned;
    double alpha = b2x * (b0x - c0x) + b0y * b2y + c0y * c2y;
    double beta = b2x * (c0y - b0y) + b0x * b2y + c0x * c2y;
    double gamma = b0x * b1y - b1x * b0y + c0x * c1y - c1x * c0y;
    double ab2 = alpha * alpha + beta * beta, disc = ab2 - gamma * gamma;
    double sin_theta = (alpha * gamma - beta * sqrt(fmax(disc, 0.0))) / ab2;
    double cos2_theta = 1 - sin_theta * sin_theta, cos_theta = sqrt(fmax(cos2_theta, 0.0));

    double y[3][3] = {{-a2y * sin_theta, a2y * cos_theta, a1z},
                      {b2x * cos_theta - b2y * sin_theta, b2x * sin_theta + b2y * cos_theta, b1z},
                      {-b2x * cos_theta - c2y * sin_theta, -b2x * sin_theta + c2y * cos_theta, c1z}};
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            x[k][d] = com[d] + ex[d] * y[k][0] + ey[d] * y[k][1] + ez[d] * y[k][2];
    return cos2_phi > 0 && cos2_psi > 0 && disc > 0 && cos2_theta > 0;
}

/* Takes off v what changes the lengths of the sides OH1, OH2, H1H2 of the triangle x, by impulses along the sides:
 * velocities of a rigid body remain. The equations' matrix is that of the ideal shape, as in GROMACS. */
MATH_FN void settle_velocities(const struct water_shape *w, const double x[3][3], double v[3][3])
{
    double r[3][3], rel[3], im_o = w->inverse_mass[0], im_h = w->inverse_mass[1];
    vec_sub(x[0], x[1], r[0]);
    vec_sub(x[0], x[2], r[1]);
    vec_sub(x[1], x[2], r[2]);
    vec_sub(v[0], v[1], rel);
    double b0 = -vec_dot(r[0], rel);
    vec_sub(v[0], v[2], rel);
    double b1 = -vec_dot(r[1], rel);
    vec_sub(v[1], v[2], rel);
    double b2 = -vec_dot(r[2], rel);
    double l0 = w->k00 * b0 + w->k01 * b1 + w->k02 * b2;
    double l1 = w->k01 * b0 + w->k00 * b1 + w->k02 * b2;
    double l2 = w->k02 * b0 + w->k02 * b1 + w->k22 * b2;
    for (int d = 0; d < 3; d++) {
        v[0][d] += im_o * (l0 * r[0][d] + l1 * r[1][d]);
        v[1][d] += im_h * (l2 * r[2][d] - l0 * r[0][d]);
        v[2][d] -= im_h * (l1 * r[1][d] + l2 * r[2][d]);
    }
}

#endif
