/* SPDX-License-Identifier: Apache-2.0
 *
 * One timestep of one body, whoever brings it its threads: rigid waters and stars (an atom with some bound to it, or none) in
 * registers, any other body in memory.
 */
#ifndef SHOAL_ENGINE_CUDA_BODIES_CUH
#define SHOAL_ENGINE_CUDA_BODIES_CUH

#include "engine/cuda/motion.cuh"

#define MOST_ATOMS (1 + STAR_ARMS)

/* A body between its threads. */
struct held {
    double x[MOST_ATOMS][3], v[MOST_ATOMS][3];
    double push[MOST_ATOMS][3]; /* onto v once it obeys the constraints: noise, or velocity Verlet's second half kick */
};

static __device__ bool thrown_out(const struct motion *s, int32_t i, const double x[3])
{
    int d = motion_thrown_out(s->c->box, s->x_old[i], x);
    if (d >= 0)
        halt_once(s->c, HALT_NONFINITE, (uint32_t)i, (uint32_t)i, x[d]);
    return d >= 0;
}

/* ---- bodies in registers ---- */

struct water {
    enum { ATOMS = 3 };
    const int32_t *atom;
    struct settle_shape shape;
    double mass_o, mass_h;

    __device__ __forceinline__ water(const struct motion *s, uint32_t i)
    {
        const struct rigid_water *w = &s->m->waters[i];
        atom = w->atom;
        shape = {w->r_oh, w->r_hh};
        mass_o = mass_of(&s->masses, w->atom[0]), mass_h = mass_of(&s->masses, w->atom[1]);
    }

    __device__ __forceinline__ bool project(const double (*x)[3], double (*v)[3], struct constrain_failure *bad) const
    {
        settle_velocities(&shape, mass_o, mass_h, x, v);
        return true;
    }

    __device__ __forceinline__ bool constrain(const double (*old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                                              struct constrain_failure *bad) const
    {
        double free_x[ATOMS][3];
        memcpy(free_x, x, sizeof free_x);
        if (!settle_positions(&shape, mass_o, mass_h, old, x))
            return fail(bad, atom[0], atom[1], INFINITY);
        for (int k = 0; k < ATOMS; k++)
            for (int d = 0; d < 3; d++)
                v[k][d] += (x[k][d] - free_x[k][d]) * inv_dt;
        return true;
    }
};

/* An atom and up to STAR_ARMS others at fixed distances from it, none for a lone atom: the iteration of constraints.h with
 * what does not change taken out of it. */
struct star {
    enum { ATOMS = MOST_ATOMS };
    const int32_t *atom;
    uint32_t arms;
    double r2[STAR_ARMS], inverse_r[STAR_ARMS]; /* of the distances, nm^2 and 1/nm */
    double inverse_mass[MOST_ATOMS];

    __device__ __forceinline__ star(const struct motion *s, uint32_t i)
    {
        const struct body b = body_at(s->m, s->m->nwaters + i);
        const double lambda = s->c->lambda[LAMBDA_BONDED];
        atom = b.atom;
        arms = b.natoms - 1;
#pragma unroll
        for (uint32_t k = 0; k < MOST_ATOMS; k++)
            inverse_mass[k] = 1 / mass_of(&s->masses, atom[k < b.natoms ? k : 0]);
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++)
            if (k < arms) {
                const double *r0 = s->m->distances[s->m->clusters[i].first + k].r0;
                double r = (1 - lambda) * r0[0] + lambda * r0[1];
                r2[k] = r * r;
                inverse_r[k] = 1 / r;
            }
    }

    __device__ __forceinline__ bool project(const double (*x)[3], double (*v)[3], struct constrain_failure *bad) const
    {
        double largest = INFINITY, share[STAR_ARMS];
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++)
            if (k < arms) {
                double r[3];
                vec_sub(x[k + 1], x[0], r);
                share[k] = 1 / (vec_dot(r, r) * (inverse_mass[0] + inverse_mass[k + 1]));
            }
        for (int n = 0; n < ITERATIONS_MAX && !(largest <= VELOCITY_TOLERANCE); n++) {
            largest = 0;
#pragma unroll
            for (uint32_t k = 0; k < STAR_ARMS; k++)
                if (k < arms) {
                    double r[3], rel[3];
                    vec_sub(x[k + 1], x[0], r);
                    vec_sub(v[k + 1], v[0], rel);
                    double along = vec_dot(r, rel), deviation = fabs(along) * inverse_r[k];
                    if (!(deviation <= largest)) {
                        largest = deviation;
                        fail(bad, atom[0], atom[k + 1], deviation);
                    }
                    double g = along * share[k];
                    vec_add(v[k + 1], -g * inverse_mass[k + 1], r);
                    vec_add(v[0], g * inverse_mass[0], r);
                }
        }
        return largest <= VELOCITY_TOLERANCE;
    }

    __device__ __forceinline__ bool constrain(const double (*old)[3], double (*x)[3], double (*v)[3], double inv_dt,
                                              struct constrain_failure *bad) const
    {
        double largest = INFINITY,
               share[STAR_ARMS]; /* as the arms are at first; seldom they turn so far that it is told anew */
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++)
            if (k < arms) {
                double r[3], arm[3];
                vec_sub(x[k + 1], x[0], r);
                vec_sub(old[k + 1], old[0], arm);
                share[k] = 1 / (2 * (inverse_mass[0] + inverse_mass[k + 1]) * vec_dot(arm, r));
            }
        for (int n = 0; n < ITERATIONS_MAX && !(largest <= 2 * POSITION_TOLERANCE); n++) {
            largest = 0;
#pragma unroll
            for (uint32_t k = 0; k < STAR_ARMS; k++)
                if (k < arms) {
                    double r[3], arm[3];
                    vec_sub(x[k + 1], x[0], r);
                    vec_sub(old[k + 1], old[0], arm);
                    double diff = r2[k] - vec_dot(r, r), along = vec_dot(arm, r);
                    bool turned = !(along > 1e-3 * r2[k]); /* by about 90 degrees in a step */
                    double deviation = turned ? INFINITY : fabs(diff) * inverse_r[k] * inverse_r[k];
                    if (!(deviation <= largest)) {
                        largest = deviation;
                        fail(bad, atom[0], atom[k + 1], 0.5 * deviation);
                    }
                    if (turned)
                        return false;
                    const double slope = 2 * (inverse_mass[0] + inverse_mass[k + 1]) * along;
                    if (!(fabs(slope * share[k] - 1) < 0.25))
                        share[k] = 1 / slope;
                    double g = diff * share[k];
                    double own = g * inverse_mass[k + 1], center = -g * inverse_mass[0];
                    vec_add(x[k + 1], own, arm);
                    vec_add(x[0], center, arm);
                    vec_add(v[k + 1], own * inv_dt, arm);
                    vec_add(v[0], center * inv_dt, arm);
                }
        }
        return largest <= 2 * POSITION_TOLERANCE;
    }
};

/* x and v after the step; rule: NULL for velocity Verlet. */
template <class BODY>
static __device__ __forceinline__ void advance(const struct motion *s, const struct langevin_rule *rule,
                                               const BODY &body, struct held *h)
{
    double old[BODY::ATOMS][3], x[BODY::ATOMS][3], v[BODY::ATOMS][3];
    struct constrain_failure bad;
    memcpy(old, h->x, sizeof old);
    memcpy(v, h->v, sizeof v);
    if (!body.project(old, v, &bad)) {
        halt_constraint(s->c, &bad);
        return;
    }
#pragma unroll
    for (int k = 0; k < BODY::ATOMS; k++)
#pragma unroll
        for (int d = 0; d < 3; d++) {
            double before = v[k][d];
            v[k][d] = (rule ? rule->keep * before : before) + h->push[k][d];
            x[k][d] = old[k][d] + (rule ? rule->half * before + rule->half * v[k][d] : s->timestep * v[k][d]);
        }
    if (!body.constrain(old, x, v, 1 / s->timestep, &bad))
        halt_constraint(s->c, &bad);
    memcpy(h->x, x, sizeof x);
    memcpy(h->v, v, sizeof v);
}

static __device__ inline bool is_quick(const struct motion_table *m, uint32_t i)
{
    return i < m->nwaters || i - m->nwaters >= m->nclusters || m->clusters[i - m->nwaters].star;
}

static __device__ __forceinline__ void advance_quickly(const struct motion *s, const struct langevin_rule *rule,
                                                       uint32_t i, struct held *h)
{
    if (i < s->m->nwaters)
        advance(s, rule, water(s, i), h);
    else
        advance(s, rule, star(s, i - s->m->nwaters), h);
}

/* What Langevin's noise adds to the velocity of an atom in a step. */
static __device__ __forceinline__ void noise_of(const struct motion *s, const struct langevin_rule *rule, uint64_t step,
                                                int32_t i, double noise[3])
{
    deviates(s->c, step, STREAM_LANGEVIN, (uint32_t)i, noise);
    const double spread = sqrt(rule->spread / mass_of(&s->masses, i));
    for (int d = 0; d < 3; d++)
        noise[d] *= spread;
}

/* By what forces, as they are summed, become the velocity of a kick. */
static __device__ __forceinline__ double kick_of(const struct motion *s, const struct langevin_rule *rule, int32_t i)
{
    return (rule ? 1 : 0.5) * s->timestep / (FIXED_SCALE * mass_of(&s->masses, i));
}

/* Atom i, the k-th of the body, kicked. noise: of Langevin alone. */
static __device__ __forceinline__ void load_atom(const struct motion *s, const struct langevin_rule *rule, double kick,
                                                 const double noise[3], int32_t i, uint32_t k, struct held *h)
{
    for (int d = 0; d < 3; d++) {
        const double push = kick * (double)s->f[i][d];
        h->x[k][d] = s->x[i][d];
        h->v[k][d] = s->v[i][d] + (rule || s->c->pending ? push : 0);
        h->push[k][d] = rule ? noise[d] : push;
    }
}

/* False: it has been thrown out, and nothing but x_old is written. */
static __device__ __forceinline__ bool store_atom(const struct motion *s, int32_t i, uint32_t k, const struct held *h)
{
    for (int d = 0; d < 3; d++)
        s->x_old[i][d] = s->x[i][d];
    if (thrown_out(s, i, h->x[k]))
        return false;
    for (int d = 0; d < 3; d++) {
        s->x[i][d] = h->x[k][d];
        s->v[i][d] = h->v[k][d];
    }
    return true;
}

/* ---- any other body, in memory ---- */

static __device__ void advance_slowly(const struct motion *s, const struct langevin_rule *rule, uint32_t i)
{
    const struct body b = body_at(s->m, i);
    if (rule || s->c->pending)
        kick(s, &b, s->v, (rule ? 1 : 0.5) * s->timestep);
    if (!project(s, i, s->x, s->v))
        return;
    if (!rule)
        kick(s, &b, s->v, 0.5 * s->timestep);
    keep_old(s, &b);
    for (uint32_t k = 0; k < b.natoms; k++) {
        const int32_t atom = b.atom[k];
        double noise[3];
        if (rule) {
            deviates(s->c, s->c->step, STREAM_LANGEVIN, (uint32_t)atom, noise);
            motion_langevin(rule, mass_of(&s->masses, atom), noise, s->x[atom], s->v[atom]);
        } else {
            vec_add(s->x[atom], s->timestep, s->v[atom]);
        }
        if (thrown_out(s, atom, s->x[atom]))
            return;
    }
    constrain(s, i, s->x_old, s->x, s->v, 1 / s->timestep, NULL);
}

/* ---- all bodies ---- */

/* A step may begin: forces are sums of unclamped contributions. The same answer in every block: nothing here changes what it
 * depends on but the halt itself. */
static __device__ bool forces_good(struct ctl *c)
{
    if (c->sum.overflow)
        halt_once(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    return c->halt == HALT_NONE && !c->sum.overflow;
}

/* For a whole block. alone: it wrote all velocities itself; those of others are read past the first-level cache. */
template <bool alone> static __device__ void take_off_com(const struct motion *s)
{
    double total = 0, p[3] = {0, 0, 0};
    BLOCK_LOOP(i, s->m->natoms)
    {
        double mass = mass_of(&s->masses, (int)i);
        total += mass;
        for (int d = 0; d < 3; d++)
            p[d] += mass * (alone ? s->v[i][d] : __ldcg(&s->v[i][d]));
    }
    total = block_sum(total);
    for (int d = 0; d < 3; d++)
        p[d] = block_sum(p[d]) / total;
    BLOCK_LOOP(i, s->m->natoms)
    for (int d = 0; d < 3; d++)
        s->v[i][d] = (alone ? s->v[i][d] : __ldcg(&s->v[i][d])) - p[d];
}

#endif
