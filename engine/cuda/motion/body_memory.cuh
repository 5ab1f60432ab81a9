/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies: a rigid water, a cluster of constraints or a lone atom. Nothing in a step couples two of them. Here is what
 * one thread does with one body in memory; body_registers.cuh has the quick way for the bodies that most systems are
 * made of.
 */
#ifndef SHOAL_ENGINE_CUDA_MOTION_BODY_MEMORY_CUH
#define SHOAL_ENGINE_CUDA_MOTION_BODY_MEMORY_CUH

#include "engine/cuda/device/device.cuh"
#include "engine/kernels/motion.h"

struct body {
    const int32_t *atom;
    uint32_t natoms;
};

static __device__ inline struct body body_at(const struct motion_table *m, uint32_t i)
{
    if (i < m->nwaters)
        return {in_global(m->waters)[i].atom, 3};
    i -= m->nwaters;
    if (i < m->nclusters)
        return {in_global(m->cluster_atoms) + in_global(m->clusters)[i].first_atom, in_global(m->clusters)[i].natoms};
    return {in_global(m->lone) + (i - m->nclusters), 1};
}

static __device__ inline uint32_t body_count(const struct motion_table *m)
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

static __device__ __forceinline__ struct masses masses_in_global(const struct motion_table *m, const struct ctl *c)
{
    struct masses masses = masses_of(m, c);
    masses.mass = in_global(masses.mass);
    return masses;
}

static __device__ inline void halt_constraint(struct ctl *c, const struct constrain_failure *bad)
{
    halt_once(c, HALT_CONSTRAINT, (uint32_t)bad->atom[0], (uint32_t)bad->atom[1], bad->deviation);
}

static __device__ inline bool project(const struct motion *s, uint32_t body, const double (*x)[3], double (*v)[3])
{
    struct constrain_failure bad;
    if (body < s->m->nwaters) {
        constrain_water_velocities(s->m, body, &s->masses, x, v);
        return true;
    }
    body -= s->m->nwaters;
    if (body >= s->m->nclusters || constrain_cluster_velocities(s->m, body, &s->masses, x, v, VELOCITY_TOLERANCE, &bad))
        return true;
    halt_constraint(s->c, &bad);
    return false;
}

static __device__ inline bool constrain(const struct motion *s, uint32_t body, const double (*x_old)[3], double (*x)[3],
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

static __device__ inline void kick(const struct motion *s, const struct body *b, double (*v)[3], double scale)
{
    for (uint32_t k = 0; k < b->natoms; k++)
        motion_kick(&s->masses, b->atom[k], s->f[b->atom[k]], v[b->atom[k]], scale);
}

static __device__ inline void keep_old(const struct motion *s, const struct body *b)
{
    for (uint32_t k = 0; k < b->natoms; k++)
        for (int d = 0; d < 3; d++)
            s->x_old[b->atom[k]][d] = s->x[b->atom[k]][d];
}

#endif
