/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kinetic energy lacks where the motion of the center of mass is taken out every so often.
 */
#ifndef SHOAL_ENGINE_MATH_BODIES_CENTER_H
#define SHOAL_ENGINE_MATH_BODIES_CENTER_H

#include <math.h>
#include <stdint.h>

#include "engine/math/fn.h"

struct center_rule {
    double freedom; /* degrees of freedom of all motion */
    double kt;      /* of the thermostat, kJ/mol; 0: there is none */
    double regain;  /* 1/timestep, twice the friction */
    uint32_t every; /* timesteps between removals; 0: the motion stays */
    uint32_t pad_;
};

/* Degrees of freedom that the kinetic energy lacks at a timestep. Between two removals friction and noise give them
 * back: momentum is an Ornstein-Uhlenbeck process, whose variance after a time t is 1 - exp(-2 friction t) of that in
 * equilibrium. */
MATH_FN double center_missing(const struct center_rule *r, uint64_t step)
{
    return r->every ? 3 * exp(-r->regain * (double)(step % r->every)) : 0;
}

/* The mean kinetic energy of the missing motion, kJ/mol, at the temperature of the thermostat, or without one at that
 * of the other motion, which has `kinetic`. */
MATH_FN double center_kinetic(const struct center_rule *r, uint64_t step, double kinetic)
{
    const double missing = center_missing(r, step), left = r->freedom - missing;
    const double kt = r->kt > 0 ? r->kt : left > 0 ? 2 * kinetic / left : 0;
    return 0.5 * missing * kt;
}

#endif
