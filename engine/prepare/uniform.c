/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/uniform.h"

#include <math.h>

#include "engine/base/units.h"
#include "engine/prepare/dispersion.h"
#include "engine/prepare/ewald.h"

/* A product of two charges in powers of lambda. */
static void add_product(struct uniform_table *u, double scale, const struct alchemy_plan *plan, int i, int j)
{
    double q = plan->charge[i], d = plan->change[i], o = plan->charge[j], p = plan->change[j];
    u->self[0] += scale * q * o;
    u->self[1] += i == j ? scale * 2 * q * d : scale * (q * p + d * o);
    u->self[2] += scale * d * p;
}

/* A reaction field is that of excluded pairs too, and of an atom with itself, half: they get k r^2 with other pairs
 * (engine/prepare/ewald.h), and -c here. */
void uniform_table_make(struct uniform_table *u, const struct alchemy_plan *plan, const struct nonbonded_settings *set)
{
    bool field = set->coulomb_method == COULOMB_REACTION_FIELD;
    *u = (struct uniform_table){.beta = field ? INFINITY : ewald_beta(set->coulomb_cutoff, set->ewald_tolerance)};
    double c = field ? reaction_field_of(set).c : 0;
    double scale = field ? -UNIT_COULOMB * 0.5 * c : -UNIT_COULOMB * u->beta / sqrt(M_PI);
    for (int i = 0; i < plan->natoms; i++) {
        add_product(u, scale, plan, i, i);
        u->net[0] += plan->charge[i];
        u->net[1] += plan->change[i];
    }
    for (int k = 0; k < plan->nexcluded && field; k++)
        add_product(u, -UNIT_COULOMB * c, plan, plan->excluded[k].atom[0], plan->excluded[k].atom[1]);
    for (int k = 0; k < plan->nexcluded_perturbed && field; k++)
        add_product(u, -UNIT_COULOMB * c, plan, plan->excluded_perturbed[k].atom[0],
                    plan->excluded_perturbed[k].atom[1]);
    dispersion_make(&u->dispersion, plan, set);
}
