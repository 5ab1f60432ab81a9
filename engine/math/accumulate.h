/* SPDX-License-Identifier: Apache-2.0
 *
 * How contributions enter sums, on every device. A thread adds energies to a struct accumulate of its own and that, at
 * its end, to the replica's (acc_finish); forces go to the replica's array at once. What other threads write too (the
 * replica's sums, forces, energies at windows) is added to atomically on a GPU; a replica's kernels run on one thread
 * on the CPU.
 */
#ifndef SHOAL_ENGINE_MATH_ACCUMULATE_H
#define SHOAL_ENGINE_MATH_ACCUMULATE_H

#include "engine/math/fixed.h"
#include "engine/math/terms.h"

/* Sums of one evaluation. Virial: Xi = -1/2 sum r x f, row r, column f. */
struct accumulate {
    struct fixed_sum energy[TERM_COUNT], dvdl[LAMBDA_COUNT], virial[9];
    uint64_t overflow; /* contributions clamped (forces, own energies; not foreign windows) */
    uint32_t clamped;  /* of what: bits of enum clamped */
    uint32_t pad_;
};

/* ---- memory that other threads write too ---- */

/* A source that defines ACC_IN_SHARED adds to shared memory alone, which adds 32 bits at a time: the upper half gets
 * the carry of the lower, whichever threads add in between. */
MATH_FN void acc_add(int64_t *sum, int64_t v)
{
#if defined MATH_ATOMIC && defined ACC_IN_SHARED
    uint32_t *half = (uint32_t *)sum, low = (uint32_t)v, was = atomicAdd(&half[0], low);
    atomicAdd(&half[1], (uint32_t)((uint64_t)v >> 32) + (was > ~low));
#elif defined MATH_ATOMIC
    atomicAdd((unsigned long long *)sum, (unsigned long long)v);
#else
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)v);
#endif
}

/* The order of atomic additions decides who sees a wrap, not how many there are in all. */
MATH_FN void acc_sum(struct fixed_sum *s, int64_t v)
{
#ifdef MATH_ATOMIC
    int64_t wrap = fixed_wrap((int64_t)atomicAdd((unsigned long long *)&s->low, (unsigned long long)v), v);
    if (wrap)
        acc_add(&s->wraps, wrap);
#else
    fixed_add(s, v);
#endif
}

MATH_FN void acc_merge(struct fixed_sum *to, const struct fixed_sum *from)
{
    if (from->low)
        acc_sum(to, from->low);
    if (from->wraps)
        acc_add(&to->wraps, from->wraps);
}

/* U of one contribution at a window; whatever its size, it is no error. limit: FIXED_ENERGY_LIMIT, FIXED_TOTAL_LIMIT */
MATH_FN void acc_window(struct fixed_sum *window, double u, double limit)
{
    acc_sum(window, fixed_clamped(u, limit));
}

/* ---- one thread's sums ---- */

MATH_FN void acc_clamped(struct accumulate *a, uint32_t what, uint32_t count)
{
    a->overflow += count;
    a->clamped |= count ? 1u << what : 0;
}

/* limit: FIXED_ENERGY_LIMIT for one pair or term, FIXED_TOTAL_LIMIT for a whole sum */
MATH_FN void acc_energy_within(struct accumulate *a, enum term term, double u, double limit)
{
    fixed_add(&a->energy[term], fixed_clamped(u, limit));
    acc_clamped(a, term, fixed_beyond(u, limit));
}

MATH_FN void acc_dvdl_within(struct accumulate *a, enum lambda component, double du_dl, double limit)
{
    fixed_add(&a->dvdl[component], fixed_clamped(du_dl, limit));
    acc_clamped(a, CLAMPED_DVDL, fixed_beyond(du_dl, limit));
}

MATH_FN void acc_virial_within(struct accumulate *a, int element, double xi, double limit)
{
    fixed_add(&a->virial[element], fixed_clamped(xi, limit));
    acc_clamped(a, CLAMPED_VIRIAL, fixed_beyond(xi, limit));
}

MATH_FN void acc_energy(struct accumulate *a, enum term term, double u)
{
    acc_energy_within(a, term, u, FIXED_ENERGY_LIMIT);
}

MATH_FN void acc_dvdl(struct accumulate *a, enum lambda component, double du_dl)
{
    acc_dvdl_within(a, component, du_dl, FIXED_ENERGY_LIMIT);
}

/* Xi -= 1/2 r x force */
MATH_FN void acc_virial(struct accumulate *a, const double r[3], const double force[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            acc_virial_within(a, 3 * i + j, -0.5 * r[i] * force[j], FIXED_ENERGY_LIMIT);
}

/* acc_force of what is too large, or no number. Returns how many components were clamped. */
MATH_FN_APART uint32_t acc_force_clamped(int64_t f[3], double x, double y, double z)
{
    const double force[3] = {x, y, z};
    uint32_t clamped = 0;
    for (int d = 0; d < 3; d++) {
        acc_add(&f[d], fixed_clamped(force[d], FIXED_FORCE_LIMIT));
        clamped += fixed_beyond(force[d], FIXED_FORCE_LIMIT);
    }
    return clamped;
}

MATH_FN int force_within(const double force[3])
{
    const double limit = FIXED_FORCE_LIMIT;
    return fabs(force[0]) <= limit && fabs(force[1]) <= limit && fabs(force[2]) <= limit;
}

/* A force on one atom, kJ/mol/nm. */
MATH_FN void acc_force(struct accumulate *a, int64_t f[3], const double force[3])
{
    if (!force_within(force)) {
        acc_clamped(a, CLAMPED_FORCE, acc_force_clamped(f, force[0], force[1], force[2]));
        return;
    }
    for (int d = 0; d < 3; d++)
        acc_add(&f[d], fixed_within(force[d]));
}

/* One thread's sums into the replica's. */
MATH_FN void acc_finish(const struct accumulate *a, struct accumulate *total)
{
    for (int i = 0; i < TERM_COUNT; i++)
        acc_merge(&total->energy[i], &a->energy[i]);
    for (int i = 0; i < LAMBDA_COUNT; i++)
        acc_merge(&total->dvdl[i], &a->dvdl[i]);
    for (int i = 0; i < 9; i++)
        acc_merge(&total->virial[i], &a->virial[i]);
    if (a->overflow)
        acc_add((int64_t *)&total->overflow, (int64_t)a->overflow);
#ifdef MATH_ATOMIC
    if (a->clamped)
        atomicOr(&total->clamped, a->clamped);
#else
    total->clamped |= a->clamped;
#endif
}

/* Sum of the energy terms, kJ/mol. */
MATH_FN double acc_potential(const struct accumulate *a)
{
    struct fixed_sum sum = {0, 0};
    for (int i = 0; i < TERM_COUNT; i++) {
        fixed_add(&sum, a->energy[i].low);
        sum.wraps += a->energy[i].wraps;
    }
    return fixed_total(sum);
}

#endif
