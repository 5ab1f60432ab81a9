/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms, in nm, radians and kJ/mol. A potential is a function of one coordinate q (a distance, an angle) whose
 * parameters go linearly from state A to state B with lambda (GROMACS manual, "Free energy interactions"); the geometry
 * turns dV/dq into forces on the atoms.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_BONDED_H
#define SHOAL_ENGINE_MATH_POTENTIALS_BONDED_H

#include "engine/math/roots.h"
#include "engine/math/vec.h"

/* A potential at one coordinate and lambda. */
struct bonded_value {
    double u, du_dq, du_dl;
};

/* V = k/2 (q - q0)^2 */
MATH_FN struct bonded_value bonded_harmonic(double q, const double q0[2], const double k[2], double l)
{
    double kl = (1 - l) * k[0] + l * k[1], d = q - ((1 - l) * q0[0] + l * q0[1]);
    struct bonded_value v = {0.5 * kl * d * d, kl * d, 0.5 * (k[1] - k[0]) * d * d - (q0[1] - q0[0]) * kl * d};
    return v;
}

/* The same of an angle that is periodic: q - q0 is taken into [-pi, pi]. */
MATH_FN struct bonded_value bonded_harmonic_periodic(double q, const double q0[2], const double k[2], double l)
{
    const double turn = 6.28318530717958647693;
    double q0l = (1 - l) * q0[0] + l * q0[1];
    return bonded_harmonic(q - turn * rint((q - q0l) / turn), q0, k, l);
}

/* An angle by its cosine and sine. */
struct turn {
    double cos, sin;
};

MATH_FN struct turn turn_of(double angle)
{
    struct turn t = {cos(angle), sin(angle)};
    return t;
}

/* n times the angle. */
MATH_FN struct turn turn_times(struct turn t, int n)
{
    struct turn power = {1, 0};
    for (int k = n < 0 ? -n : n; k > 0; k--) {
        struct turn next = {power.cos * t.cos - power.sin * t.sin, power.sin * t.cos + power.cos * t.sin};
        power = next;
    }
    power.sin = n < 0 ? -power.sin : power.sin;
    return power;
}

/* V = k (1 + cos(n phi - phi0)); same: phi0 of both states, if they have the same one */
MATH_FN struct bonded_value bonded_periodic(struct turn phi, int n, const double phi0[2], struct turn same,
                                            const double k[2], double l)
{
    double kl = (1 - l) * k[0] + l * k[1];
    struct turn m = turn_times(phi, n), from = phi0[0] == phi0[1] ? same : turn_of((1 - l) * phi0[0] + l * phi0[1]);
    double c = m.cos * from.cos + m.sin * from.sin, s = m.sin * from.cos - m.cos * from.sin;
    struct bonded_value v = {kl * (1 + c), -kl * n * s, (k[1] - k[0]) * (1 + c) + (phi0[1] - phi0[0]) * kl * s};
    return v;
}

/* Ryckaert-Bellemans: V = sum c_n cos^n(psi), psi = phi - 180 degrees */
MATH_FN struct bonded_value bonded_rb(struct turn phi, const double c[2][6], double l)
{
    double x = -phi.cos, u = 0, du = 0, dl = 0;
    for (int n = 5; n >= 0; n--) {
        du = du * x + u;
        u = u * x + ((1 - l) * c[0][n] + l * c[1][n]);
        dl = dl * x + (c[1][n] - c[0][n]);
    }
    struct bonded_value v = {u, du * phi.sin, dl};
    return v;
}

/* The angle at j between a = x_i - x_j and b = x_k - x_j, and its derivatives with respect to x_i and x_k. */
MATH_FN double bonded_angle(const double a[3], const double b[3], double di[3], double dk[3])
{
    double n[3];
    vec_cross(a, b, n);
    double n2 = vec_dot(n, n);
    double inv =
        n2 > 1e-28 ? root_inverse(n2) : 0; /* collinear: no direction is better than another, the force is left out */
    vec_cross(a, n, di);
    vec_cross(n, b, dk);
    double si = inv * root_reciprocal(vec_dot(a, a)), sk = inv * root_reciprocal(vec_dot(b, b));
    for (int d = 0; d < 3; d++) {
        di[d] *= si;
        dk[d] *= sk;
    }
    return atan2(inv > 0 ? n2 * inv : sqrt(n2), vec_dot(a, b));
}

/* The dihedral i-j-k-l (IUPAC: 0 is cis) from ij = x_i - x_j, kj = x_k - x_j, kl = x_k - x_l, and its derivatives with
 * respect to the four positions (Bekker et al. 1995, doi 10.1002/jcc.540160502). 0 where three atoms lie on a line. */
MATH_FN struct turn bonded_dihedral(const double ij[3], const double kj[3], const double kl[3], double grad[4][3])
{
    double m[3], n[3];
    vec_cross(ij, kj, m);
    vec_cross(kj, kl, n);
    double m2 = vec_dot(m, m), n2 = vec_dot(n, n), kj2 = vec_dot(kj, kj), inverse = root_inverse(kj2),
           len = kj2 * inverse;
    double si = m2 > 1e-28 ? len * root_reciprocal(m2) : 0, sl = n2 > 1e-28 ? -len * root_reciprocal(n2) : 0;
    double p = vec_dot(ij, kj) * inverse * inverse, q = vec_dot(kl, kj) * inverse * inverse;
    for (int d = 0; d < 3; d++) {
        double gi = si * m[d], gl = sl * n[d], s = p * gi - q * gl;
        grad[0][d] = gi;
        grad[1][d] = s - gi;
        grad[2][d] = -s - gl;
        grad[3][d] = gl;
    }
    double x = vec_dot(m, n), y = len * vec_dot(ij, n), both = x * x + y * y,
           inv = both > 1e-200 ? root_inverse(both) : 0;
    struct turn phi = {inv > 0 ? x * inv : 1, y * inv};
    return phi;
}

MATH_FN double turn_angle(struct turn t)
{
    return atan2(t.sin, t.cos);
}

#endif
