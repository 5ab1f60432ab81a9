/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of observables, and what their files share.
 */
#ifndef SHOAL_ENGINE_OBSERVE_KINDS_H
#define SHOAL_ENGINE_OBSERVE_KINDS_H

#include "engine/observe/observe.h"

/* sums.c: the particles of its first group, atoms or molecules: how many, and where each begins in the group: *first is
 * the caller's, [n + 1]. */
uint32_t observe_particles(const struct observable *o, const struct system *sys, bool molecules, int32_t **first);

/* Each in a file of its own. */
#define OBSERVABLE(KIND, word, launch) extern const struct observe_kind word##_kind;
#include "engine/system/observables.def"

#endif
