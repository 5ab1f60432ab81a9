/* SPDX-License-Identifier: Apache-2.0
 *
 * Velocities on a GPU, a block a replica: new ones, and those at the time of x.
 */
#include "engine/cuda/motion.cuh"

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
            const int32_t atom = b.atom[k];
            double noise[3];
            deviates(c, c->step, STREAM_THERMALIZE, (uint32_t)atom, noise);
            for (int d = 0; d < 3; d++)
                s.v[atom][d] = sqrt(a.kt / mass_of(&s.masses, atom)) * noise[d];
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
