/* SPDX-License-Identifier: Apache-2.0
 *
 * A pair in which at least one atom is perturbed. LJ: the energies of the end states mixed linearly, each at a softened
 * distance (Beutler et al. 1994, doi 10.1016/0009-2614(94)00397-1, with r-power 6 as in the GROMACS reference manual):
 *   rA^6 = r^6 + alpha sigmaA^6 l^p,   rB^6 = r^6 + alpha sigmaB^6 (1-l)^p
 * Soft core only acts when one of the end states has no repulsion. sigma^6 = c12/c6, by default the given sigma's; with
 * soft-core Coulomb that is also the least (as GROMACS has it). Cut-off and modifier apply to the softened distance.
 *
 * Coulomb: charges scale, q = (1-l) qA + l qB. Cut-off and the reciprocal part's share are at the real distance. With
 * soft-core Coulomb the product q q' is split into an A part, at rA, and a B part, at rB. Its pure terms (1-l)^2 qA qA'
 * and l^2 qB qB' go to their states. A cross term l (1-l) qA qB' is shared in proportion to how much each atom's charge
 * changes: to A as |qB - qA|, to B as |qB' - qA'|. With one changing atom that is (1-l) qA q' and l qB q', linear
 * mixing as in GROMACS; in all cases the parts sum to q q'. But a pair whose product of charges is zero in both states
 * has no cross term: one atom is charged in A alone, the other in B alone, and no repulsion keeps them apart.
 *
 * The other soft core (Gapsys et al. 2012, doi 10.1021/ct300220p) leaves distances as they are. Closer than a point R
 * the force of a state goes on as the straight line that touches it there, so the energy is its Taylor series about R
 * to second order: LJ, A     R = alpha (26/7 sigmaA^6 l)^(1/6)           alpha: sc-gapsys-scale-linpoint-lj Coulomb   R
 * = alpha_coulomb (1 + |qA qA'|) l^(1/6)    sc-gapsys-scale-linpoint-q, nm; charges in e and 1-l in the place of l for
 * B. In a reaction field 1/r + k r^2 is softened: Beutler's rA and rB replace r in both terms, and are held against the
 * cut-off too; Gapsys' line is that of 1/r alone. Where R would be beyond the cut-off, or where switching begins, it
 * stays there.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_SOFTCORE_H
#define SHOAL_ENGINE_MATH_POTENTIALS_SOFTCORE_H

#include "engine/base/units.h"
#include "engine/math/potentials/ewald.h"
#include "engine/math/potentials/lj.h"
#include "engine/math/roots.h"

struct soft_rule {
    double alpha;  /* 0: none */
    double sigma6; /* nm^6 */
    int power;     /* 1 or 2 */
    int coulomb;   /* soften Coulomb too */
    enum soft_function function;
    double alpha_coulomb; /* Gapsys: nm */
    double farthest6;     /* the Coulomb cut-off to the sixth power, nm^6; not of Beutler's usual one */
    double field;         /* k of a reaction field, 1/nm^3 */
};

/* End states of one pair: what does not depend on distance or lambda. */
struct soft_pair {
    double c6[2], c12[2];
    double reach[2]; /* Beutler: alpha sigma^6, Gapsys: R^6 where l or 1-l is 1; nm^6; 0 where soft core does not act */
    double reach_coulomb[2];
    double qq[2];    /* f qA qA', f qB qB', kJ nm/mol */
    double cross[2]; /* f-scaled cross terms' shares of A and B */
};

MATH_FN double soft_reach(const struct soft_rule *rule, double c6, double c12)
{
    double sigma6 = c6 > 0 && c12 > 0 ? c12 / c6 : rule->sigma6;
    if (rule->function == SOFT_GAPSYS) {
        double alpha2 = rule->alpha * rule->alpha;
        return (26.0 / 7.0) * alpha2 * alpha2 * alpha2 * sigma6;
    }
    return rule->alpha * (rule->coulomb && sigma6 < rule->sigma6 ? rule->sigma6 : sigma6);
}

/* reach: that of LJ; qq: product of the charges, with the fudge factor of a 1-4 pair, kJ nm/mol. */
MATH_FN double soft_reach_coulomb(const struct soft_rule *rule, double reach, double qq)
{
    if (rule->function == SOFT_GAPSYS) {
        double point = rule->alpha_coulomb * (1 + fabs(qq) / UNIT_COULOMB), point2 = point * point;
        return point2 * point2 * point2;
    }
    return rule->coulomb ? reach : 0;
}

/* q, p: charges of the two atoms in states A and B, e; f: the Coulomb constant, kJ nm/(mol e^2). */
MATH_FN struct soft_pair soft_pair_make(const struct soft_rule *rule, const double c6[2], const double c12[2],
                                        const double q[2], const double p[2], double f)
{
    struct soft_pair s;
    int soft = !(c12[0] > 0 && c12[1] > 0);
    double dq = fabs(q[1] - q[0]), dp = fabs(p[1] - p[0]);
    double share = dq + dp > 0 ? dq / (dq + dp) : 0.5;
    for (int k = 0; k < 2; k++) {
        s.c6[k] = c6[k];
        s.c12[k] = c12[k];
        s.reach[k] = soft ? soft_reach(rule, c6[k], c12[k]) : 0;
        s.qq[k] = f * q[k] * p[k];
        s.reach_coulomb[k] = soft ? soft_reach_coulomb(rule, s.reach[k], s.qq[k]) : 0;
    }
    int other_ends = q[0] * p[0] == 0 && q[1] * p[1] == 0;
    s.cross[0] = other_ends ? 0 : f * (share * (q[0] * p[1]) + (1 - share) * (q[1] * p[0]));
    s.cross[1] = other_ends ? 0 : f * (share * (q[1] * p[0]) + (1 - share) * (q[0] * p[1]));
    return s;
}

/* l^p and its derivative. */
MATH_FN double soft_power(int power, double l)
{
    return power == 2 ? l * l : l;
}

MATH_FN double soft_slope(int power, double l)
{
    return power == 2 ? 2 * l : 1;
}

struct soft_result {
    double v, dv, fr; /* kJ/mol, dV/dlambda, force over r */
};

/* What state k adds to Lennard-Jones. */
MATH_FN void beutler_lj_state(enum vdw_modifier modifier, const struct lj_rule *rule, int power,
                              const struct soft_pair *s, int k, double l, double r2, struct soft_result *out)
{
    double r6 = r2 * r2 * r2, weight = k ? l : 1 - l, sign = k ? 1 : -1;
    double away = k ? 1 - l : l; /* how far from this end state */
    double ri = root_inverse_sixth(MATH_FMA(s->reach[k], soft_power(power, away), r6));
    double ri2 = ri * ri, v, rr = 1 / ri2;
    double fr = lj_pair(modifier, rule, s->c6[k], s->c12[k], rr, ri, &v);
    double in = rr < rule->cutoff * rule->cutoff ? 1.0 : 0.0;
    fr = in * fr * ri2 * ri2; /* dV/d(r^6) = -fr/6 */
    v = in * v;
    out->v = MATH_FMA(weight, v, out->v);
    out->fr = MATH_FMA(weight * fr, r2 * r2, out->fr);
    out->dv += sign * v + weight * sign * soft_slope(power, away) * s->reach[k] * fr * (1.0 / 6.0);
}

/* A state that is nothing adds nothing. */
MATH_FN int lj_is_nothing(const struct soft_pair *s, int k)
{
    return s->c6[k] == 0 && s->c12[k] == 0;
}

MATH_FN struct soft_result beutler_lj(enum vdw_modifier modifier, const struct lj_rule *rule, int power,
                                      const struct soft_pair *s, double l, double r2)
{
    struct soft_result out = {0, 0, 0};
    MATH_BOTH (k)
        beutler_lj_state(modifier, rule, power, s, k, l, r2, &out);
    return out;
}

/* And to Coulomb. */
MATH_FN void beutler_coulomb_state(const struct soft_rule *rule, const struct soft_pair *s, double shift, int k,
                                   double l, double r2, double long_v, double long_f, struct soft_result *out)
{
    double r6 = r2 * r2 * r2, lb = 1 - l;
    double near = k ? l : lb, away = k ? lb : l, sign = k ? 1 : -1;
    double part = near * MATH_FMA(near, s->qq[k], away * s->cross[k]);
    double dpart = sign * MATH_FMA(2 * near, s->qq[k], (away - near) * s->cross[k]);
    double reach = s->reach_coulomb[k];
    double ri = root_inverse_sixth(MATH_FMA(reach, soft_power(rule->power, away), r6));
    double ri2 = ri * ri, ri7 = ri2 * ri2 * ri2 * ri;
    double v = ri - shift - long_v;
    out->v = MATH_FMA(part, v, out->v);
    out->dv = MATH_FMA(dpart, v, out->dv) + part * sign * soft_slope(rule->power, away) * reach * ri7 * (1.0 / 6.0);
    out->fr = MATH_FMA(part, MATH_FMA(ri7, r2 * r2, -long_f), out->fr);
}

MATH_FN int coulomb_is_nothing(const struct soft_pair *s, int k)
{
    return s->qq[k] == 0 && s->cross[k] == 0;
}

MATH_FN struct soft_result beutler_coulomb(const struct soft_rule *rule, const struct soft_pair *s, double shift,
                                           double l, double r2, double long_v, double long_f)
{
    struct soft_result out = {0, 0, 0};
    MATH_BOTH (k)
        beutler_coulomb_state(rule, s, shift, k, l, r2, long_v, long_f, &out);
    return out;
}

MATH_FN struct soft_result beutler_field_coulomb(const struct soft_rule *rule, const struct soft_pair *s, double shift,
                                                 double l, double r2)
{
    struct soft_result out = {0, 0, 0};
    double r6 = r2 * r2 * r2, lb = 1 - l;
    MATH_BOTH (k) {
        double near = k ? l : lb, away = k ? lb : l, sign = k ? 1 : -1;
        double part = near * MATH_FMA(near, s->qq[k], away * s->cross[k]);
        double dpart = sign * MATH_FMA(2 * near, s->qq[k], (away - near) * s->cross[k]);
        double soft6 = MATH_FMA(s->reach_coulomb[k], soft_power(rule->power, away), r6);
        double in = soft6 < rule->farthest6 ? 1.0 : 0.0;
        double ri = root_inverse_sixth(soft6), ri2 = ri * ri, ri4 = ri2 * ri2;
        double v = in * (MATH_FMA(rule->field, 1 / ri2, ri) - shift);
        double slope = in * ri4 * MATH_FMA(ri2, ri, -2 * rule->field); /* -dv/d(r^6), times 6 */
        out.v = MATH_FMA(part, v, out.v);
        out.dv = MATH_FMA(dpart, v, out.dv) +
                 part * sign * soft_slope(rule->power, away) * s->reach_coulomb[k] * slope * (1.0 / 6.0);
        out.fr = MATH_FMA(part, slope * r2 * r2, out.fr);
    }
    return out;
}

/* Where a state is computed: at the distance r, or at R, to be continued from there. */
struct soft_point {
    double ri, r; /* its inverse and itself, nm */
    double d;     /* distance of the pair from it: 0, or less where it is R */
    double moves; /* 1/away where R depends on lambda, else 0 */
};

/* away: how far from this end state; farthest6: what R^6 is at most. */
MATH_FN struct soft_point soft_point_of(double reach, double away, double farthest6, double r2, double r)
{
    struct soft_point at;
    double r6 = r2 * r2 * r2, want = reach * away, point6 = want < farthest6 ? want : farthest6;
    int soft = point6 > r6;
    at.ri = root_inverse_sixth(soft ? point6 : r6);
    at.r = soft ? 1 / at.ri : r;
    at.d = soft ? r - at.r : 0;
    at.moves = soft && want < farthest6 ? 1 / away : 0;
    return at;
}

MATH_FN struct soft_result gapsys_lj(enum vdw_modifier modifier, const struct lj_rule *rule, const struct soft_pair *s,
                                     double l, double r2)
{
    struct soft_result out = {0, 0, 0};
    double ri = root_inverse(r2), r = r2 * ri, start2 = rule->start * rule->start;
    double in = r2 < rule->cutoff * rule->cutoff ? 1.0 : 0.0;
    MATH_BOTH (k) {
        double weight = k ? l : 1 - l, away = k ? 1 - l : l, sign = k ? 1 : -1, v;
        struct soft_point at = soft_point_of(s->reach[k], away, start2 * start2 * start2, r2, r);
        double fr = lj_pair(modifier, rule, s->c6[k], s->c12[k], at.r * at.r, at.ri, &v);
        double ri2 = at.ri * at.ri, ri6 = ri2 * ri2 * ri2, v6 = s->c6[k] * ri6, v12 = s->c12[k] * ri6 * ri6;
        double bend = ri2 * MATH_FMA(156, v12, -42 * v6); /* second derivative of v */
        v = MATH_FMA(at.d, MATH_FMA(0.5 * bend, at.d, -fr * at.r), v);
        out.v = MATH_FMA(weight, in * v, out.v);
        out.fr = MATH_FMA(weight, in * MATH_FMA(fr, at.r, -bend * at.d) * ri, out.fr);
        /* dV/dR is half the third derivative times d^2, dR/daway = R/(6 away) */
        double moved = ri2 * MATH_FMA(182, v12, -28 * v6) * at.d * at.d * at.moves;
        out.dv += sign * in * MATH_FMA(weight, moved, v);
    }
    return out;
}

MATH_FN struct soft_result gapsys_coulomb(const struct soft_rule *rule, const struct soft_pair *s, double shift,
                                          double l, double r2, double long_v, double long_f)
{
    struct soft_result out = {0, 0, 0};
    double ri = root_inverse(r2), r = r2 * ri;
    MATH_BOTH (k) {
        double near = k ? l : 1 - l, away = k ? 1 - l : l, sign = k ? 1 : -1;
        double part = near * MATH_FMA(near, s->qq[k], away * s->cross[k]);
        double dpart = sign * MATH_FMA(2 * near, s->qq[k], (away - near) * s->cross[k]);
        struct soft_point at = soft_point_of(s->reach_coulomb[k], away, rule->farthest6, r2, r);
        double ri2 = at.ri * at.ri, ri3 = ri2 * at.ri;
        double v = MATH_FMA(at.d, MATH_FMA(ri3, at.d, -ri2), at.ri) - shift - long_v;
        out.v = MATH_FMA(part, v, out.v);
        out.fr = MATH_FMA(part, MATH_FMA(MATH_FMA(-2 * ri3, at.d, ri2), ri, -long_f), out.fr);
        out.dv = MATH_FMA(dpart, v, out.dv) + part * sign * 0.5 * ri3 * at.d * at.d * at.moves;
    }
    return out;
}

/* LJ at vdw lambda l, real distance squared r2. `function` must be a constant where loops over it are to vectorise. */
MATH_FN struct soft_result soft_lj(enum soft_function function, enum vdw_modifier modifier, const struct lj_rule *rule,
                                   int power, const struct soft_pair *s, double l, double r2)
{
    return function == SOFT_GAPSYS ? gapsys_lj(modifier, rule, s, l, r2) : beutler_lj(modifier, rule, power, s, l, r2);
}

/* Coulomb inside the cut-off at Coulomb lambda l; long_v, long_f: the reciprocal part's share at r (ewald.h). */
MATH_FN struct soft_result soft_coulomb(enum soft_function function, const struct soft_rule *rule,
                                        const struct soft_pair *s, double shift, double l, double r2, double long_v,
                                        double long_f)
{
    if (function == SOFT_GAPSYS)
        return gapsys_coulomb(rule, s, shift, l, r2, long_v, long_f);
    if (function == SOFT_BEUTLER_FIELD)
        return beutler_field_coulomb(rule, s, shift, l, r2);
    return beutler_coulomb(rule, s, shift, l, r2, long_v, long_f);
}

#endif
