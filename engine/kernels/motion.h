/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps, one atom at a time. Each device brings the loops.
 */
#ifndef SHOAL_ENGINE_KERNELS_MOTION_H
#define SHOAL_ENGINE_KERNELS_MOTION_H

#include "engine/kernels/constraints.h"
#include "engine/math/fixed.h"
#include "engine/math/philox.h"
#include "engine/math/roots.h"
#include "engine/system/integrators.h"

#define VELOCITY_TOLERANCE 1e-10 /* nm/ps left along a constraint */

/* v += scale f / m */
MATH_FN void motion_kick(const struct masses *masses, int i, const int64_t f[3], double v[3], double scale)
{
    double s = scale / (FIXED_SCALE * mass_of(masses, i));
    for (int d = 0; d < 3; d++)
        v[d] += s * (double)f[d];
}

/* ---- integrators (engine/system/integrators.def) ----
 *
 * In a step the velocity of an atom is kicked and put onto the constraints. Then it gets a push, the atom drifts, and
 * its position is put onto the constraints. velocity Verlet   The kick is the half that the step before left
 * (ctl.pending), the push is the other half. Langevin-middle   The kick is a whole one, or what is left of it
 * (ctl.pending). The push is friction and noise, in the middle of the drift (Zhang et al. 2019, doi
 * 10.1021/acs.jpca.9b02771).
 */

/* The kick that a step begins with, in units of a whole one. rule: friction and noise. pending: enum pending_kick. */
MATH_FN double motion_kick_due(bool rule, uint32_t pending)
{
    if (rule)
        return pending == PENDING_HALF ? 0.5 : 1;
    return pending == PENDING_SECOND ? 0.5 : 0;
}

/* What is pending after it. */
MATH_FN uint32_t motion_pending(bool rule)
{
    return rule ? PENDING_USUAL : PENDING_SECOND;
}

/* Friction and noise of one step. A pointer to it is NULL for an integrator that has none, which is velocity Verlet. */
struct motion_rule {
    double keep;  /* of the velocity */
    double noise; /* sqrt(kT (1 - keep^2)), over the root of a mass */
    double half;  /* half a timestep, ps */
};

MATH_FN struct motion_rule motion_rule_of(double timestep, double friction, double kt)
{
    struct motion_rule r;
    r.keep = exp(-friction * timestep);
    r.noise = sqrt(kt * (1 - r.keep * r.keep));
    r.half = 0.5 * timestep;
    return r;
}

/* Whether an integrator has such a rule. kind: enum integrator. */
MATH_FN bool motion_has_rule(uint32_t kind)
{
    switch (kind) {
#define INTEGRATOR(name, word, kernel, thermostat, ...)                                                                \
    case INTEGRATOR_##name:                                                                                            \
        return THERMOSTAT_##thermostat == THERMOSTAT_FRICTION;
#include "engine/system/integrators.def"
    }
    return false;
}

#define REACTION_TIMESTEP 5e-4 /* ps */

/* A sample finds constraint forces by free steps (kernel velocities). Velocity Verlet: by a step of its own, so that
 * they are those of GROMACS' md-vv. Others, whose velocities are not those at the time of x: by the second difference
 * of short steps forwards, backwards and of none, which takes out by how much lengths are off as it is. By a step of 4
 * fs pressures of water would be 50 bar too high. */
struct motion_reaction {
    double timestep; /* ps */
    uint32_t ways;   /* 1 or 3 */
};

/* kind: enum integrator. */
MATH_FN struct motion_reaction motion_reaction_of(uint32_t kind, double timestep)
{
    struct motion_reaction r = {timestep, 1};
    if (motion_has_rule(kind)) {
        r.timestep = timestep > REACTION_TIMESTEP ? REACTION_TIMESTEP : timestep;
        r.ways = 3;
    }
    return r;
}

/* One of these steps. */
struct motion_way {
    double velocity, force; /* shares of them in it */
    double weight; /* of masses times the displacements back onto the constraints; summed, that is force times dt^2 */
};

MATH_FN struct motion_way motion_way_of(uint32_t k, uint32_t ways)
{
    struct motion_way w = {1, 1, 1};
    if (ways == 1)
        w.weight = 2;
    else if (k == 1)
        w.velocity = -1;
    else if (k == 2) {
        w.velocity = w.force = 0;
        w.weight = -2;
    }
    return w;
}

/* The push and the drift, without a rule. f: of the atom, in fixed point. */
MATH_FN void motion_verlet(double timestep, double mass, const int64_t f[3], double x[3], double v[3])
{
    double s = 0.5 * timestep / (FIXED_SCALE * mass);
    for (int d = 0; d < 3; d++) {
        v[d] += s * (double)f[d];
        x[d] += timestep * v[d];
    }
}

/* The push and the drift, with a rule. noise: three standard normal deviates. */
MATH_FN void motion_langevin(const struct motion_rule *r, double mass, const double noise[3], double x[3], double v[3])
{
    double s = r->noise * root_inverse(mass);
    for (int d = 0; d < 3; d++) {
        double after = r->keep * v[d] + s * noise[d];
        x[d] += r->half * v[d] + r->half * after;
        v[d] = after;
    }
}

/* No atom moves half a box in one step. -1: it did not; else the first dimension in which it did, also for what is not
 * a number. */
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
