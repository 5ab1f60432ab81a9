/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps, one atom at a time. Each device brings the loops.
 */
#ifndef SHOAL_ENGINE_KERNELS_MOTION_H
#define SHOAL_ENGINE_KERNELS_MOTION_H

#include "engine/kernels/constraints.h"
#include "engine/math/fixed.h"
#include "engine/math/philox.h"

#define VELOCITY_TOLERANCE 1e-10 /* nm/ps left along a constraint */

/* v += scale f / m */
MATH_FN void motion_kick(const struct masses *masses, int i, const int64_t f[3], double v[3], double scale)
{
    double s = scale / (FIXED_SCALE * mass_of(masses, i));
    for (int d = 0; d < 3; d++)
        v[d] += s * (double)f[d];
}

/* Friction and noise of one step of Langevin-middle (Zhang et al. 2019, doi 10.1021/acs.jpca.9b02771). */
struct langevin_rule {
    double keep;   /* of the velocity */
    double spread; /* kT (1 - keep^2) */
    double half;   /* half a timestep, ps */
};

MATH_FN struct langevin_rule langevin_rule_of(double timestep, double friction, double kt)
{
    struct langevin_rule r;
    r.keep = exp(-friction * timestep);
    r.spread = kt * (1 - r.keep * r.keep);
    r.half = 0.5 * timestep;
    return r;
}

/* Half a drift, friction and noise, half a drift. noise: three standard normal deviates. */
MATH_FN void motion_langevin(const struct langevin_rule *r, double mass, const double noise[3], double x[3],
                             double v[3])
{
    double s = sqrt(r->spread / mass);
    for (int d = 0; d < 3; d++) {
        double after = r->keep * v[d] + s * noise[d];
        x[d] += r->half * v[d] + r->half * after;
        v[d] = after;
    }
}

/* No atom moves half a box in one step. -1: it did not; else the first dimension in which it did, also for what is not a
 * number. */
MATH_FN int motion_thrown_out(const double box[BOX_SIZE], const double x_old[3], const double x[3])
{
    double limit = 0.5 * box_least_edge(box);
    for (int d = 0; d < 3; d++)
        if (!(fabs(x[d] - x_old[d]) < limit))
            return d;
    return -1;
}

/* A step is done. */
MATH_FN void motion_end(struct ctl *c)
{
    c->step++;
    c->done++;
    c->moving = 1;
    c->min_steps = 0;
}

#endif
