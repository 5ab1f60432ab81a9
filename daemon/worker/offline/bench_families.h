/* SPDX-License-Identifier: Apache-2.0
 *
 * What the launches of a timestep are for, in words of the field: which family a kernel belongs to.
 */
#ifndef SHOAL_DAEMON_WORKER_OFFLINE_BENCH_FAMILIES_H
#define SHOAL_DAEMON_WORKER_OFFLINE_BENCH_FAMILIES_H

#include <stdint.h>

enum family {
    FAMILY_PAIRS,
    FAMILY_PERTURBED, /* pairs with a perturbed atom, where they have launches of their own; a GPU has them in terms */
    FAMILY_LISTS,
    FAMILY_MESH,
    FAMILY_TERMS,
    FAMILY_BIASES,
    FAMILY_MOTION,
    FAMILY_WHOLE_STEPS, /* of tiny systems, in one launch */
    FAMILY_SAMPLES,
    FAMILY_VOLUME_MOVES,
    FAMILY_WATER_MOVES,
    FAMILY_OBSERVABLES,
    FAMILY_REPORTS, /* to the host, and what else comes between steps */
    FAMILY_OTHER,   /* a kernel of timesteps that no row of bench_families.c names */
    FAMILY_COUNT
};

extern const char *const family_names[FAMILY_COUNT];

/* work: as tapes say it (sim_work_label, 0: none). */
enum family family_of(uint32_t work, const char *kernel);

#endif
