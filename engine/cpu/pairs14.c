/* SPDX-License-Identifier: Apache-2.0
 *
 * LJ-14 and Coulomb-14 on the CPU device: plain LJ and 1/r at any distance, parameters as given (fudge factors applied).
 * Pairs that differ between A and B follow the Coulomb and vdw lambdas, with the soft core of other alchemical pairs.
 */
#include "engine/base/units.h"
#include "engine/cpu/bonded.h"
#include "engine/math/vec.h"

static void plain(struct bonded_pass *p, const struct pair14 *pair)
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

/* No cut-off. */
static const struct lj_rule everywhere = {.cutoff = INFINITY};

static void between_states(struct bonded_pass *p, const struct pair14 *pair, const struct soft_pair *s)
{
    const struct soft_rule *rule = &p->t->soft;
    double dx[3];
    vec_image(p->x[pair->atom[0]], p->x[pair->atom[1]], p->ctl->box, dx);
    double r2 = vec_dot(dx, dx), lv = p->ctl->lambda[LAMBDA_VDW], lc = p->ctl->lambda[LAMBDA_COULOMB];
    struct soft_result lj = soft_lj(VDW_CUTOFF, &everywhere, rule->power, s, lv, r2);
    struct soft_result coulomb = soft_coulomb(rule, s, 0, lc, r2, 0, 0);
    pass_pair_force(p, pair->atom, dx, lj.fr + coulomb.fr);
    if (!p->energies)
        return;
    acc_energy(&p->sum, TERM_LJ_14, lj.v);
    acc_energy(&p->sum, TERM_COULOMB_14, coulomb.v);
    acc_dvdl(&p->sum, LAMBDA_VDW, lj.dv);
    acc_dvdl(&p->sum, LAMBDA_COULOMB, coulomb.dv);
    for (uint32_t w = 0; p->sample && w < p->t->nwindows; w++) {
        const double *l = p->t->lambda[w];
        pass_window(p, w, soft_lj(VDW_CUTOFF, &everywhere, rule->power, s, l[LAMBDA_VDW], r2).v);
        pass_window(p, w, soft_coulomb(rule, s, 0, l[LAMBDA_COULOMB], r2, 0, 0).v);
    }
}

void pass_pairs14(struct bonded_pass *p)
{
    const struct term_list *n = &p->t->npairs14;
    for (uint32_t i = 0; i < n->perturbed; i++)
        plain(p, &p->t->pairs14[i]);
    for (uint32_t i = n->perturbed; i < n->count; i++)
        between_states(p, &p->t->pairs14[i], &p->t->soft14[i - n->perturbed]);
}
