/* SPDX-License-Identifier: Apache-2.0
 *
 * Monte Carlo barostat (Chow and Ferguson 1995, doi 10.1016/0010-4655(95)00059-O; Aqvist et al. 2004): a volume change
 * drawn evenly from +-volume_scale moves every molecule's center of mass with the box; accepted with probability min(1,
 * exp(-(dU + P dV - N kT ln(V'/V)) / kT)), N molecules. volume_scale is adapted after every ten moves so that between a
 * quarter and three quarters are accepted, as OpenMM does, but not where results are gathered: moves whose size depends
 * on how the last ones went are no Markov chain. A move may scale some axes alone (enum volume_coupling): the pressure
 * is one, and the box finds its shape. Each device brings the loops over molecules.
 *
 * Volumes of few molecules differ by orders of magnitude, and no change of the volume suits them all. There the change
 * is drawn of ln V, evenly from +-volume_scale, and (N + 1) takes the place of N.
 */
#ifndef SHOAL_ENGINE_KERNELS_VOLUME_H
#define SHOAL_ENGINE_KERNELS_VOLUME_H

#include <stdbool.h>

#include "engine/kernels/constraints.h"
#include "engine/math/philox.h"

#define VOLUME_FIRST_SCALE 0.01 /* of the volume */
#define VOLUME_ROUND 10         /* moves after which it is adapted */
#define VOLUME_FEW 10           /* fewer molecules change ln V */
#define VOLUME_FEW_MOST 2.0     /* by no more than this */

MATH_FN struct philox volume_draw(const struct ctl *c)
{
    return philox_at(c->seed, c->replica, c->barostat_moves, STREAM_BAROSTAT, 0);
}

/* By how much lengths along each axis are to be scaled for volumes to go up by `ratio`: all alike, x and y alike or z,
 * or one of the axes, drawn for each move. */
MATH_FN void volume_share(const struct ctl *c, uint32_t coupling, double ratio, double along[3])
{
    struct philox r = philox_at(c->seed, c->replica, c->barostat_moves, STREAM_BAROSTAT, 1);
    double drawn = 3 * philox_uniform(r.word[0], r.word[1]);
    int axis = drawn < 1 ? 0 : drawn < 2 ? 1 : 2;
    bool plane = coupling == VOLUME_SEMI_ISOTROPIC && axis != 2;
    double length = coupling == VOLUME_ISOTROPIC ? cbrt(ratio) : plane ? sqrt(ratio) : ratio;
    for (int d = 0; d < 3; d++) {
        bool moves = coupling == VOLUME_ISOTROPIC || (plane ? d != 2 : d == axis);
        along[d] = moves ? length : 1;
    }
}

/* A box with its edges scaled along the axes. */
MATH_FN void volume_scale_box(double box[BOX_SIZE], const double along[3])
{
    box[BOX_XX] *= along[0];
    box[BOX_YX] *= along[0];
    box[BOX_ZX] *= along[0];
    box[BOX_YY] *= along[1];
    box[BOX_ZY] *= along[1];
    box[BOX_ZZ] *= along[2];
}

/* The trial volume over the volume; not above 0 where more was to be taken off than there is. */
MATH_FN double volume_ratio(struct ctl *c, uint32_t nunits)
{
    const bool few = nunits < VOLUME_FEW;
    if (c->volume_scale == 0)
        c->volume_scale = VOLUME_FIRST_SCALE * (few ? 1 : box_volume(c->box));
    if (few)
        c->volume_scale = fmin(c->volume_scale, VOLUME_FEW_MOST);
    struct philox r = volume_draw(c);
    double change = c->volume_scale * (2 * philox_uniform(r.word[0], r.word[1]) - 1);
    return few ? exp(change) : 1 + change / box_volume(c->box);
}

/* Keeps what is needed to go back, and says by how much lengths are to be scaled; by 1: the box stays (volume_refused),
 * since it would be too small. */
MATH_FN void volume_begin(struct ctl *c, uint32_t nunits, uint32_t coupling, struct box_limits limits, double along[3])
{
    const double ratio = volume_ratio(c, nunits);
    double trial[BOX_SIZE];
    volume_share(c, coupling, fmax(ratio, 0.0), along);
    c->energy_old = ctl_potential(c);
    for (int k = 0; k < BOX_SIZE; k++)
        trial[k] = c->box_old[k] = c->box[k];
    c->trial = 1;
    volume_scale_box(trial, along);
    if (!(ratio > 0 && 2 * box_cutoff_limit(trial) > limits.edge && box_least_width(trial) > limits.width))
        along[0] = along[1] = along[2] = 1;
}

/* Adds what atoms `from`, `from` + step, ... of a molecule are of sum: mass times place, and mass. */
MATH_FN void volume_sum_unit(const struct motion_table *m, uint32_t unit, uint32_t from, uint32_t step,
                             const struct masses *masses, const double (*x)[3], double sum[4])
{
    const int32_t *atom = m->unit_atoms + m->units[unit].first;
    for (uint32_t k = from; k < m->units[unit].count; k += step) {
        double mass = mass_of(masses, atom[k]);
        vec_add(sum, mass, x[atom[k]]);
        sum[3] += mass;
    }
}

/* Moves these atoms as the center of mass goes, which is sum[0..2] / sum[3], with the scaling of the box. */
MATH_FN void volume_shift_unit(const struct motion_table *m, uint32_t unit, uint32_t from, uint32_t step,
                               const double sum[4], const double along[3], double (*x)[3])
{
    const int32_t *atom = m->unit_atoms + m->units[unit].first;
    for (uint32_t k = from; k < m->units[unit].count; k += step)
        for (int d = 0; d < 3; d++)
            x[atom[k]][d] += (along[d] - 1) / sum[3] * sum[d];
}

/* Moves a molecule. */
MATH_FN void volume_move_unit(const struct motion_table *m, uint32_t unit, const struct masses *masses, double (*x)[3],
                              const double along[3])
{
    double sum[4] = {0, 0, 0, 0};
    volume_sum_unit(m, unit, 0, 1, masses, (const double(*)[3])x, sum);
    volume_shift_unit(m, unit, 0, 1, sum, along, x);
}

/* Before the decision: whether there was no trial, for want of room. */
MATH_FN bool volume_refused(const struct ctl *c)
{
    return box_volume(c->box_old) == box_volume(c->box);
}

/* After the energies at the trial: whether to stay there. pressure in kJ/mol/nm^3, kt in kJ/mol. */
MATH_FN bool volume_accepted(const struct ctl *c, uint32_t nunits, double pressure, double kt)
{
    double v0 = box_volume(c->box_old), v1 = box_volume(c->box);
    if (volume_refused(c) || c->sum.overflow)
        return false;
    double entropy = (nunits + (nunits < VOLUME_FEW)) * kt * log(v1 / v0);
    double w = ctl_potential(c) - c->energy_old + pressure * (v1 - v0) - entropy;
    struct philox r = volume_draw(c);
    return w <= 0 || philox_uniform(r.word[2], r.word[3]) < exp(-w / kt);
}

/* The move is over. */
MATH_FN void volume_end(struct ctl *c, bool yes, bool refused)
{
    c->trial = 0;
    c->done++;
    c->barostat_moves++;
    c->counted.tried++;
    c->counted.refused += refused;
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
