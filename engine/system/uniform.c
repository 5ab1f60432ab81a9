/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/uniform.h"

#include <math.h>

#include "engine/base/units.h"
#include "engine/system/dispersion.h"
#include "engine/system/ewald.h"

void uniform_table_make(struct uniform_table *u, const struct alchemy_plan *plan, const struct nonbonded_settings *set)
{
    *u = (struct uniform_table){.beta = ewald_beta(set->coulomb_cutoff, set->ewald_tolerance)};
    double scale = -UNIT_COULOMB * u->beta / sqrt(M_PI);
    for (int i = 0; i < plan->natoms; i++) {
        double q = plan->charge[i], d = plan->change[i];
        u->self[0] += scale * q * q;
        u->self[1] += scale * 2 * q * d;
        u->self[2] += scale * d * d;
        u->net[0] += q;
        u->net[1] += d;
    }
    dispersion_make(&u->dispersion, plan, set);
}
