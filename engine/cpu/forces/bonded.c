/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms on the CPU device: one pass over each list.
 */
#include "engine/cpu/kernels.h"
#include "engine/kernels/rare_terms.h"
#include "engine/run/program.h"

#define EACH(list, term)                                                                                               \
    for (uint32_t i = 0; i < p.t->list.count; i++)                                                                     \
    term(&p, i)

static void bonded_centers(struct bonded_pass *p, uint32_t i)
{
    double sum[2][3] = {{0}};
    centers_part(p, i, 0, 1, sum);
    centers_pull(p, i, 0, 1, sum);
}

void cpu_bonded(const struct launch *launch, const struct args_bonded *a)
{
    struct ctl *c = a->ctl;
    const struct bonded_table *t = a->terms;
    if (c->halt)
        return;
    struct bonded_pass p = {.ctl = c,
                            .t = t,
                            .x = a->x,
                            .f = a->f,
                            .energy_at_window = a->energy_at_window,
                            .lambda = c->lambda[LAMBDA_BONDED],
                            .mode = a->mode,
                            .soft = t->soft.function};
    EACH(nbonds, bonded_bond);
    EACH(nangles, bonded_angle_term);
    EACH(ndihedrals, bonded_dihedral_term);
    EACH(nrb_dihedrals, bonded_rb_term);
    EACH(nimpropers, bonded_improper_term);
    EACH(npairs14, bonded_pair14);
    EACH(nposition_restraints, bonded_position_restraint);
    EACH(nrare, bonded_rare);
    EACH(ncmaps, bonded_cmap);
    EACH(ncenters, bonded_centers);
    acc_finish(&p.sum, &c->sum);
}
