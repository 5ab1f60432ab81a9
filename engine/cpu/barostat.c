/* SPDX-License-Identifier: Apache-2.0
 *
 * Monte Carlo barostat (Chow and Ferguson 1995, doi 10.1016/0010-4655(95)00059-O; Aqvist et al. 2004): a volume change drawn
 * evenly from +-volume_scale moves every molecule's center of mass with the box; accepted with probability
 * min(1, exp(-(dU + P dV - N kT ln(V'/V)) / kT)), N molecules. volume_scale is adapted after every ten moves so that
 * between a quarter and three quarters are accepted, as OpenMM does.
 */
#include <math.h>
#include <string.h>

#include "engine/cpu/constrain.h"
#include "engine/cpu/kernels.h"
#include "engine/math/fixed.h"
#include "engine/math/philox.h"
#include "engine/math/vec.h"

#define FIRST_SCALE 0.01 /* of the volume */

static double volume(const double box[3])
{
    return box[0] * box[1] * box[2];
}

static struct philox draw(const struct ctl *c)
{
    return philox_at(c->seed, c->replica, c->barostat_moves, STREAM_BAROSTAT, 0);
}

static void move_units(const struct motion_table *m, const struct masses *masses, double (*x)[3], double scale)
{
    for (uint32_t u = 0; u < m->nunits; u++) {
        const int32_t *atom = m->unit_atoms + m->units[u].first;
        double com[3] = {0, 0, 0}, total = 0;
        for (uint32_t k = 0; k < m->units[u].count; k++) {
            double mass = mass_of(masses, atom[k]);
            vec_add(com, mass, x[atom[k]]);
            total += mass;
        }
        for (uint32_t k = 0; k < m->units[u].count; k++)
            vec_add(x[atom[k]], (scale - 1) / total, com);
    }
}

void cpu_volume_try(const struct launch *launch, const struct args_volume_try *a)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    if (!c->halt && c->overflow)
        ctl_halt(c, HALT_OVERFLOW, 0, 0, (double)c->overflow);
    if (c->halt)
        return;
    if (c->volume_scale == 0)
        c->volume_scale = FIRST_SCALE * volume(c->box);
    struct philox r = draw(c);
    double change = c->volume_scale * (2 * philox_uniform(r.word[0], r.word[1]) - 1);
    double scale = cbrt(1 + change / volume(c->box));
    c->energy_old = ctl_potential(c);
    memcpy(c->box_old, c->box, sizeof c->box);
    memcpy(a->x_old, a->x, m->natoms * 3 * sizeof(double));
    c->trial = 1;
    double shortest = fmin(fmin(c->box[0], c->box[1]), c->box[2]);
    if (!(scale * shortest > a->min_edge))
        return; /* the box stays: decide sees it and rejects */
    struct masses masses = masses_of(m, c);
    move_units(m, &masses, a->x, scale);
    for (int d = 0; d < 3; d++)
        c->box[d] *= scale;
}

static bool accepted(const struct ctl *c, const struct args_volume_decide *a)
{
    double v0 = volume(c->box_old), v1 = volume(c->box);
    if (v0 == v1 || c->overflow)
        return false;
    double w = ctl_potential(c) - c->energy_old + a->pressure * (v1 - v0) -
               ((const struct motion_table *)a->motion)->nunits * a->kt * log(v1 / v0);
    struct philox r = draw(c);
    return w <= 0 || philox_uniform(r.word[2], r.word[3]) < exp(-w / a->kt);
}

static void adapt(struct ctl *c)
{
    if (c->barostat_tried < 10)
        return;
    if (c->barostat_accepted < 0.25 * c->barostat_tried)
        c->volume_scale /= 1.1;
    else if (c->barostat_accepted > 0.75 * c->barostat_tried)
        c->volume_scale = fmin(c->volume_scale * 1.1, 0.3 * volume(c->box));
    else
        return;
    c->barostat_tried = c->barostat_accepted = 0;
}

void cpu_volume_decide(const struct launch *launch, const struct args_volume_decide *a)
{
    struct ctl *c = a->ctl;
    if (c->halt)
        return;
    bool yes = accepted(c, a);
    if (!yes) {
        memcpy(a->x, a->x_old, ((const struct motion_table *)a->motion)->natoms * 3 * sizeof(double));
        memcpy(c->box, c->box_old, sizeof c->box);
    }
    c->trial = 0;
    c->barostat_moves++;
    c->barostat_tried++;
    c->barostat_accepted += yes;
    adapt(c);
}
