/* SPDX-License-Identifier: Apache-2.0
 *
 * Lennard-Jones with the cut-off treatments of GROMACS (reference manual, "Modified non-bonded interactions"):
 *   V = c12 r^-12 - c6 r^-6, and with d = max(r - switch, 0), w = cutoff - switch
 *   potential-shift   V minus its value at the cut-off
 *   potential-switch  V (1 - 10 x^3 + 15 x^4 - 6 x^5), x = d/w
 *   force-switch      each power's force gets A d^2 + B d^3, which brings it and its slope to zero at the cut-off
 * Beyond the cut-off nothing: the caller masks.
 */
#ifndef SHOAL_ENGINE_MATH_POTENTIALS_LJ_H
#define SHOAL_ENGINE_MATH_POTENTIALS_LJ_H

#include "engine/math/fn.h"
#include "engine/math/terms.h"

/* r^2 of a pair, nm^2, and never zero: of atoms in one place it is so small that their forces and energies are clamped,
 * and so large that all that is computed from it is finite. Not seen otherwise. */
MATH_FN double pair_distance2(double dx, double dy, double dz)
{
    return MATH_FMA(dx, dx, MATH_FMA(dy, dy, MATH_FMA(dz, dz, 1e-20)));
}

struct lj_rule {
    double cutoff, start;    /* nm; start: where switching begins */
    double shift6, shift12;  /* taken off r^-6 and r^-12 (potential-shift, force-switch), nm^-6, nm^-12 */
    double a6, b6, a12, b12; /* force-switch: A and B of the two powers */
    double inverse_width;    /* 1/w, potential-switch */
};

/* Those of these numbers, but for the cut-off, that forces depend on: N(member) each. Loops in single precision have
 * them as arguments. */
#define LJ_RULE_OF_FORCES(N) N(start) N(inverse_width) N(a6) N(b6) N(a12) N(b12)

/* With r2 = r^2 and ri = 1/r: *v in kJ/mol, returns force over r, kJ/mol/nm^2. `modifier` must be a constant where it
 * is inlined, so that the branches vanish. */
MATH_FN double lj_pair(enum vdw_modifier modifier, const struct lj_rule *rule, double c6, double c12, double r2,
                       double ri, double *v)
{
    double ri2 = ri * ri, ri6 = ri2 * ri2 * ri2;
    double v6 = c6 * ri6, v12 = c12 * ri6 * ri6;
    double fr = MATH_FMA(12, v12, -6 * v6) * ri2;
    double e = v12 - v6;
    if (modifier == VDW_POTENTIAL_SWITCH) {
        double d = r2 * ri - rule->start;
        double x = (d > 0 ? d : 0) * rule->inverse_width;
        double x2 = x * x;
        double s = MATH_FMA(x2 * x, MATH_FMA(x, MATH_FMA(x, -6, 15), -10), 1);
        double ds = x2 * MATH_FMA(x, MATH_FMA(x, -30, 60), -30) * rule->inverse_width;
        fr = MATH_FMA(fr, s, -(e * ds) * ri);
        e = e * s;
    }
    if (modifier == VDW_POTENTIAL_SHIFT)
        e = MATH_FMA(c12, ri6 * ri6 - rule->shift12, -c6 * (ri6 - rule->shift6));
    if (modifier == VDW_FORCE_SWITCH) {
        double d = r2 * ri - rule->start;
        d = d > 0 ? d : 0;
        double d2 = d * d, d3 = d2 * d;
        double f6 = d2 * MATH_FMA(rule->b6, d, rule->a6), f12 = d2 * MATH_FMA(rule->b12, d, rule->a12);
        double p6 = d3 * MATH_FMA(rule->b6 * 0.25, d, rule->a6 * (1.0 / 3.0)) + rule->shift6;
        double p12 = d3 * MATH_FMA(rule->b12 * 0.25, d, rule->a12 * (1.0 / 3.0)) + rule->shift12;
        fr = MATH_FMA(MATH_FMA(c12, f12, -c6 * f6), ri, fr);
        e = MATH_FMA(c12, ri6 * ri6 - p12, -c6 * (ri6 - p6));
    }
    *v = e;
    return fr;
}

#endif
