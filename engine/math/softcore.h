/* SPDX-License-Identifier: Apache-2.0
 *
 * A pair in which at least one atom is perturbed. LJ: the energies of the end states mixed linearly, each at a softened
 * distance (Beutler et al. 1994, doi 10.1016/0009-2614(94)00397-1, with r-power 6 as in the GROMACS reference manual):
 *   rA^6 = r^6 + alpha sigmaA^6 l^p,   rB^6 = r^6 + alpha sigmaB^6 (1-l)^p
 * Soft core only acts when one of the end states has no repulsion. sigma^6 = c12/c6, by default the given sigma's; with
 * soft-core Coulomb that is also the least (as GROMACS has it). Cut-off and modifier apply to the softened distance.
 *
 * Coulomb: charges scale, q = (1-l) qA + l qB. Cut-off and the reciprocal part's share are at the real distance. With
 * soft-core Coulomb the product q q' is split into an A part, at rA, and a B part, at rB. Its pure terms (1-l)^2 qA qA' and
 * l^2 qB qB' go to their states. A cross term l (1-l) qA qB' is shared in proportion to how much each atom's charge changes:
 * to A as |qB - qA|, to B as |qB' - qA'|. With one changing atom that is (1-l) qA q' and l qB q', linear mixing as in
 * GROMACS; in all cases the parts sum to q q'.
 */
#ifndef SHOAL_ENGINE_MATH_SOFTCORE_H
#define SHOAL_ENGINE_MATH_SOFTCORE_H

#include "engine/math/ewald.h"
#include "engine/math/lj.h"
#include "engine/math/roots.h"

struct soft_rule {
    real alpha;  /* 0: none */
    real sigma6; /* nm^6 */
    int power;   /* 1 or 2 */
    int coulomb; /* soften Coulomb too */
};

/* End states of one pair: what does not depend on distance or lambda. */
struct soft_pair {
    real c6[2], c12[2];
    real reach[2]; /* alpha sigma^6, nm^6; 0 where soft core does not act */
    real qq[2];    /* f qA qA', f qB qB', kJ nm/mol */
    real cross[2]; /* f-scaled cross terms' shares of A and B */
};

MATH_FN real soft_reach(const struct soft_rule *rule, real c6, real c12)
{
    real sigma6 = c6 > 0 && c12 > 0 ? c12 / c6 : rule->sigma6;
    return rule->alpha * (rule->coulomb && sigma6 < rule->sigma6 ? rule->sigma6 : sigma6);
}

/* q, p: charges of the two atoms in states A and B, e; f: the Coulomb constant, kJ nm/(mol e^2). */
MATH_FN struct soft_pair soft_pair_make(const struct soft_rule *rule, const real c6[2], const real c12[2],
                                        const real q[2], const real p[2], real f)
{
    struct soft_pair s;
    int soft = !(c12[0] > 0 && c12[1] > 0);
    real dq = fabs(q[1] - q[0]), dp = fabs(p[1] - p[0]);
    real share = dq + dp > 0 ? dq / (dq + dp) : REAL(0.5);
    for (int k = 0; k < 2; k++) {
        s.c6[k] = c6[k];
        s.c12[k] = c12[k];
        s.reach[k] = soft ? soft_reach(rule, c6[k], c12[k]) : 0;
        s.qq[k] = f * q[k] * p[k];
    }
    s.cross[0] = f * (share * (q[0] * p[1]) + (1 - share) * (q[1] * p[0]));
    s.cross[1] = f * (share * (q[1] * p[0]) + (1 - share) * (q[0] * p[1]));
    return s;
}

/* l^p and its derivative. */
MATH_FN real soft_power(int power, real l)
{
    return power == 2 ? l * l : l;
}

MATH_FN real soft_slope(int power, real l)
{
    return power == 2 ? 2 * l : 1;
}

struct soft_result {
    real v, dv, fr; /* kJ/mol, dV/dlambda, force over r */
};

/* LJ at vdw lambda l, real distance squared r2. */
MATH_FN struct soft_result soft_lj(enum vdw_modifier modifier, const struct lj_rule *rule, int power,
                                   const struct soft_pair *s, real l, real r2)
{
    struct soft_result out = {0, 0, 0};
    real r6 = r2 * r2 * r2;
    for (int k = 0; k < 2; k++) {
        real weight = k ? l : 1 - l, sign = k ? 1 : -1;
        real away = k ? 1 - l : l; /* how far from this end state */
        real ri = root_inverse_sixth(MATH_FMA(s->reach[k], soft_power(power, away), r6));
        real ri2 = ri * ri, v, rr = 1 / ri2;
        real fr = lj_pair(modifier, rule, s->c6[k], s->c12[k], rr, ri, &v);
        real in = rr < rule->cutoff * rule->cutoff ? REAL(1) : REAL(0);
        fr = in * fr * ri2 * ri2; /* dV/d(r^6) = -fr/6 */
        v = in * v;
        out.v = MATH_FMA(weight, v, out.v);
        out.fr = MATH_FMA(weight * fr, r2 * r2, out.fr);
        out.dv += sign * v + weight * sign * soft_slope(power, away) * s->reach[k] * fr * REAL(1.0 / 6.0);
    }
    return out;
}

/* Coulomb inside the cut-off at Coulomb lambda l; long_v, long_f: the reciprocal part's share at r (ewald.h). */
MATH_FN struct soft_result soft_coulomb(const struct soft_rule *rule, const struct soft_pair *s, real shift, real l,
                                        real r2, real long_v, real long_f)
{
    struct soft_result out = {0, 0, 0};
    real r6 = r2 * r2 * r2, lb = 1 - l;
    for (int k = 0; k < 2; k++) {
        real near = k ? l : lb, away = k ? lb : l, sign = k ? 1 : -1;
        real part = near * MATH_FMA(near, s->qq[k], away * s->cross[k]);
        real dpart = sign * MATH_FMA(2 * near, s->qq[k], (away - near) * s->cross[k]);
        real reach = rule->coulomb ? s->reach[k] : 0;
        real ri = root_inverse_sixth(MATH_FMA(reach, soft_power(rule->power, away), r6));
        real ri2 = ri * ri, ri7 = ri2 * ri2 * ri2 * ri;
        real v = ri - shift - long_v;
        out.v = MATH_FMA(part, v, out.v);
        out.dv =
            MATH_FMA(dpart, v, out.dv) + part * sign * soft_slope(rule->power, away) * reach * ri7 * REAL(1.0 / 6.0);
        out.fr = MATH_FMA(part, MATH_FMA(ri7, r2 * r2, -long_f), out.fr);
    }
    return out;
}

#endif
