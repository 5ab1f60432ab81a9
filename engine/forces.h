/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-bonded and alchemical forces: pair lists, pair interactions, exclusions, PME, dispersion correction. step.c emits
 * them between its own launches.
 *
 *   struct forces          per model: read-only parameters in device memory of its own (a span of every replica)
 *   struct forces_replica  per replica: where its arrays are in the replica's arena, and how large they are
 *
 * Before them the caller's `clear` has run. They add to f, to the sums in ctl (with energies) and to u_window[k], the
 * lambda-dependent energy at window k (samples). U at window k minus U here is u_window[k] - u_window[ctl->window], so what
 * is common to all windows may be left out.
 */
#ifndef SHOAL_ENGINE_FORCES_H
#define SHOAL_ENGINE_FORCES_H

#include "engine/ctl.h"
#include "engine/settings.h"
#include "engine/system.h"
#include "graphs/check.h"
#include "graphs/dev.h"
#include "graphs/tape.h"

struct forces;

/* unit: [natoms], atoms with one number are whole with each other in x. ERR_UNSUPPORTED, ERR_TOPOLOGY, ERR_SPEC: what does
 * not fit together. `sys`, `set`, `unit` are only read here. */
int forces_new(struct forces **out, struct dev *dev, const struct system *sys, const struct settings *set,
               const int32_t *unit, struct err *e);
void forces_free(struct forces *f);
struct span forces_span(const struct forces *f);

/* What the caller owns of a replica. Device addresses. */
struct forces_arrays {
    struct ctl *ctl;
    double *x;         /* [natoms][3], nm, molecules whole, not wrapped */
    int64_t *f;        /* [natoms][3], units of 2^-32 kJ/mol/nm */
    int64_t *u_window; /* [nwindows], units of 2^-32 kJ/mol */
};

/* Capacities that may have to grow. */
struct forces_caps {
    uint32_t entries; /* of the cluster list: halt HALT_LIST with where[0] = 0 */
    uint32_t pairs;   /* of the alchemical pair list: where[0] = 1 */
};

/* A first guess from density and box. */
void forces_caps_guess(const struct forces *f, struct forces_caps *caps);
/* After HALT_LIST: capacities that hold what was asked for, with room. */
void forces_caps_grow(struct forces_caps *caps, const struct ctl *ctl);

/* Bytes (a multiple of 64) a replica's block takes. The block must be zeroed when it is new or caps have changed: the list
 * is then built by the next evaluation. The list is no part of a replica's state: bits do not depend on it. */
size_t forces_bytes(const struct forces *f, const struct forces_caps *caps);

enum forces_mode {
    FORCES_STEP,   /* forces only */
    FORCES_ENERGY, /* forces and energies of the current state (minimizer, barostat) */
    FORCES_SAMPLE, /* the same with virial, dU/dlambda and u_window */
};
/* Appends the launches of one evaluation. `block`: device address of forces_bytes() bytes, 64-byte aligned. */
void forces_emit(const struct forces *f, enum forces_mode mode, const struct forces_arrays *arrays,
                 const struct forces_caps *caps, void *block, struct tape *t);

#endif
