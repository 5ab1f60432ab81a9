/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-bonded and alchemical forces on the CPU device: pair lists, pair interactions, exclusions, PME, dispersion
 * correction. step.c emits them between its own launches.
 *
 * Before them the caller's `clear` has run. They add to f, to the sums in ctl (with energies) and to
 * energy_at_window[k], the lambda-dependent energy at window k (samples). U at window k minus U here is the difference
 * to energy_at_window[ctl->window], so what is common to all windows may be left out.
 */
#ifndef SHOAL_ENGINE_CPU_NONBONDED_H
#define SHOAL_ENGINE_CPU_NONBONDED_H

#include "engine/run/program.h"

/* The calls of struct program. */
int nonbonded_new(struct nonbonded **out, struct dev *dev, const struct system *sys, const struct settings *set,
                  const struct topology *t, const struct lambda_rows *windows, struct err *e);
void nonbonded_free(struct nonbonded *f);
const struct readonly *nonbonded_tables(const struct nonbonded *f);
void nonbonded_caps_guess(const struct nonbonded *f, struct list_caps *caps);
void nonbonded_caps_grow(struct list_caps *caps, const struct ctl *ctl);
size_t nonbonded_bytes(const struct nonbonded *f, const struct list_caps *caps);

/* What the caller owns of a replica. Device addresses. */
struct cpu_nonbonded_arrays {
    struct ctl *ctl;
    double *x;                          /* [natoms][3], nm, molecules whole, not wrapped */
    int64_t *f;                         /* [natoms][3], units of 2^-32 kJ/mol/nm */
    struct fixed_sum *energy_at_window; /* [nwindows] */
};

/* Appends the launches of one evaluation, mesh: with that of the mesh, if there is one. `block`: device address of
 * nonbonded_bytes() bytes, 64-byte aligned. */
void nonbonded_emit(const struct nonbonded *f, enum evaluate mode, bool mesh, const struct cpu_nonbonded_arrays *arrays,
                    const struct list_caps *caps, void *block, struct tape *t);

#endif
