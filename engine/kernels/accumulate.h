/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of one kernel, or of one of its threads, in fixed point: contributions to energies, dU/dlambda and the virial are
 * collected here and added to ctl once at its end; forces go to memory at once.
 */
#ifndef SHOAL_ENGINE_KERNELS_ACCUMULATE_H
#define SHOAL_ENGINE_KERNELS_ACCUMULATE_H

#include "engine/math/fixed.h"
#include "engine/run/ctl.h"

struct accumulate {
    int64_t energy[TERM_COUNT], dvdl[LAMBDA_COUNT], virial[9];
    uint64_t overflow;
};

/* Adds to a sum that others add to as well: on a GPU other threads, on the CPU device nobody at the same time. */
MATH_FN void acc_add(int64_t *sum, int64_t value)
{
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)sum, (unsigned long long)value);
#else
    *sum += value;
#endif
}

MATH_FN void acc_energy(struct accumulate *a, enum term term, double u)
{
    a->energy[term] += fixed_clamped(u, FIXED_ENERGY_LIMIT);
    a->overflow += fixed_beyond(u, FIXED_ENERGY_LIMIT);
}

MATH_FN void acc_dvdl(struct accumulate *a, enum lambda component, double du_dl)
{
    a->dvdl[component] += fixed_clamped(du_dl, FIXED_ENERGY_LIMIT);
    a->overflow += fixed_beyond(du_dl, FIXED_ENERGY_LIMIT);
}

/* A force on one atom, kJ/mol/nm. */
MATH_FN void acc_force(struct accumulate *a, int64_t f[3], const double force[3])
{
    for (int d = 0; d < 3; d++) {
        acc_add(&f[d], fixed_clamped(force[d], FIXED_FORCE_LIMIT));
        a->overflow += fixed_beyond(force[d], FIXED_FORCE_LIMIT);
    }
}

/* Xi -= 1/2 r x force */
MATH_FN void acc_virial(struct accumulate *a, const double r[3], const double force[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a->virial[3 * i + j] += fixed_clamped(-0.5 * r[i] * force[j], FIXED_ENERGY_LIMIT);
}

MATH_FN void acc_finish(const struct accumulate *a, struct ctl *c)
{
    for (int i = 0; i < TERM_COUNT; i++)
        if (a->energy[i])
            acc_add(&c->energy[i], a->energy[i]);
    for (int i = 0; i < LAMBDA_COUNT; i++)
        if (a->dvdl[i])
            acc_add(&c->dvdl[i], a->dvdl[i]);
    for (int i = 0; i < 9; i++)
        if (a->virial[i])
            acc_add(&c->virial[i], a->virial[i]);
    if (a->overflow)
        acc_add((int64_t *)&c->overflow, (int64_t)a->overflow);
}

#endif
