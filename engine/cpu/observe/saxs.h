/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of observables that are more than one, on the CPU device.
 */
#ifndef SHOAL_ENGINE_CPU_OBSERVE_SAXS_H
#define SHOAL_ENGINE_CPU_OBSERVE_SAXS_H

#include "engine/observe/saxs_plan.h"
#include "engine/run/sim.h"
#include "graphs/tape.h"

/* Bytes of working memory, and the launches of one frame; table, seen: device addresses. */
size_t cpu_saxs_work(const struct saxs_plan *p);
void cpu_saxs_emit(const struct sim *s, const struct saxs_plan *p, const void *table, void *seen, struct tape *t);

#endif
