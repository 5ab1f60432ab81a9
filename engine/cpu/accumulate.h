/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of one kernel on the CPU device in fixed point, added to ctl once at its end.
 */
#ifndef SHOAL_ENGINE_CPU_ACCUMULATE_H
#define SHOAL_ENGINE_CPU_ACCUMULATE_H

#include "engine/run/ctl.h"
#include "engine/math/fixed.h"

struct accumulate {
    int64_t energy[TERM_COUNT], dvdl[LAMBDA_COUNT], virial[9];
    uint64_t overflow;
};

static inline void acc_energy(struct accumulate *a, enum term term, double u)
{
    a->energy[term] += fixed_clamped(u, FIXED_ENERGY_LIMIT);
    a->overflow += fixed_beyond(u, FIXED_ENERGY_LIMIT);
}

static inline void acc_dvdl(struct accumulate *a, enum lambda component, double du_dl)
{
    a->dvdl[component] += fixed_clamped(du_dl, FIXED_ENERGY_LIMIT);
    a->overflow += fixed_beyond(du_dl, FIXED_ENERGY_LIMIT);
}

/* A force on one atom, kJ/mol/nm. */
static inline void acc_force(struct accumulate *a, int64_t f[3], const double force[3])
{
    for (int d = 0; d < 3; d++) {
        f[d] += fixed_clamped(force[d], FIXED_FORCE_LIMIT);
        a->overflow += fixed_beyond(force[d], FIXED_FORCE_LIMIT);
    }
}

/* Xi -= 1/2 r x force */
static inline void acc_virial(struct accumulate *a, const double r[3], const double force[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a->virial[3 * i + j] += fixed_clamped(-0.5 * r[i] * force[j], FIXED_ENERGY_LIMIT);
}

static inline void acc_finish(const struct accumulate *a, struct ctl *c)
{
    for (int i = 0; i < TERM_COUNT; i++)
        c->energy[i] += a->energy[i];
    for (int i = 0; i < LAMBDA_COUNT; i++)
        c->dvdl[i] += a->dvdl[i];
    for (int i = 0; i < 9; i++)
        c->virial[i] += a->virial[i];
    c->overflow += a->overflow;
}

#endif
