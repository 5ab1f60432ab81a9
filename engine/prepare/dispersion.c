/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/dispersion.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"

/* A, B and the shift of the force-switch of r^-p (GROMACS reference manual, eqs. for the modified potentials). */
static void force_switch(double p, double start, double cutoff, double *a, double *b, double *shift)
{
    double w = cutoff - start, rp = pow(cutoff, p + 2);
    *a = -p * ((p + 4) * cutoff - (p + 1) * start) / (rp * w * w);
    *b = p * ((p + 3) * cutoff - (p + 1) * start) / (rp * w * w * w);
    *shift = pow(cutoff, -p) - *a / 3 * w * w * w - *b / 4 * w * w * w * w;
}

void lj_rule_make(struct lj_rule *rule, const struct nonbonded_settings *set)
{
    *rule = (struct lj_rule){.cutoff = set->vdw_cutoff, .start = set->vdw_cutoff};
    switch (set->vdw_modifier) {
    case VDW_CUTOFF:
        break;
    case VDW_POTENTIAL_SHIFT:
        rule->shift6 = pow(set->vdw_cutoff, -6);
        rule->shift12 = pow(set->vdw_cutoff, -12);
        break;
    case VDW_POTENTIAL_SWITCH:
        rule->start = set->vdw_switch;
        rule->inverse_width = 1 / (set->vdw_cutoff - set->vdw_switch);
        break;
    case VDW_FORCE_SWITCH:
        rule->start = set->vdw_switch;
        force_switch(6, set->vdw_switch, set->vdw_cutoff, &rule->a6, &rule->b6, &rule->shift6);
        force_switch(12, set->vdw_switch, set->vdw_cutoff, &rule->a12, &rule->b12, &rule->shift12);
        break;
    }
}

/* Potential of one power as the modifier leaves it, below the cut-off, and its derivative; power 6 is attractive. */
static double modified(enum vdw_modifier modifier, const struct lj_rule *rule, int power, double r, double *slope)
{
    double v, c6 = power == 6, c12 = power == 12;
    *slope = -r * lj_pair(modifier, rule, c6, c12, r * r, 1 / r, &v);
    return v;
}

/* Integrals over space of V_full - V_used (energy) and of r d/dr of it (virial), for c6 or c12 of one. Below `start`
 * the difference is the constant shift; between start and cut-off Simpson's rule on the smooth difference; beyond,
 * V_full. */
static void tail(enum vdw_modifier modifier, const struct lj_rule *rule, int power, double *energy, double *virial,
                 double *shift)
{
    const int steps = 20000;
    double sign = power == 6 ? -1 : 1, rc = rule->cutoff, h = (rc - rule->start) / steps;
    *shift = sign * (power == 6 ? rule->shift6 : rule->shift12);
    *energy = *shift * 4 * M_PI / 3 * pow(rule->start, 3);
    *virial = 0;
    for (int k = 0; h > 0 && k <= steps; k++) {
        double r = rule->start + h * k, slope, v = modified(modifier, rule, power, r, &slope);
        double weight = h / 3 * (k == 0 || k == steps ? 1 : k % 2 ? 4 : 2) * 4 * M_PI * r * r;
        *energy += weight * (sign * pow(r, -power) - v);
        *virial += weight * r * (-power * sign * pow(r, -power - 1) - slope);
    }
    *energy += sign * 4 * M_PI / (power - 3) * pow(rc, 3 - power);
    *virial -= sign * power * 4 * M_PI / (power - 3) * pow(rc, 3 - power);
}

/* Mean c6 and c12 over all pairs of atoms that are not excluded, in one end state. */
static struct lj mean(const struct alchemy_plan *p, int state)
{
    double *count = xcalloc((size_t)p->ntypes, sizeof *count), pairs = 0, c6 = 0, c12 = 0;
    for (int i = 0; i < p->natoms; i++)
        count[p->type[state][i]]++;
    for (int s = 0; s < p->ntypes; s++)
        for (int t = s; t < p->ntypes; t++) {
            double n = s == t ? count[s] * (count[s] - 1) / 2 : count[s] * count[t];
            pairs += n;
            c6 += n * p->lj[s * p->ntypes + t].c6;
            c12 += n * p->lj[s * p->ntypes + t].c12;
        }
    free(count);
    for (int i = 0; i < p->natoms; i++)
        for (int k = p->exclusion_start[i]; k < p->exclusion_start[i + 1]; k++) {
            if (p->exclusion[k] <= i)
                continue;
            const struct lj *lj = &p->lj[p->type[state][i] * p->ntypes + p->type[state][p->exclusion[k]]];
            pairs--;
            c6 -= lj->c6;
            c12 -= lj->c12;
        }
    return pairs > 0 ? (struct lj){c6 / pairs, c12 / pairs} : (struct lj){0, 0};
}

void dispersion_make(struct nb_dispersion *d, const struct alchemy_plan *p, const struct nonbonded_settings *set)
{
    *d = (struct nb_dispersion){0};
    if (set->dispersion == DISPERSION_NONE)
        return;
    struct lj_rule rule;
    lj_rule_make(&rule, set);
    double half = 0.5 * p->natoms, n = p->natoms, energy[2], virial[2], shift[2];
    tail(set->vdw_modifier, &rule, 6, &energy[0], &virial[0], &shift[0]);
    tail(set->vdw_modifier, &rule, 12, &energy[1], &virial[1], &shift[1]);
    for (int s = 0; s < 2; s++) {
        struct lj c = mean(p, s);
        if (set->dispersion != DISPERSION_ALL)
            c.c12 = 0;
        /* an atom is not its own neighbour: the constant shift counts N - 1 others */
        d->energy[s][0] = half * n * (c.c6 * energy[0] + c.c12 * energy[1]);
        d->energy[s][1] = -half * (c.c6 * shift[0] + c.c12 * shift[1]);
        if (set->dispersion != DISPERSION_ENERGY) /* Xi = 1/2 sum of r dV/dr, a third of it on each diagonal element */
            d->virial[s] = half * n * (c.c6 * virial[0] + c.c12 * virial[1]) / 6;
    }
}
