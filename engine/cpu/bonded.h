/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a model's bonded terms on the CPU device, shared by the files that hold the lists.
 */
#ifndef SHOAL_ENGINE_CPU_BONDED_H
#define SHOAL_ENGINE_CPU_BONDED_H

#include <stdbool.h>

#include "engine/cpu/accumulate.h"
#include "engine/system/tables.h"

struct bonded_pass {
    struct accumulate sum;
    const struct ctl *ctl;
    const struct bonded_table *t;
    const double (*x)[3];
    int64_t (*f)[3];
    int64_t *energy_at_window;
    double lambda; /* bonded */
    bool energies, sample;
};

/* U of a perturbed term at window w. */
static inline void pass_window(struct bonded_pass *p, uint32_t w, double u)
{
    p->energy_at_window[w] += fixed_clamped(u, FIXED_ENERGY_LIMIT);
}

/* Force `over_r` dx on atom[0] and its opposite on atom[1]; dx = x[atom[0]] - x[atom[1]], nm; over_r in kJ/mol/nm^2. */
void pass_pair_force(struct bonded_pass *p, const int atom[2], const double dx[3], double over_r);

/* LJ-14 and Coulomb-14. */
void pass_pairs14(struct bonded_pass *p);

#endif
