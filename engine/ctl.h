/* SPDX-License-Identifier: Apache-2.0
 *
 * The control block of a replica, in device memory: everything a launch depends on that changes with the step. Kernels
 * read and write it; launch arguments never hold such values. Plain data, 8-byte fields first.
 *
 * Kernels do nothing while `flags` is not zero: the state stays that of the last whole step.
 */
#ifndef SHOAL_ENGINE_CTL_H
#define SHOAL_ENGINE_CTL_H

#include <stdint.h>

#include "engine/sim.h"

enum ctl_flag {
    CTL_LIST_OVERFLOW = 1, /* a list is larger than its buffer: list.need_* say what it wants */
    CTL_FORCE_OVERFLOW = 2,
    CTL_CONSTRAINT = 4,
    CTL_NONFINITE = 8,
};

/* What an evaluation with energies adds up. Units of 2^-32 kJ/mol. Cleared before such an evaluation. */
struct ctl_sums {
    int64_t energy[TERM_COUNT];
    int64_t dvdl[LAMBDA_COUNT];
    int64_t virial[9];           /* Xi = -1/2 sum r x f, without constraint forces and dispersion correction */
    int64_t dispersion_virial;   /* each diagonal element of the dispersion correction's Xi */
};

struct ctl_list {
    double built_box[3]; /* box when the list was built, nm; 0: no list yet, which forces a build */
    uint64_t builds;
    uint32_t rebuild;    /* set by list_check for list_build */
    uint32_t clusters, entries, pairs; /* in the list now */
    uint32_t need_entries, need_pairs; /* capacities wanted at an overflow */
};

struct ctl {
    double box[3];                /* nm */
    double lambda[LAMBDA_COUNT];  /* of the window the replica is in */
    struct ctl_list list;
    struct ctl_sums sums;
    uint64_t clamped;             /* pair forces clamped since last cleared: fatal in dynamics, fine when minimizing */
    uint32_t window;
    uint32_t flags;               /* enum ctl_flag */
};

#endif
