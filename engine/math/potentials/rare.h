/* SPDX-License-Identifier: Apache-2.0
 *
 * Potentials that few force fields use, and restraints (GROMACS manual, "Bonded interactions", "Restraints").
 * Parameters c[state] go linearly from A to B with lambda, where a potential has a B. Units: nm, radians, kJ/mol.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_RARE_H
#define SHOAL_ENGINE_MATH_POTENTIALS_RARE_H

#include <stdbool.h>

#include "engine/math/potentials/bonded.h"
#include "engine/math/terms.h"

MATH_FN double rare_mixed(const double c[2][6], int n, double l)
{
    return (1 - l) * c[0][n] + l * c[1][n];
}

MATH_FN double rare_change(const double c[2][6], int n)
{
    return c[1][n] - c[0][n];
}

/* V = k/4 (r^2 - b0^2)^2; it is b0^2 that goes from A to B. c: b0, k */
MATH_FN struct bonded_value rare_g96_bond(double r, const double c[2][6], double l)
{
    double k = rare_mixed(c, 1, l), a2 = c[0][0] * c[0][0], b2 = c[1][0] * c[1][0];
    double d = r * r - ((1 - l) * a2 + l * b2);
    struct bonded_value v = {0.25 * k * d * d, k * d * r, 0.25 * rare_change(c, 1) * d * d - 0.5 * k * d * (b2 - a2)};
    return v;
}

/* V = D (1 - exp(-beta (r - b0)))^2. c: b0, D, beta */
MATH_FN struct bonded_value rare_morse(double r, const double c[2][6], double l)
{
    double depth = rare_mixed(c, 1, l), beta = rare_mixed(c, 2, l), d = r - rare_mixed(c, 0, l);
    double e = exp(-beta * d), w = 1 - e;
    struct bonded_value v = {depth * w * w, 2 * depth * beta * w * e,
                             rare_change(c, 1) * w * w +
                                 2 * depth * w * e * (rare_change(c, 2) * d - beta * rare_change(c, 0))};
    return v;
}

/* V = k (r - b0)^2 (1 + s (r - b0)). c: b0, k, s */
MATH_FN struct bonded_value rare_cubic_bond(double r, const double c[2][6])
{
    double d = r - c[0][0], k = c[0][1], s = c[0][2];
    struct bonded_value v = {k * d * d * (1 + s * d), k * d * (2 + 3 * s * d), 0};
    return v;
}

/* V = -k/2 b^2 ln(1 - r^2/b^2), without bound at r = b. c: b, k */
MATH_FN struct bonded_value rare_fene(double r, const double c[2][6])
{
    double b2 = c[0][0] * c[0][0], k = c[0][1], left = 1 - r * r / b2;
    struct bonded_value v = {INFINITY, INFINITY, 0};
    if (left > 0) {
        v.u = -0.5 * k * b2 * log(left);
        v.du_dq = k * r / left;
    }
    return v;
}

/* The distance of a restraint of several pairs, R = (sum r^-6)^(-1/6). sum: of r^-6, nm^-6 */
MATH_FN double rare_joint_distance(double sum)
{
    return 1 / sqrt(cbrt(sum));
}

/* dR/dr of one of its pairs. */
MATH_FN double rare_joint_slope(double joint, double r)
{
    const double x = joint / r, x2 = x * x;
    return x2 * x2 * x2 * x;
}

/* Zero from low to up1, harmonic outside, linear beyond up2. c: low, up1, up2, k */
MATH_FN struct bonded_value rare_distance_restraint(double r, const double c[2][6], double l)
{
    double low = rare_mixed(c, 0, l), up1 = rare_mixed(c, 1, l), up2 = rare_mixed(c, 2, l), k = rare_mixed(c, 3, l);
    double dk = rare_change(c, 3);
    struct bonded_value v = {0, 0, 0};
    if (r < low || (r > up1 && r <= up2)) {
        const int wall = r < low ? 0 : 1;
        double d = r - (wall ? up1 : low);
        v.u = 0.5 * k * d * d;
        v.du_dq = k * d;
        v.du_dl = 0.5 * dk * d * d - k * d * rare_change(c, wall);
    } else if (r > up1) {
        double w = up2 - up1, dw = rare_change(c, 2) - rare_change(c, 1), far = 0.5 * w + r - up2;
        v.u = k * w * far;
        v.du_dq = k * w;
        v.du_dl = dk * w * far + k * (dw * (w + r - up2) - w * rare_change(c, 2));
    }
    return v;
}

/* V = k/2 (cos theta - c0)^2; it is c0 = cos theta0 that goes from A to B. c: c0, k */
MATH_FN struct bonded_value rare_g96_angle(double theta, const double c[2][6], double l)
{
    double k = rare_mixed(c, 1, l), d = cos(theta) - rare_mixed(c, 0, l);
    struct bonded_value v = {0.5 * k * d * d, -k * d * sin(theta),
                             0.5 * rare_change(c, 1) * d * d - k * d * rare_change(c, 0)};
    return v;
}

/* V = sum c_n (theta - theta0)^n, n up to 4. c: theta0, c_0 .. c_4 */
MATH_FN struct bonded_value rare_quartic_angle(double theta, const double c[2][6])
{
    double d = theta - c[0][0], u = 0, du = 0;
    for (int n = 5; n >= 1; n--) {
        du = du * d + u;
        u = u * d + c[0][n];
    }
    struct bonded_value v = {u, du, 0};
    return v;
}

/* V = k/2 (cos q - c0)^2 / sin^2 q, of an angle or a dihedral (doi 10.1021/ct400219n). c: c0, k */
MATH_FN struct bonded_value rare_restricted(double q, const double c[2][6])
{
    double x = cos(q), s = sin(q), k = c[0][1], d = (x - c[0][0]) / s;
    struct bonded_value v = {0.5 * k * d * d, -k * d * (1 + d * x / s), 0};
    return v;
}

/* Zero within `width` of phi0, harmonic outside. c: phi0, width, k */
MATH_FN struct bonded_value rare_dihedral_restraint(double phi, const double c[2][6], double l)
{
    const double turn = 6.28318530717958647693;
    double k = rare_mixed(c, 2, l), width = rare_mixed(c, 1, l), d = phi - rare_mixed(c, 0, l);
    d -= turn * rint(d / turn);
    const int side = d > width ? 1 : d < -width ? -1 : 0;
    struct bonded_value v = {0, 0, 0};
    if (side) {
        d -= side * width;
        v.u = 0.5 * k * d * d;
        v.du_dq = k * d;
        v.du_dl = 0.5 * rare_change(c, 2) * d * d - k * d * (rare_change(c, 0) + side * rare_change(c, 1));
    }
    return v;
}

/* V = k (1 - cos(n (theta - theta0))). c: theta0, k, n (the same in both states) */
MATH_FN struct bonded_value rare_angle_restraint(double theta, const double c[2][6], double l)
{
    double k = rare_mixed(c, 1, l), n = c[0][2], a = n * (theta - rare_mixed(c, 0, l)), s = k * n * sin(a);
    struct bonded_value v = {k * (1 - cos(a)), s, rare_change(c, 1) * (1 - cos(a)) - s * rare_change(c, 0)};
    return v;
}

/* Those of one coordinate q, a distance or an angle. */
MATH_FN struct bonded_value rare_value(enum rare_kind kind, double q, const double c[2][6], double l)
{
    struct bonded_value none = {0, 0, 0};
    switch (kind) {
    case RARE_G96_BOND:
        return rare_g96_bond(q, c, l);
    case RARE_MORSE:
        return rare_morse(q, c, l);
    case RARE_CUBIC_BOND:
        return rare_cubic_bond(q, c);
    case RARE_FENE:
        return rare_fene(q, c);
    case RARE_DISTANCE_RESTRAINT:
        return rare_distance_restraint(q, c, l);
    case RARE_G96_ANGLE:
        return rare_g96_angle(q, c, l);
    case RARE_QUARTIC_ANGLE:
        return rare_quartic_angle(q, c);
    case RARE_RESTRICTED_ANGLE:
    case RARE_RESTRICTED_DIHEDRAL:
        return rare_restricted(q, c);
    case RARE_DIHEDRAL_RESTRAINT:
        return rare_dihedral_restraint(q, c, l);
    case RARE_ANGLE_RESTRAINT:
    case RARE_ANGLE_RESTRAINT_Z:
        return rare_angle_restraint(q, c, l);
    case RARE_BOND_BOND:
    case RARE_BOND_ANGLE:
    case RARE_LINEAR_ANGLE:
    case RARE_BENDING_TORSION:
    case RARE_FLAT_POSITION:
    case RARE_KINDS:
        return none;
    }
    return none;
}

/* ---- of several coordinates: grad is dV/dx ---- */

/* V = k (|a| - a0) (|b| - b0), a = x_i - x_j, b = x_k - x_j. c: a0, b0, k */
MATH_FN double rare_bond_bond(const double a[3], const double b[3], const double c[6], double grad[3][3])
{
    double ra = sqrt(vec_dot(a, a)), rb = sqrt(vec_dot(b, b)), da = ra - c[0], db = rb - c[1], k = c[2];
    for (int d = 0; d < 3; d++) {
        grad[0][d] = k * db / ra * a[d];
        grad[2][d] = k * da / rb * b[d];
        grad[1][d] = -grad[0][d] - grad[2][d];
    }
    return k * da * db;
}

/* V = k (|a - b| - c0) (|a| - a0 + |b| - b0). c: a0, b0, c0, k */
MATH_FN double rare_bond_angle(const double a[3], const double b[3], const double c[6], double grad[3][3])
{
    double across[3];
    vec_sub(a, b, across);
    double ra = sqrt(vec_dot(a, a)), rb = sqrt(vec_dot(b, b)), rc = sqrt(vec_dot(across, across));
    double k = c[3], bonds = ra - c[0] + rb - c[1], dc = rc - c[2];
    for (int d = 0; d < 3; d++) {
        double f = k * bonds / rc * across[d];
        grad[0][d] = f + k * dc / ra * a[d];
        grad[2][d] = -f + k * dc / rb * b[d];
        grad[1][d] = -grad[0][d] - grad[2][d];
    }
    return k * dc * bonds;
}

/* V = k/2 |s a + (1 - s) b|^2: holds x_j at s x_i + (1 - s) x_k. du_dq is 1: grad is dV/dx. c: s, k */
MATH_FN struct bonded_value rare_linear_angle(const double a[3], const double b[3], const double c[2][6], double l,
                                              double grad[3][3])
{
    double s = rare_mixed(c, 0, l), k = rare_mixed(c, 1, l), off[3], across[3];
    vec_sub(a, b, across);
    for (int d = 0; d < 3; d++) {
        off[d] = s * a[d] + (1 - s) * b[d];
        grad[0][d] = k * s * off[d];
        grad[2][d] = k * (1 - s) * off[d];
        grad[1][d] = -grad[0][d] - grad[2][d];
    }
    double square = vec_dot(off, off);
    struct bonded_value v = {0.5 * k * square, 1,
                             0.5 * rare_change(c, 1) * square + k * rare_change(c, 0) * vec_dot(off, across)};
    return v;
}

/* The factors of a combined bending and torsion potential V = c_0 sin^3 theta sin^3 eta sum c_n+1 cos^n phi, n up to 4
 * (doi 10.1021/ct400219n): V and its slopes with respect to theta, eta and phi. */
MATH_FN double rare_bending_torsion(double theta, double eta, double phi, const double c[6], double slope[3])
{
    double s = sin(theta), t = sin(eta), x = cos(phi), u = 0, du = 0, s3 = s * s * s, t3 = t * t * t;
    for (int n = 5; n >= 1; n--) {
        du = du * x + u;
        u = u * x + c[n];
    }
    slope[0] = c[0] * 3 * s * s * cos(theta) * t3 * u;
    slope[1] = c[0] * 3 * t * t * cos(eta) * s3 * u;
    slope[2] = -c[0] * s3 * t3 * du * sin(phi);
    return c[0] * s3 * t3 * u;
}

/* V = k/2 (s - |r|)^2 of the distance s from a point, an axis or a plane: where s is above r; if r is below 0, where s
 * is below |r|. dx: from the point; grad: dV/dx. c: the point's x, y, z, then r, k, an enum flat_geometry */
MATH_FN double rare_flat_position(const double dx[3], const double c[6], double grad[3])
{
    const int geometry = (int)c[5], along = geometry == FLAT_CYLINDER ? 2 : geometry - FLAT_CYLINDER_X;
    double off[3], over = 0, r = c[3] < 0 ? -c[3] : c[3];
    for (int d = 0; d < 3; d++) {
        const bool layer = geometry >= FLAT_X && geometry <= FLAT_Z;
        const bool counts = geometry == FLAT_SPHERE || (layer ? d == geometry - FLAT_X : d != along);
        off[d] = counts ? dx[d] : 0;
    }
    const double s = sqrt(vec_dot(off, off));
    if (s > 0 && (c[3] < 0 ? s < r : s > r))
        over = s - r;
    for (int d = 0; d < 3; d++)
        grad[d] = over != 0 ? c[4] * over / s * off[d] : 0;
    return 0.5 * c[4] * over * over;
}

#endif
