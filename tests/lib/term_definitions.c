/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/term_definitions.h"

#include <math.h>

#include "engine/math/potentials/bias.h"

#define TURN 6.283185307179586476925286766559L

static long double mixed(const struct potential *t, int n, long double l)
{
    return (1 - l) * t->c[0][n] + l * t->c[1][n];
}

long double define_harmonic(const void *of, long double q, long double l)
{
    const long double d = q - mixed(of, 0, l);
    return mixed(of, 1, l) * d * d / 2;
}

long double define_harmonic_periodic(const void *of, long double q, long double l)
{
    const long double d = remainderl(q - mixed(of, 0, l), TURN);
    return mixed(of, 1, l) * d * d / 2;
}

long double define_periodic(const void *of, long double q, long double l)
{
    const struct potential *t = of;
    return mixed(t, 1, l) * (1 + cosl(t->c[0][2] * q - mixed(t, 0, l)));
}

long double define_rb(const void *of, long double q, long double l)
{
    long double u = 0;
    for (int n = 0; n < 6; n++)
        u += mixed(of, n, l) * powl(cosl(q - TURN / 2), n);
    return u;
}

static long double g96_bond(const void *of, long double r, long double l)
{
    const struct potential *t = of;
    const long double b2 = (1 - l) * powl(t->c[0][0], 2) + l * powl(t->c[1][0], 2);
    return mixed(t, 1, l) / 4 * powl(r * r - b2, 2);
}

static long double morse(const void *of, long double r, long double l)
{
    return mixed(of, 1, l) * powl(1 - expl(-mixed(of, 2, l) * (r - mixed(of, 0, l))), 2);
}

static long double cubic_bond(const void *of, long double r, long double l)
{
    const long double d = r - mixed(of, 0, 0), k = mixed(of, 1, 0);
    return k * d * d + k * mixed(of, 2, 0) * d * d * d;
}

static long double fene(const void *of, long double r, long double l)
{
    const long double b = mixed(of, 0, 0);
    return -mixed(of, 1, 0) / 2 * b * b * log1pl(-powl(r / b, 2));
}

static long double distance_restraint(const void *of, long double r, long double l)
{
    const long double low = mixed(of, 0, l), up1 = mixed(of, 1, l), up2 = mixed(of, 2, l), k = mixed(of, 3, l);
    if (r < low)
        return k / 2 * powl(r - low, 2);
    if (r < up1)
        return 0;
    return r < up2 ? k / 2 * powl(r - up1, 2) : k / 2 * (up2 - up1) * (2 * r - up2 - up1);
}

static long double g96_angle(const void *of, long double q, long double l)
{
    return mixed(of, 1, l) / 2 * powl(cosl(q) - mixed(of, 0, l), 2);
}

static long double quartic_angle(const void *of, long double q, long double l)
{
    long double u = 0;
    for (int n = 0; n < 5; n++)
        u += mixed(of, n + 1, 0) * powl(q - mixed(of, 0, 0), n);
    return u;
}

static long double restricted(const void *of, long double q, long double l)
{
    return mixed(of, 1, 0) / 2 * powl((cosl(q) - mixed(of, 0, 0)) / sinl(q), 2);
}

static long double dihedral_restraint(const void *of, long double q, long double l)
{
    const long double off = fabsl(remainderl(q - mixed(of, 0, l), TURN)), width = mixed(of, 1, l);
    return off > width ? mixed(of, 2, l) / 2 * powl(off - width, 2) : 0;
}

static long double angle_restraint(const void *of, long double q, long double l)
{
    return mixed(of, 1, l) * (1 - cosl(mixed(of, 2, 0) * (q - mixed(of, 0, l))));
}

long double define_bias(const void *of, long double q, long double l)
{
    const struct potential *t = of;
    const long double d = q - mixed(t, 0, l), k = mixed(t, 1, l);
    if (t->kind == BIAS_LINEAR)
        return k * d;
    return (t->kind == BIAS_LOWER && d > 0) || (t->kind == BIAS_UPPER && d < 0) ? 0 : k / 2 * d * d;
}

definition_fn *define_rare(enum rare_kind kind)
{
    switch (kind) {
    case RARE_G96_BOND:
        return g96_bond;
    case RARE_MORSE:
        return morse;
    case RARE_CUBIC_BOND:
        return cubic_bond;
    case RARE_FENE:
        return fene;
    case RARE_DISTANCE_RESTRAINT:
        return distance_restraint;
    case RARE_G96_ANGLE:
        return g96_angle;
    case RARE_QUARTIC_ANGLE:
        return quartic_angle;
    case RARE_RESTRICTED_ANGLE:
    case RARE_RESTRICTED_DIHEDRAL:
        return restricted;
    case RARE_DIHEDRAL_RESTRAINT:
        return dihedral_restraint;
    case RARE_ANGLE_RESTRAINT:
    case RARE_ANGLE_RESTRAINT_Z:
        return angle_restraint;
    case RARE_BOND_BOND:
    case RARE_BOND_ANGLE:
    case RARE_LINEAR_ANGLE:
    case RARE_BENDING_TORSION:
    case RARE_FLAT_POSITION:
    case RARE_KINDS:
        return NULL;
    }
    return NULL;
}
