/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-bonded and alchemical forces: pair lists, pair interactions, exclusions, PME, dispersion correction. step.c emits
 * them between its own launches.
 *
 *   struct nonbonded          per model: read-only parameters in device memory of its own (a span of every replica)
 *   struct nonbonded_replica  per replica: where its arrays are in the replica's arena, and how large they are
 *
 * Before them the caller's `clear` has run. They add to f, to the sums in ctl (with energies) and to energy_at_window[k], the
 * lambda-dependent energy at window k (samples). U at window k minus U here is energy_at_window[k] - energy_at_window[ctl->window], so what
 * is common to all windows may be left out.
 */
#ifndef SHOAL_ENGINE_CPU_NONBONDED_H
#define SHOAL_ENGINE_CPU_NONBONDED_H

#include "engine/run/ctl.h"
#include "engine/system/settings.h"
#include "engine/system/system.h"
#include "graphs/check.h"
#include "graphs/dev.h"
#include "graphs/tape.h"

struct nonbonded;

/* unit: [natoms], atoms with one number are whole with each other in x. ERR_UNSUPPORTED, ERR_TOPOLOGY, ERR_SPEC: what does
 * not fit together. `sys`, `set`, `unit` are only read here. */
int nonbonded_new(struct nonbonded **out, struct dev *dev, const struct system *sys, const struct settings *set,
                  const int32_t *unit, struct err *e);
void nonbonded_free(struct nonbonded *f);
struct span nonbonded_span(const struct nonbonded *f);

/* What the caller owns of a replica. Device addresses. */
struct nonbonded_arrays {
    struct ctl *ctl;
    double *x;                 /* [natoms][3], nm, molecules whole, not wrapped */
    int64_t *f;                /* [natoms][3], units of 2^-32 kJ/mol/nm */
    int64_t *energy_at_window; /* [nwindows], units of 2^-32 kJ/mol */
};

/* Capacities that may have to grow. */
struct nonbonded_caps {
    uint32_t entries; /* of the cluster list: halt HALT_LIST with where[0] = 0 */
    uint32_t pairs;   /* of the alchemical pair list: where[0] = 1 */
};

/* A first guess from density and box. */
void nonbonded_caps_guess(const struct nonbonded *f, struct nonbonded_caps *caps);
/* After HALT_LIST: capacities that hold what was asked for, with room. */
void nonbonded_caps_grow(struct nonbonded_caps *caps, const struct ctl *ctl);

/* Bytes (a multiple of 64) a replica's block takes. The block must be zeroed when it is new or caps have changed: the list
 * is then built by the next evaluation. The list is no part of a replica's state: bits do not depend on it. */
size_t nonbonded_bytes(const struct nonbonded *f, const struct nonbonded_caps *caps);

enum evaluate {
    EVALUATE_STEP,   /* forces only */
    EVALUATE_ENERGY, /* forces and energies of the current state (minimizer, barostat) */
    EVALUATE_SAMPLE, /* the same with virial, dU/dlambda and energy_at_window */
};
/* Appends the launches of one evaluation. `block`: device address of nonbonded_bytes() bytes, 64-byte aligned. */
void nonbonded_emit(const struct nonbonded *f, enum evaluate mode, const struct nonbonded_arrays *arrays,
                    const struct nonbonded_caps *caps, void *block, struct tape *t);

#endif
