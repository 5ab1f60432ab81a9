/* SPDX-License-Identifier: Apache-2.0
 *
 * How strong forces of plain pairs can be: from which distance on they fit the 32-bit sums of the pair kernels, and in
 * what unit.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/cuda/pairs/pairs.h"
#include "engine/math/potentials/lj.h"

#define SCAN 0.002 /* nm, steps in which forces are looked at */
#define SHELL 0.01 /* nm, steps in which forces are added up */

enum {
    FORCE_BITS = 14, /* pair forces are rounded to 2^-14 kJ/mol/nm, if what an atom can meet allows it */
};

struct strength {
    const struct pair_table *h;
    const struct alchemy_plan *plan;
    bool *used;     /* [ntypes] by some plain atom; NULL: no LJ */
    double product; /* largest of two charges, kJ nm/mol */
};

/* No pair of plain atoms at distance r has a stronger force, kJ/mol/nm. */
static double strongest(const struct strength *s, double r)
{
    const struct pair_table *h = s->h;
    double r2 = r * r, coulomb = 0, lj = 0, v;
    if (r < h->coulomb_cutoff)
        coulomb = s->product * fabs(1 / (r * r2) - ewald_long_f(&h->ewald, EWALD_TERMS, r2)) * r;
    for (int a = 0; s->used && a < h->ntypes; a++)
        for (int b = a; s->used[a] && b < h->ntypes; b++) {
            const struct lj *pair = &s->plan->lj[a * h->ntypes + b];
            if (s->used[b] && r < h->vdw_cutoff)
                lj = fmax(
                    lj,
                    fabs(lj_pair((enum vdw_modifier)h->modifier, &h->lj_rule, pair->c6, pair->c12, r2, 1 / r, &v)) * r);
        }
    return coulomb + lj;
}

/* From which distance on all forces stay below the limit. */
static double strong_reach(const struct strength *s, double limit)
{
    double r = s->h->cutoff;
    while (r > SCAN && strongest(s, r) < limit)
        r -= SCAN;
    return r + SCAN;
}

/* What the 32-bit sums of one atom may have to hold, kJ/mol/nm, in a liquid half as dense again: of each pair what
 * these take of it (PAIR_LIMIT), within `reach` all pulling one way, beyond it, where there are many, all to one side,
 * so that half of it is along an axis. */
static double crowd(const struct strength *s, double reach, double density)
{
    double sum = 0, packed = 1.5 * fmax(density, 100);
    for (double r = 0.5 * SHELL; r < s->h->cutoff; r += SHELL)
        sum += (r < reach ? 1 : 0.5) * 4 * M_PI * r * r * SHELL * packed * fmin(strongest(s, r), PAIR_LIMIT);
    return sum;
}

/* Where forces that one atom of a water meets need more bits, beside what atoms go meanwhile. */
static void set_near(struct pairs *p, const struct alchemy_plan *plan, double limit, double reach)
{
    struct pair_table *h = &p->host;
    const double oxygen = fabs(p->water_charge[0]), hydrogen = fabs(p->water_charge[1]);
    bool *used = xcalloc((size_t)h->ntypes, sizeof *used);
    if (h->nwaters)
        used[p->water_type[0]] = true;
    const double strongest = fmax(oxygen, hydrogen);
    const struct strength first = {h, plan, used, UNIT_COULOMB * oxygen * strongest},
                          other = {h, plan, NULL, UNIT_COULOMB * hydrogen * strongest};
    const double of_water[LIST_KINDS] = {strong_reach(&first, limit), strong_reach(&other, limit), reach};
    for (int from = 0; from < 2; from++)
        for (int kind = 0; kind < LIST_KINDS; kind++)
            h->near[from][kind] =
                (from ? reach : of_water[kind]) + h->buffer[from ? OTHER_ATOM : WATER_OTHER] + h->buffer[kind] + 1e-4;
    free(used);
}

void pairs_set_force_unit(struct pairs *p, const struct alchemy_plan *plan)
{
    struct pair_table *h = &p->host;
    struct strength s = {h, plan, xcalloc((size_t)h->ntypes, sizeof *s.used), 0};
    double charge = 0;
    for (int k = 0; k < plan->nplain; k++) {
        s.used[plan->type[0][plan->plain[k]]] = true;
        charge = fmax(charge, fabs(plan->charge[plan->plain[k]]));
    }
    s.product = UNIT_COULOMB * charge * charge;
    for (int bits = FORCE_BITS; bits > 0; bits--) {
        const double limit = 0.95 * exp2(22 - bits), reach = strong_reach(&s, limit);
        h->force_shift = 32 - bits;
        set_near(p, plan, limit, reach);
        if (crowd(&s, reach, p->density) < exp2(31 - bits))
            break;
    }
    free(s.used);
}
