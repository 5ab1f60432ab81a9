/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps on the CPU device.
 */
#include <math.h>
#include <string.h>

#include "engine/cpu/motion/constrain.h"
#include "engine/cpu/motion/noise.h"
#include "engine/cpu/kernels.h"
#include "engine/kernels/motion.h"
#include "engine/run/switches.h"

/* Virtual sites have no mass, no force and no velocity: they are placed. */
static bool moves(const struct masses *masses, uint32_t i)
{
    return mass_of(masses, (int)i) > 0;
}

/* v += scale f / m */
static void kick(const struct motion_table *m, const struct masses *masses, const int64_t (*f)[3], double (*v)[3],
                 double scale)
{
    for (uint32_t i = 0; i < m->natoms; i++)
        if (moves(masses, i))
            motion_kick(masses, (int)i, f[i], v[i], scale);
}

static void halt_constraint(struct ctl *c, const struct constrain_failure *bad)
{
    ctl_halt(c, HALT_CONSTRAINT, (uint32_t)bad->atom[0], (uint32_t)bad->atom[1], bad->deviation);
}

/* A step may begin: forces are sums of unclamped contributions. */
static bool forces_good(struct ctl *c)
{
    if (!c->halt && c->sum.overflow)
        ctl_halt(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    return !c->halt;
}

static bool moves_good(struct ctl *c, uint32_t natoms, const double (*x_old)[3], const double (*x)[3])
{
    for (uint32_t i = 0; i < natoms; i++) {
        int d = motion_thrown_out(c->box, x_old[i], x[i]);
        if (d >= 0) {
            ctl_halt(c, HALT_NONFINITE, i, i, x[i][d]);
            return false;
        }
    }
    return true;
}

static bool project(struct ctl *c, const struct motion_table *m, const struct masses *masses, const double (*x)[3],
                    double (*v)[3])
{
    struct constrain_failure bad;
    bool good = constrain_velocities(m, masses, x, v, VELOCITY_TOLERANCE, &bad);
    if (!good)
        halt_constraint(c, &bad);
    return good;
}

/* Onto the constraints, and the step is done. */
static void finish(struct ctl *c, const struct motion_table *m, const struct masses *masses, const double (*x_old)[3],
                   double (*x)[3], double (*v)[3], double timestep)
{
    struct constrain_failure bad;
    if (!moves_good(c, m->natoms, x_old, x))
        return;
    if (!constrain_positions(m, masses, c->lambda[LAMBDA_BONDED], x_old, x, v, 1 / timestep, NULL, &bad)) {
        halt_constraint(c, &bad);
        return;
    }
    motion_end(c);
    switch_follow(&m->schedule, c);
}

/* What a kernel of a timestep works on: its arguments. */
struct moving {
    struct ctl *c;
    const struct motion_table *m;
    const int64_t (*f)[3];
    double (*x)[3], (*v)[3], (*x_old)[3], (*noise)[3];
    double timestep;
};

/* The push and the drift of all atoms (engine/kernels/motion.h). */
static void drift(const struct moving *a, const struct masses *masses, const struct motion_rule *rule)
{
    for (uint32_t i = 0; i < a->m->natoms; i++) {
        const double mass = mass_of(masses, (int)i);
        if (!moves(masses, i))
            continue;
        if (rule)
            motion_langevin(rule, mass, a->noise[i], a->x[i], a->v[i]);
        else
            motion_verlet(a->timestep, mass, a->f[i], a->x[i], a->v[i]);
    }
}

/* One evaluation of forces, at the start of the step. Constraints as in RATTLE: on v after the first kick, on x at the
 * end. */
static void step(const struct moving *a, const struct motion_rule *rule)
{
    struct ctl *c = a->c;
    const struct motion_table *m = a->m;
    if (!forces_good(c))
        return;
    struct masses masses = masses_of(m, c);
    kick(m, &masses, a->f, a->v, motion_kick_due(rule != NULL, c->pending) * a->timestep);
    if (!project(c, m, &masses, a->x, a->v))
        return;
    if (rule)
        noise_fill(c->seed, c->replica, c->step, STREAM_TIMESTEP, m->natoms, a->noise);
    memcpy(a->x_old, a->x, m->natoms * sizeof *a->x);
    drift(a, &masses, rule);
    c->pending = motion_pending(rule != NULL);
    finish(c, m, &masses, a->x_old, a->x, a->v, a->timestep);
}

#define INTEGRATOR(name, word, kernel, ...)                                                                            \
    void cpu_##kernel(const struct launch *launch, const struct args_##kernel *a)                                      \
    {                                                                                                                  \
        const struct moving moving = {a->ctl, a->motion, a->f, a->x, a->v, a->x_old, a->w, a->timestep};               \
        const struct motion_rule rule = motion_rule_of(a->timestep, a->friction, a->kt);                               \
        step(&moving, motion_has_rule(INTEGRATOR_##name) ? &rule : NULL);                                              \
    }
#include "engine/system/integrators.def"

static void take_off_com(const struct motion_table *m, const struct masses *masses, double (*v)[3])
{
    double p[3] = {0, 0, 0}, total = 0;
    for (uint32_t i = 0; i < m->natoms; i++) {
        vec_add(p, mass_of(masses, (int)i), v[i]);
        total += mass_of(masses, (int)i);
    }
    for (uint32_t i = 0; i < m->natoms; i++)
        if (moves(masses, i))
            vec_add(v[i], -1 / total, p);
}

void cpu_remove_com(const struct launch *launch, const struct args_remove_com *a)
{
    struct ctl *c = a->ctl;
    if (c->halt || c->step % a->every != 0)
        return;
    struct masses masses = masses_of(a->motion, c);
    take_off_com(a->motion, &masses, a->v);
}

void cpu_thermalize(const struct launch *launch, const struct args_thermalize *a)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    double(*x)[3] = a->x, (*v)[3] = a->v, (*noise)[3] = a->w;
    if (c->halt)
        return;
    struct masses masses = masses_of(m, c);
    struct constrain_failure bad;
    memcpy(a->x_old, x, m->natoms * sizeof *x);
    if (!constrain_positions(m, &masses, c->lambda[LAMBDA_BONDED], a->x_old, x, NULL, 0, NULL, &bad)) {
        halt_constraint(c, &bad);
        return;
    }
    noise_fill(c->seed, c->replica, c->step, STREAM_THERMALIZE, m->natoms, noise);
    for (uint32_t i = 0; i < m->natoms; i++)
        for (int d = 0; d < 3; d++)
            v[i][d] = moves(&masses, i) ? sqrt(a->kt / mass_of(&masses, (int)i)) * noise[i][d] : 0;
    if (!project(c, m, &masses, x, v))
        return;
    if (a->remove_com)
        take_off_com(m, &masses, v);
    c->pending = PENDING_USUAL;
    c->min_steps = 0;
}

void cpu_half_kick(const struct launch *launch, const struct args_half_kick *a)
{
    struct ctl *c = a->ctl;
    if (!forces_good(c) || c->pending == PENDING_HALF)
        return;
    struct masses masses = masses_of(a->motion, c);
    kick(a->motion, &masses, a->f, a->v, 0.5 * a->timestep);
    c->pending = PENDING_HALF;
}

/* ---- what a sample says about motion ---- */

/* The linear share of the constraints in every window's energy. */
static void add_windows(const struct ctl *c, const struct motion_table *m, double constraint_dvdl,
                        struct fixed_sum *energy_at_window)
{
    for (uint32_t w = 0; w < m->nwindows; w++)
        acc_window(&energy_at_window[w], constraint_dvdl * (m->lambda[w][LAMBDA_BONDED] - c->lambda[LAMBDA_BONDED]),
                   FIXED_TOTAL_LIMIT);
}

/* Constraint forces, by free steps from x that are put back onto the constraints (struct motion_reaction). */
static bool react(const struct args_velocities *a, const struct masses *masses, struct reaction *out)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    double(*ahead)[3] = a->x_ahead, (*w)[3] = a->w, dt2 = a->timestep * a->timestep;
    const double(*v)[3] = a->v_out;
    for (uint32_t k = 0; k < a->ways; k++) {
        const struct motion_way way = motion_way_of(k, a->ways);
        struct reaction part = {0};
        struct constrain_failure bad;
        memset(w, 0, m->natoms * sizeof *w);
        kick(m, masses, a->f, w, 0.5 * way.force * a->timestep);
        memcpy(ahead, a->x, m->natoms * sizeof *ahead);
        for (uint32_t i = 0; i < m->natoms; i++) {
            vec_add(w[i], way.velocity, v[i]);
            vec_add(ahead[i], a->timestep, w[i]);
        }
        if (!constrain_positions(m, masses, c->lambda[LAMBDA_BONDED], a->x, ahead, NULL, 0, &part, &bad)) {
            halt_constraint(c, &bad);
            return false;
        }
        for (int i = 0; i < 9; i++)
            out->virial[i] += way.weight * part.virial[i] / dt2;
        out->du_dl += way.weight * part.du_dl / dt2;
    }
    return true;
}

void cpu_velocities(const struct launch *launch, const struct args_velocities *a)
{
    struct ctl *c = a->ctl;
    const struct motion_table *m = a->motion;
    double(*v)[3] = a->v_out;
    if (c->halt)
        return;
    struct masses masses = masses_of(m, c);
    struct reaction reaction = {0};
    memcpy(v, a->v, m->natoms * sizeof *v);
    if (c->pending == PENDING_SECOND)
        kick(m, &masses, a->f, v, 0.5 * a->timestep);
    if (!project(c, m, &masses, a->x, v))
        return;
    if (c->moving && !react(a, &masses, &reaction))
        return;
    double kinetic = 0;
    for (uint32_t i = 0; i < m->natoms; i++)
        kinetic += 0.5 * mass_of(&masses, (int)i) * vec_dot(v[i], v[i]);
    c->kinetic = kinetic;
    memcpy(c->constraint_virial, reaction.virial, sizeof c->constraint_virial);
    acc_dvdl_within(&c->sum, LAMBDA_BONDED, reaction.du_dl, FIXED_TOTAL_LIMIT);
    add_windows(c, m, reaction.du_dl, a->energy_at_window);
    c->done++;
}
