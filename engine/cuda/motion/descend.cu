/* SPDX-License-Identifier: Apache-2.0
 *
 * Steepest descent on a GPU, one block.
 */
#include "engine/cuda/device/device.cuh"
#include "engine/kernels/constraints.h"
#include "engine/kernels/descent.h"

static __device__ void copy(double *to, const double *from, uint32_t n)
{
    BLOCK_LOOP(i, n)
    to[i] = from[i];
    __syncthreads();
}

/* With unit masses, so that displacements follow the forces. False in threads that met a constraint that cannot be
 * kept: *bad. */
static __device__ bool constrain_all(const struct ctl *c, const struct motion_table *m, const double (*x_old)[3],
                                     double (*x)[3], struct constrain_failure *bad)
{
    const struct masses unit = {NULL, 0, true};
    bool good = true;
    BLOCK_LOOP(i, m->nwaters)
    good &= constrain_water_positions(m, i, &unit, x_old, x, NULL, 0, NULL, bad);
    BLOCK_LOOP(i, m->nclusters)
    good &= constrain_cluster_positions(m, i, &unit, c->lambda[LAMBDA_BONDED], x_old, x, NULL, 0, NULL, bad);
    return good;
}

KERNEL(descend, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    double(*x)[3] = (double(*)[3])a.x, (*x_old)[3] = (double(*)[3])a.x_old;
    const double *force = (const double *)a.f_best;
    struct constrain_failure bad;
    if (c->halt)
        return;
    bool first = c->min_steps == 0;
    __syncthreads();
    if (!first) {
        bool converged = descent_converged(c);
        __syncthreads();
        if (threadIdx.x == 0)
            c->min_converged = converged;
        if (converged)
            return;
    }
    copy(&x_old[0][0], &x[0][0], 3 * m->natoms);
    if (!first) {
        BLOCK_LOOP(i, 3 * m->natoms)
        (&x[0][0])[i] += c->min_step_size / c->min_max_force * force[i];
        __syncthreads();
    }
    bool good = constrain_all(c, m, x_old, x, &bad);
    if (first && !good)
        halt_once(c, HALT_CONSTRAINT, (uint32_t)bad.atom[0], (uint32_t)bad.atom[1], bad.deviation);
    bool rejected = __syncthreads_or(!good);
    if (first)
        return;
    if (rejected)
        copy(&x[0][0], &x_old[0][0], 3 * m->natoms);
    if (threadIdx.x == 0) {
        for (int k = 0; k < BOX_SIZE; k++)
            c->box_old[k] = c->box[k];
        c->trial = 1;
        c->min_rejected = rejected;
    }
}

static __device__ double largest_of(const struct motion_table *m, const double (*force)[3])
{
    double largest = 0;
    BLOCK_LOOP(i, m->natoms)
    largest = fmax(largest, vec_dot(force[i], force[i]));
    return sqrt(block_largest(largest));
}

/* The forces at the new best x, without what constraints take up; returns the largest, kJ/mol/nm. */
static __device__ double keep_forces(struct ctl *c, const struct motion_table *m, const double (*x)[3],
                                     const int64_t *f, double (*force)[3])
{
    const struct masses unit = {NULL, 0, true};
    struct constrain_failure bad;
    BLOCK_LOOP(i, 3 * m->natoms)
    (&force[0][0])[i] = fixed_value(f[i]);
    __syncthreads();
    double tolerance = DESCENT_FORCE_TOLERANCE * (1 + largest_of(m, force));
    BLOCK_LOOP(i, m->nwaters)
    constrain_water_velocities(m, i, &unit, x, force);
    BLOCK_LOOP(i, m->nclusters)
    if (!constrain_cluster_velocities(m, i, &unit, x, force, tolerance, &bad))
        halt_once(c, HALT_CONSTRAINT, (uint32_t)bad.atom[0], (uint32_t)bad.atom[1], bad.deviation);
    __syncthreads();
    return largest_of(m, force);
}

KERNEL(descend_decide, a, __launch_bounds__(CUDA_ONE_BLOCK))
{
    ECHO(a);
    __shared__ bool better;
    struct ctl *c = (struct ctl *)a.ctl;
    const struct motion_table *m = (const struct motion_table *)a.motion;
    double(*x)[3] = (double(*)[3])a.x;
    __shared__ bool over;
    if (c->halt)
        return;
    __syncthreads();
    if (threadIdx.x == 0) {
        over = !descent_goes_on(c);
        better = !over && descent_better(c);
    }
    __syncthreads();
    if (over)
        return;
    double largest = 0;
    if (better)
        largest = keep_forces(c, m, x, (const int64_t *)a.f, (double(*)[3])a.f_best);
    else
        copy(&x[0][0], (const double *)a.x_old, 3 * m->natoms);
    if (threadIdx.x != 0)
        return;
    if (better)
        c->min_max_force = largest;
    descent_end(c);
}
