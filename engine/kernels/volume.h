/* SPDX-License-Identifier: Apache-2.0
 *
 * Monte Carlo barostat (Chow and Ferguson 1995, doi 10.1016/0010-4655(95)00059-O; Aqvist et al. 2004): a volume change drawn
 * evenly from +-volume_scale moves every molecule's center of mass with the box; accepted with probability
 * min(1, exp(-(dU + P dV - N kT ln(V'/V)) / kT)), N molecules. volume_scale is adapted after every ten moves so that
 * between a quarter and three quarters are accepted, as OpenMM does, but not where results are gathered: moves whose size
 * depends on how the last ones went are no Markov chain. Each device brings the loops over molecules.
 */
#ifndef SHOAL_ENGINE_KERNELS_VOLUME_H
#define SHOAL_ENGINE_KERNELS_VOLUME_H

#include <stdbool.h>

#include "engine/kernels/constraints.h"
#include "engine/math/philox.h"

#define VOLUME_FIRST_SCALE 0.01 /* of the volume */
#define VOLUME_ROUND 10         /* moves after which it is adapted */

MATH_FN struct philox volume_draw(const struct ctl *c)
{
    return philox_at(c->seed, c->replica, c->barostat_moves, STREAM_BAROSTAT, 0);
}

/* Keeps what is needed to go back, and returns by how much lengths are to be scaled; 1: the box stays, which the decision
 * rejects, since it would be too small for a cut-off of half of min_edge (nm). */
MATH_FN double volume_begin(struct ctl *c, double min_edge)
{
    if (c->volume_scale == 0)
        c->volume_scale = VOLUME_FIRST_SCALE * box_volume(c->box);
    struct philox r = volume_draw(c);
    double change = c->volume_scale * (2 * philox_uniform(r.word[0], r.word[1]) - 1);
    double scale = cbrt(1 + change / box_volume(c->box));
    c->energy_old = ctl_potential(c);
    for (int k = 0; k < BOX_SIZE; k++)
        c->box_old[k] = c->box[k];
    c->trial = 1;
    return 2 * scale * box_cutoff_limit(c->box) > min_edge ? scale : 1;
}

/* Moves a molecule's center of mass by the scaling of the box. */
MATH_FN void volume_move_unit(const struct motion_table *m, uint32_t unit, const struct masses *masses, double (*x)[3],
                              double scale)
{
    const int32_t *atom = m->unit_atoms + m->units[unit].first;
    double com[3] = {0, 0, 0}, total = 0;
    for (uint32_t k = 0; k < m->units[unit].count; k++) {
        double mass = mass_of(masses, atom[k]);
        vec_add(com, mass, x[atom[k]]);
        total += mass;
    }
    for (uint32_t k = 0; k < m->units[unit].count; k++)
        vec_add(x[atom[k]], (scale - 1) / total, com);
}

/* After the energies at the trial: whether to stay there. pressure in kJ/mol/nm^3, kt in kJ/mol. */
MATH_FN bool volume_accepted(const struct ctl *c, uint32_t nunits, double pressure, double kt)
{
    double v0 = box_volume(c->box_old), v1 = box_volume(c->box);
    if (v0 == v1 || c->sum.overflow)
        return false;
    double w = ctl_potential(c) - c->energy_old + pressure * (v1 - v0) - nunits * kt * log(v1 / v0);
    struct philox r = volume_draw(c);
    return w <= 0 || philox_uniform(r.word[2], r.word[3]) < exp(-w / kt);
}

/* The move is over. */
MATH_FN void volume_end(struct ctl *c, bool yes)
{
    c->trial = 0;
    c->done++;
    c->barostat_moves++;
    c->barostat_tried++;
    c->barostat_accepted += yes;
    if (c->volume_fixed || c->barostat_tried < VOLUME_ROUND)
        return;
    if (c->barostat_accepted < 0.25 * c->barostat_tried)
        c->volume_scale /= 1.1;
    else if (c->barostat_accepted > 0.75 * c->barostat_tried)
        c->volume_scale = fmin(c->volume_scale * 1.1, 0.3 * box_volume(c->box));
    else
        return;
    c->barostat_tried = c->barostat_accepted = 0;
}

#endif
