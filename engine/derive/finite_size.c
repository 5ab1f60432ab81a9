/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/finite_size.h"

#include "engine/base/units.h"
#include "engine/prepare/alchemy.h"

/* Of a charge in a cubic lattice with a background: its energy is xi q^2 / (8 pi eps0 L). */
#define LATTICE -2.837297479480619

double net_charge(const struct system *sys, const struct alchemy_settings *al, int window)
{
    const double l = al->lambda ? al->lambda[window][LAMBDA_COULOMB] : 0;
    double sum = 0;
    for (int i = 0; i < sys->natoms; i++) {
        double end[2];
        alchemy_charges(sys, al, i, end);
        sum += (1 - l) * end[0] + l * end[1];
    }
    return sum;
}

struct finite_size finite_size_of(const struct system *sys, const struct settings *set)
{
    const struct alchemy_settings *al = &set->alchemy;
    struct finite_size f = {.edge = sys->box[BOX_XX], .dielectric = al->dielectric};
    for (int end = 0; end < 2; end++)
        f.charge[end] = net_charge(sys, al, end ? al->nwindows - 1 : 0);
    f.net = -0.5 * UNIT_COULOMB * LATTICE / f.edge * (f.charge[1] * f.charge[1] - f.charge[0] * f.charge[0]);
    f.usv = -f.net * (1 - 1 / f.dielectric);
    return f;
}
