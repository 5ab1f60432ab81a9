/* SPDX-License-Identifier: Apache-2.0
 *
 * What depends on no distance: self energy of the Ewald sum, neutralizing background of a net charge, dispersion
 * correction.
 */
#ifndef SHOAL_ENGINE_KERNELS_UNIFORM_H
#define SHOAL_ENGINE_KERNELS_UNIFORM_H

#include "engine/base/units.h"
#include "engine/math/accumulate.h"
#include "engine/run/ctl.h"
#include "engine/prepare/device_tables.h"

struct uniform_energies {
    double self, background, dispersion, coulomb_slope, vdw_slope; /* slopes: with the lambdas */
};

MATH_FN struct uniform_energies uniform_at(const struct uniform_table *p, const double lambda[LAMBDA_COUNT],
                                           double volume)
{
    double l = lambda[LAMBDA_COULOMB], lv = lambda[LAMBDA_VDW], q = p->net[0] + l * p->net[1];
    /* the neutralizing background's energy, -pi f Q^2 / (2 beta^2 V) */
    double back = -M_PI * UNIT_COULOMB / (2 * p->beta * p->beta * volume);
    double tail[2];
    for (int s = 0; s < 2; s++)
        tail[s] = p->dispersion.energy[s][0] / volume + p->dispersion.energy[s][1];
    struct uniform_energies u;
    u.self = p->self[0] + l * (p->self[1] + l * p->self[2]);
    u.background = back * q * q;
    u.dispersion = (1 - lv) * tail[0] + lv * tail[1];
    u.coulomb_slope = p->self[1] + 2 * l * p->self[2] + 2 * back * q * p->net[1];
    u.vdw_slope = tail[1] - tail[0];
    return u;
}

/* Adds them to ctl. */
MATH_FN void uniform_add(const struct uniform_table *p, struct ctl *c)
{
    double volume = box_volume(c->box), lv = c->lambda[LAMBDA_VDW];
    struct uniform_energies u = uniform_at(p, c->lambda, volume);
    struct accumulate sum = {0};
    acc_energy_within(&sum, TERM_COULOMB, u.self, FIXED_TOTAL_LIMIT);
    acc_energy_within(&sum, TERM_COULOMB_RECIPROCAL, u.background, FIXED_TOTAL_LIMIT);
    acc_energy_within(&sum, TERM_DISPERSION_CORRECTION, u.dispersion, FIXED_TOTAL_LIMIT);
    acc_dvdl_within(&sum, LAMBDA_COULOMB, u.coulomb_slope, FIXED_TOTAL_LIMIT);
    acc_dvdl_within(&sum, LAMBDA_VDW, u.vdw_slope, FIXED_TOTAL_LIMIT);
    for (int d = 0; d < 3; d++) /* E ~ 1/V: P V = E = -2 Xi of one dimension */
        acc_virial_within(&sum, 4 * d, -0.5 * u.background, FIXED_TOTAL_LIMIT);
    acc_finish(&sum, &c->sum);
    double virial = ((1 - lv) * p->dispersion.virial[0] + lv * p->dispersion.virial[1]) / volume;
    c->pressure_correction += -2 * virial / volume * UNIT_BAR;
}

/* Adds their sum at another window. */
MATH_FN void uniform_at_window(const struct uniform_table *p, const struct ctl *c, const double lambda[LAMBDA_COUNT],
                               struct fixed_sum *window)
{
    struct uniform_energies u = uniform_at(p, lambda, box_volume(c->box));
    acc_window(window, u.self + u.background + u.dispersion, FIXED_TOTAL_LIMIT);
}

#endif
