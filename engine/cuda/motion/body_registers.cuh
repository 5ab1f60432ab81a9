/* SPDX-License-Identifier: Apache-2.0
 *
 * One body in double precision: rigid waters and stars (an atom with some bound to it, or none) in registers, for
 * samples; any other body in memory, for every kernel that does timesteps.
 */
#ifndef SHOAL_ENGINE_CUDA_MOTION_BODY_REGISTERS_CUH
#define SHOAL_ENGINE_CUDA_MOTION_BODY_REGISTERS_CUH

#include "engine/cuda/motion/body_memory.cuh"
#include "engine/math/bodies/star.h"

#define MOST_ATOMS (1 + STAR_ARMS)

/* A body of so many atoms, or fewer. push: half a kick, nm/ps. */
struct held64 {
    double x[MOST_ATOMS][3], v[MOST_ATOMS][3], push[MOST_ATOMS][3];
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
    const struct water_shape *shape;

    __device__ __forceinline__ water(const struct motion *s, uint32_t i)
    {
        const struct rigid_water *w = in_global(s->m->waters) + i;
        atom = w->atom;
        shape = in_global(s->m->shapes) + w->shape;
    }

    struct before {
        double x[3][3];
    };

    __device__ __forceinline__ void project(struct held64 *h, struct before *old) const
    {
        memcpy(old->x, h->x, sizeof old->x);
        settle_velocities(shape, old->x, h->v);
    }

    __device__ __forceinline__ bool constrain(struct before &old, struct held64 *h, double inv_dt,
                                              struct constrain_failure *bad) const
    {
        double x[3][3];
        memcpy(x, h->x, sizeof x);
        if (!settle_positions(shape, old.x, x))
            return fail(bad, atom[0], atom[1], INFINITY);
        for (int k = 0; k < ATOMS; k++)
            for (int d = 0; d < 3; d++) {
                h->v[k][d] += (x[k][d] - h->x[k][d]) * inv_dt;
                h->x[k][d] = x[k][d];
            }
        return true;
    }
};

/* An atom and up to STAR_ARMS others at fixed distances from it, none for a lone atom. */
struct star {
    enum { ATOMS = MOST_ATOMS };
    const int32_t *atom;
    uint32_t arms;
    double r2[STAR_ARMS], inverse_r2[STAR_ARMS]; /* of the distances, nm^2 and 1/nm^2 */
    double inverse_mass[ATOMS];

    __device__ __forceinline__ star(const struct motion *s, uint32_t i)
    {
        const struct body b = body_at(s->m, s->m->nwaters + i);
        const double lambda = s->c->lambda[LAMBDA_BONDED];
        atom = b.atom;
        arms = b.natoms - 1;
#pragma unroll
        for (uint32_t k = 0; k < ATOMS; k++)
            inverse_mass[k] = 1 / mass_of(&s->masses, atom[k < b.natoms ? k : 0]);
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++)
            if (k < arms) {
                const double *r0 = in_global(s->m->distances)[in_global(s->m->clusters)[i].first + k].r0;
                double r = (1 - lambda) * r0[0] + lambda * r0[1];
                r2[k] = r * r;
                inverse_r2[k] = 1 / r2[k];
            }
    }

    __device__ __forceinline__ void arms_of(const double (*x)[3], double arm[STAR_ARMS][3]) const
    {
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++)
#pragma unroll
            for (int d = 0; d < 3; d++)
                arm[k][d] = k < arms ? x[k + 1][d] - x[0][d] : 0;
    }

    /* y of each atom, by pulls along the arms. */
    __device__ __forceinline__ void apply(double arm[STAR_ARMS][3], const double pull[STAR_ARMS], double scale,
                                          double (*y)[3]) const
    {
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++)
            if (k < arms) {
                vec_add(y[k + 1], scale * pull[k] * inverse_mass[k + 1], arm[k]);
                vec_add(y[0], -scale * pull[k] * inverse_mass[0], arm[k]);
            }
    }

    struct before {
        double arm[STAR_ARMS][3];
    };

    __device__ __forceinline__ void project(struct held64 *h, struct before *old) const
    {
        double inverse[STAR_ARMS][STAR_ARMS], along[STAR_ARMS], pull[STAR_ARMS];
        arms_of(h->x, old->arm);
        if (!arms)
            return;
        star_couplings(arms, old->arm, old->arm, inverse_mass, inverse);
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++) {
            double rel[3];
            vec_sub(h->v[k + 1], h->v[0], rel);
            along[k] = k < arms ? vec_dot(old->arm[k], rel) : 0;
        }
        star_pulls(inverse, along, -1, pull);
        apply(old->arm, pull, 1, h->v);
    }

    /* By about 90 degrees in a step, or no numbers any more. */
    __device__ __forceinline__ bool turned(double arm[STAR_ARMS][3], double r[STAR_ARMS][3]) const
    {
        bool any = false;
#pragma unroll
        for (uint32_t k = 0; k < STAR_ARMS; k++)
            any |= k < arms && !(vec_dot(arm[k], r[k]) > 1e-3 * r2[k]);
        return any;
    }

    /* Newton's iteration along the old arms, by the first matrix as long as that does. */
    __device__ __forceinline__ bool constrain(struct before &old, struct held64 *h, double inv_dt,
                                              struct constrain_failure *bad) const
    {
        double(*arm)[3] = old.arm, r[STAR_ARMS][3], inverse[STAR_ARMS][STAR_ARMS], pull[STAR_ARMS] = {};
        double before = 0, largest = 0;
        uint32_t worst = 0;
        arms_of(h->x, r);
        for (int n = 0; n < ITERATIONS_MAX; n++) {
            double off[STAR_ARMS], more[STAR_ARMS], center[3] = {0, 0, 0};
            largest = 0;
#pragma unroll
            for (uint32_t k = 0; k < STAR_ARMS; k++) {
                off[k] = k < arms ? r2[k] - vec_dot(r[k], r[k]) : 0;
                double deviation = k < arms ? fabs(off[k]) * inverse_r2[k] : 0;
                worst = deviation <= largest ? worst : k;
                largest = deviation <= largest ? largest : deviation;
            }
            if (largest <= 2 * POSITION_TOLERANCE) {
                apply(arm, pull, 1, h->x);
                apply(arm, pull, inv_dt, h->v);
                return true;
            }
            if (!(largest <= 0.125 * before)) {
                if (turned(arm, r))
                    break;
                star_couplings(arms, r, arm, inverse_mass, inverse);
            }
            before = largest;
            star_pulls(inverse, off, 0.5, more);
#pragma unroll
            for (uint32_t k = 0; k < STAR_ARMS; k++) {
                pull[k] += more[k];
                vec_add(center, more[k] * inverse_mass[0], arm[k]);
            }
#pragma unroll
            for (uint32_t k = 0; k < STAR_ARMS; k++) {
                vec_add(r[k], 1, center);
                vec_add(r[k], more[k] * inverse_mass[k + 1], arm[k]);
            }
        }
        return fail(bad, atom[0], atom[worst + 1], 0.5 * largest);
    }
};

/* Waters are, where what SETTLE needs of them does not depend on lambda. */
static __device__ inline bool is_quick(const struct motion_table *m, uint32_t i)
{
    if (i < m->nwaters)
        return m->shapes != NULL;
    return i - m->nwaters >= m->nclusters || in_global(m->clusters)[i - m->nwaters].star;
}

/* ---- any other body, in memory ---- */

/* False: halted. */
static __device__ bool advance_slowly(const struct motion *s, const struct motion_rule *rule, uint32_t i)
{
    const struct body b = body_at(s->m, i);
    kick(s, &b, s->v, motion_kick_due(rule != NULL, s->c->pending) * s->timestep);
    if (!project(s, i, s->x, s->v))
        return false;
    if (!rule)
        kick(s, &b, s->v, 0.5 * s->timestep);
    keep_old(s, &b);
    for (uint32_t k = 0; k < b.natoms; k++) {
        const int32_t atom = b.atom[k];
        double noise[3];
        if (rule) {
            philox_noise(s->c->seed, s->c->replica, s->c->step, STREAM_TIMESTEP, (uint32_t)atom, noise);
            motion_langevin(rule, mass_of(&s->masses, atom), noise, s->x[atom], s->v[atom]);
        } else {
            vec_add(s->x[atom], s->timestep, s->v[atom]);
        }
        if (thrown_out(s, atom, s->x[atom]))
            return false;
    }
    return constrain(s, i, s->x_old, s->x, s->v, 1 / s->timestep, NULL);
}

/* ---- all bodies ---- */

/* A step may begin: forces are sums of unclamped contributions. The same answer in every block: nothing here changes
 * what it depends on but the halt itself. */
static __device__ bool forces_good(struct ctl *c)
{
    if (c->sum.overflow)
        halt_once(c, HALT_OVERFLOW, 0, 0, (double)c->sum.overflow);
    return c->halt == HALT_NONE && !c->sum.overflow;
}

/* For a whole block. alone: it wrote all velocities itself; those of others are read past the first-level cache.
 * Several are on their way at a time. */
template <bool alone> static __device__ void take_off_com(const struct motion *s)
{
    enum { AT_A_TIME = 4 };
    const uint32_t n = s->m->natoms;
    double total = 0, p[3] = {0, 0, 0}, v[AT_A_TIME][3];
    for (uint32_t first = threadIdx.x; first < n; first += AT_A_TIME * blockDim.x) {
        double mass[AT_A_TIME];
#pragma unroll
        for (uint32_t k = 0; k < AT_A_TIME; k++) {
            const uint32_t i = first + k * blockDim.x;
            mass[k] = i < n ? mass_of(&s->masses, (int)i) : 0;
            for (int d = 0; d < 3; d++)
                v[k][d] = i >= n ? 0 : alone ? s->v[i][d] : __ldcg(&s->v[i][d]);
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_A_TIME; k++) {
            total += mass[k];
            vec_add(p, mass[k], v[k]);
        }
    }
    total = block_sum(total);
    for (int d = 0; d < 3; d++)
        p[d] = block_sum(p[d]) / total;
    for (uint32_t first = threadIdx.x; first < n; first += AT_A_TIME * blockDim.x) {
#pragma unroll
        for (uint32_t k = 0; k < AT_A_TIME; k++) {
            const uint32_t i = first + k * blockDim.x;
            for (int d = 0; d < 3 && i < n; d++)
                v[k][d] = alone ? s->v[i][d] : __ldcg(&s->v[i][d]);
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_A_TIME; k++) {
            const uint32_t i = first + k * blockDim.x;
            for (int d = 0; d < 3 && i < n; d++)
                s->v[i][d] = v[k][d] - p[d];
        }
    }
}

#endif
