/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps on a GPU: a thread for each body, which is a rigid water, a cluster of constraints or a lone atom; nothing in a
 * step couples two bodies. What needs all of them (the end of the step, the center-of-mass motion) is done by the block that
 * comes last.
 */
#include "engine/cuda/device.cuh"
#include "engine/kernels/motion.h"

struct body {
    const int32_t *atom;
    uint32_t natoms;
};

static __device__ struct body body_at(const struct motion_table *m, uint32_t i)
{
    if (i < m->nwaters)
        return {m->waters[i].atom, 3};
    i -= m->nwaters;
    if (i < m->nclusters)
        return {m->cluster_atoms + m->clusters[i].first_atom, m->clusters[i].natoms};
    return {m->lone + (i - m->nclusters), 1};
}

static __device__ uint32_t body_count(const struct motion_table *m)
{
    return m->nwaters + m->nclusters + m->nlone;
}

/* One replica's motion, as a kernel sees it. */
struct motion {
    struct ctl *c;
    const struct motion_table *m;
    struct masses masses;
    double (*x)[3], (*v)[3], (*x_old)[3];
    const int64_t (*f)[3];
    double timestep;
};

static __device__ void halt_constraint(struct ctl *c, const struct constrain_failure *bad)
{
    halt_once(c, HALT_CONSTRAINT, (uint32_t)bad->atom[0], (uint32_t)bad->atom[1], bad->deviation);
}

static __device__ bool project(const struct motion *s, uint32_t body, const double (*x)[3], double (*v)[3])
{
    struct constrain_failure bad;
    if (body < s->m->nwaters) {
        constrain_water_velocities(&s->m->waters[body], &s->masses, x, v);
        return true;
    }
    body -= s->m->nwaters;
    if (body >= s->m->nclusters || constrain_cluster_velocities(s->m, body, &s->masses, x, v, VELOCITY_TOLERANCE, &bad))
        return true;
    halt_constraint(s->c, &bad);
    return false;
}

static __device__ bool constrain(const struct motion *s, uint32_t body, const double (*x_old)[3], double (*x)[3],
                                 double (*v)[3], double inv_dt, struct reaction *reaction)
{
    struct constrain_failure bad;
    bool good = true;
    if (body < s->m->nwaters)
        good = constrain_water_positions(s->m, body, &s->masses, x_old, x, v, inv_dt, reaction, &bad);
    else if (body - s->m->nwaters < s->m->nclusters)
        good = constrain_cluster_positions(s->m, body - s->m->nwaters, &s->masses, s->c->lambda[LAMBDA_BONDED], x_old,
                                           x, v, inv_dt, reaction, &bad);
    if (!good)
        halt_constraint(s->c, &bad);
    return good;
}

static __device__ void kick(const struct motion *s, const struct body *b, double (*v)[3], double scale)
{
    for (uint32_t k = 0; k < b->natoms; k++)
        motion_kick(&s->masses, b->atom[k], s->f[b->atom[k]], v[b->atom[k]], scale);
}

/* A step may begin: forces are sums of unclamped contributions. The same answer in every block: nothing here changes what it
 * depends on but the halt itself. */
static __device__ bool forces_good(struct ctl *c)
{
    if (c->sum.overflow)
        halt_once(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    return c->halt == HALT_NONE && !c->sum.overflow;
}

static __device__ bool thrown_out(const struct motion *s, const struct body *b)
{
    for (uint32_t k = 0; k < b->natoms; k++) {
        int i = b->atom[k], d = motion_thrown_out(s->c->box, s->x_old[i], s->x[i]);
        if (d >= 0) {
            halt_once(s->c, HALT_NONFINITE, (uint32_t)i, (uint32_t)i, s->x[i][d]);
            return true;
        }
    }
    return false;
}

/* ---- the end of a step ---- */

/* Other blocks' velocities are read past the first-level cache. */
static __device__ void take_off_com(const struct motion *s)
{
    double total = 0, p[3] = {0, 0, 0};
    BLOCK_LOOP(i, s->m->natoms)
    {
        double mass = mass_of(&s->masses, (int)i);
        total += mass;
        for (int d = 0; d < 3; d++)
            p[d] += mass * __ldcg(&s->v[i][d]);
    }
    total = block_sum(total);
    for (int d = 0; d < 3; d++)
        p[d] = block_sum(p[d]) / total;
    BLOCK_LOOP(i, s->m->natoms)
    for (int d = 0; d < 3; d++)
        s->v[i][d] = __ldcg(&s->v[i][d]) - p[d];
}

/* For whole blocks, once their bodies have moved. */
static __device__ void end_step(const struct motion *s, struct motion_tail *tail, uint32_t com_every, uint32_t pending)
{
    if (!last_block(&tail->arrived) || !block_goes_on(s->c))
        return;
    if (com_every && (s->c->step + 1) % com_every == 0)
        take_off_com(s);
    __syncthreads();
    if (threadIdx.x == 0) {
        motion_end(s->c);
        s->c->pending = pending;
    }
}

/* ---- integrators: threads without a body come along to the end ---- */

static __device__ void keep_old(const struct motion *s, const struct body *b)
{
    for (uint32_t k = 0; k < b->natoms; k++)
        for (int d = 0; d < 3; d++)
            s->x_old[b->atom[k]][d] = s->x[b->atom[k]][d];
}

static __device__ void langevin_body(const struct motion *s, uint32_t i, const struct body *b,
                                     const struct langevin_rule *rule)
{
    kick(s, b, s->v, s->timestep);
    if (!project(s, i, s->x, s->v))
        return;
    keep_old(s, b);
    for (uint32_t k = 0; k < b->natoms; k++) {
        uint32_t atom = (uint32_t)b->atom[k], first = 3 * atom / 2;
        double deviate[4];
        for (uint32_t n = 0; n < 2; n++)
            philox_normal(philox_at(s->c->seed, s->c->replica, s->c->step, STREAM_LANGEVIN, first + n),
                          deviate + 2 * n);
        motion_langevin(rule, mass_of(&s->masses, (int)atom), deviate + 3 * atom % 2, s->x[atom], s->v[atom]);
    }
    if (!thrown_out(s, b))
        constrain(s, i, s->x_old, s->x, s->v, 1 / s->timestep, NULL);
}

KERNEL(langevin, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    if (!forces_good(c))
        return;
    struct motion s = {c,
                       m,
                       masses_of(m, c),
                       (double(*)[3])a.x,
                       (double(*)[3])a.v,
                       (double(*)[3])a.x_old,
                       (const int64_t(*)[3])a.f,
                       a.timestep};
    struct langevin_rule rule = langevin_rule_of(a.timestep, a.friction, a.kt);
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < body_count(m)) {
        struct body b = body_at(m, i);
        langevin_body(&s, i, &b, &rule);
    }
    end_step(&s, (struct motion_tail *)a.tail, a.com_every, c->pending);
}

static __device__ void verlet_body(const struct motion *s, uint32_t i, const struct body *b)
{
    if (s->c->pending)
        kick(s, b, s->v, 0.5 * s->timestep);
    if (!project(s, i, s->x, s->v))
        return;
    kick(s, b, s->v, 0.5 * s->timestep);
    keep_old(s, b);
    for (uint32_t k = 0; k < b->natoms; k++)
        vec_add(s->x[b->atom[k]], s->timestep, s->v[b->atom[k]]);
    if (!thrown_out(s, b))
        constrain(s, i, s->x_old, s->x, s->v, 1 / s->timestep, NULL);
}

/* The second half kick of a step comes with the forces of the next (ctl.pending), as on the CPU device. */
KERNEL(verlet, a, __launch_bounds__(CUDA_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    if (!forces_good(c))
        return;
    struct motion s = {c,
                       m,
                       masses_of(m, c),
                       (double(*)[3])a.x,
                       (double(*)[3])a.v,
                       (double(*)[3])a.x_old,
                       (const int64_t(*)[3])a.f,
                       a.timestep};
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < body_count(m)) {
        struct body b = body_at(m, i);
        verlet_body(&s, i, &b);
    }
    end_step(&s, (struct motion_tail *)a.tail, a.com_every, 1);
}

/* ---- one block: velocities ---- */

KERNEL(thermalize, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    if (c->halt)
        return;
    struct motion s = {c, m, masses_of(m, c), (double(*)[3])a.x, (double(*)[3])a.v, (double(*)[3])a.x_old, NULL, 0};
    double momentum[3] = {0, 0, 0}, total = 0;
    BLOCK_LOOP(i, body_count(m))
    {
        struct body b = body_at(m, i);
        keep_old(&s, &b);
        constrain(&s, i, s.x_old, s.x, NULL, 0, NULL);
        for (uint32_t k = 0; k < b.natoms; k++) {
            uint32_t atom = (uint32_t)b.atom[k], first = 3 * atom / 2;
            double deviate[4];
            for (uint32_t n = 0; n < 2; n++)
                philox_normal(philox_at(c->seed, c->replica, c->step, STREAM_THERMALIZE, first + n), deviate + 2 * n);
            for (int d = 0; d < 3; d++)
                s.v[atom][d] = sqrt(a.kt / mass_of(&s.masses, (int)atom)) * deviate[3 * atom % 2 + d];
        }
        project(&s, i, s.x, s.v);
        for (uint32_t k = 0; k < b.natoms; k++) {
            vec_add(momentum, mass_of(&s.masses, b.atom[k]), s.v[b.atom[k]]);
            total += mass_of(&s.masses, b.atom[k]);
        }
    }
    total = block_sum(total);
    for (int d = 0; d < 3; d++)
        momentum[d] = block_sum(momentum[d]);
    if (!block_goes_on(c))
        return;
    if (a.remove_com)
        BLOCK_LOOP(i, m->natoms)
    vec_add(s.v[i], -1 / total, momentum);
    if (threadIdx.x == 0) {
        c->pending = 0;
        c->min_steps = 0;
    }
}

/* Constraint forces at the time of x, as on the CPU device: those that put a free step of velocity Verlet from x and v back
 * onto the constraints, force = mass displacement / (dt^2 / 2). */
static __device__ void react(const struct motion *s, uint32_t i, const struct body *b, double (*v)[3], double (*w)[3],
                             double (*ahead)[3], struct reaction *reaction)
{
    for (uint32_t k = 0; k < b->natoms; k++)
        for (int d = 0; d < 3; d++)
            w[b->atom[k]][d] = v[b->atom[k]][d];
    kick(s, b, w, 0.5 * s->timestep);
    for (uint32_t k = 0; k < b->natoms; k++)
        for (int d = 0; d < 3; d++)
            ahead[b->atom[k]][d] = s->x[b->atom[k]][d] + s->timestep * w[b->atom[k]][d];
    constrain(s, i, s->x, ahead, NULL, 0, reaction);
}

/* Energy of the same momenta with the masses of every window, and the linear share of the constraints. */
static __device__ void add_windows(const struct motion *s, const double (*v)[3], double constraint_dvdl,
                                   struct fixed_sum *energy_at_window)
{
    for (uint32_t w = 0; w < s->m->nwindows; w++) {
        struct masses there = {s->m->mass, s->m->lambda[w][LAMBDA_MASS], false};
        double u = 0;
        if (s->m->mass_perturbed) {
            BLOCK_LOOP(i, s->m->natoms)
            u += motion_window_kinetic(&s->masses, &there, (int)i, v[i]);
            u = block_sum(u);
        }
        u += constraint_dvdl * (s->m->lambda[w][LAMBDA_BONDED] - s->c->lambda[LAMBDA_BONDED]);
        if (threadIdx.x == 0)
            acc_window(&energy_at_window[w], u, FIXED_TOTAL_LIMIT);
    }
}

KERNEL(velocities, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    double(*v)[3] = (double(*)[3])a.v_out;
    const double(*v_in)[3] = (const double(*)[3])a.v;
    if (c->halt)
        return;
    struct motion s = {c, m, masses_of(m, c), (double(*)[3])a.x, v, NULL, (const int64_t(*)[3])a.f, a.timestep};
    struct reaction reaction = {};
    double kinetic = 0, dk_dl = 0;
    BLOCK_LOOP(i, body_count(m))
    {
        struct body b = body_at(m, i);
        for (uint32_t k = 0; k < b.natoms; k++)
            for (int d = 0; d < 3; d++)
                v[b.atom[k]][d] = v_in[b.atom[k]][d];
        if (c->pending)
            kick(&s, &b, v, 0.5 * a.timestep);
        project(&s, i, s.x, v);
        if (c->moving)
            react(&s, i, &b, v, (double(*)[3])a.w, (double(*)[3])a.x_ahead, &reaction);
        for (uint32_t k = 0; k < b.natoms; k++) {
            int atom = b.atom[k];
            double v2 = vec_dot(v[atom], v[atom]);
            kinetic += 0.5 * mass_of(&s.masses, atom) * v2;
            dk_dl -= 0.5 * (m->mass[atom][1] - m->mass[atom][0]) * v2;
        }
    }
    if (!block_goes_on(c))
        return;
    double half2 = 0.5 * a.timestep * a.timestep, du_dl = block_sum(reaction.du_dl) / half2;
    kinetic = block_sum(kinetic);
    dk_dl = block_sum(dk_dl);
    for (int k = 0; k < 9; k++) {
        double virial = block_sum(reaction.virial[k]) / half2;
        if (threadIdx.x == 0)
            c->constraint_virial[k] = virial;
    }
    if (threadIdx.x == 0) {
        c->done++;
        c->kinetic = kinetic;
        struct accumulate sum = {0};
        acc_dvdl_within(&sum, LAMBDA_MASS, dk_dl, FIXED_TOTAL_LIMIT);
        acc_dvdl_within(&sum, LAMBDA_BONDED, du_dl, FIXED_TOTAL_LIMIT);
        acc_finish(&sum, &c->sum);
    }
    add_windows(&s, v, du_dl, (struct fixed_sum *)a.energy_at_window);
}
