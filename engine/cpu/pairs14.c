/* SPDX-License-Identifier: Apache-2.0
 *
 * LJ-14 and Coulomb-14 on the CPU device: plain LJ and 1/r at any distance, parameters as given (fudge factors applied).
 */
#include "engine/base/units.h"
#include "engine/cpu/bonded.h"
#include "engine/math/vec.h"

static void plain(struct pass *p, const struct pair14 *pair)
{
    double dx[3];
    vec_image(p->x[pair->atom[0]], p->x[pair->atom[1]], p->ctl->box, dx);
    double ri2 = 1 / vec_dot(dx, dx), ri6 = ri2 * ri2 * ri2;
    double v6 = pair->lj[0].c6 * ri6, v12 = pair->lj[0].c12 * ri6 * ri6;
    double coulomb = UNIT_COULOMB * pair->qq[0] * sqrt(ri2);
    pass_pair_force(p, pair->atom, dx, (12 * v12 - 6 * v6 + coulomb) * ri2);
    if (!p->energies)
        return;
    acc_energy(&p->sum, TERM_LJ_14, v12 - v6);
    acc_energy(&p->sum, TERM_COULOMB_14, coulomb);
}

void pass_pairs14(struct pass *p)
{
    for (uint32_t i = 0; i < p->t->npairs14.perturbed; i++)
        plain(p, &p->t->pairs14[i]);
}
