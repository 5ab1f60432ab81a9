/* SPDX-License-Identifier: Apache-2.0
 *
 * The launches of X-ray scattering on the CPU device.
 */
#ifndef SHOAL_ENGINE_CPU_OBSERVE_SAXS_H
#define SHOAL_ENGINE_CPU_OBSERVE_SAXS_H

#include "engine/run/sim_parts.h"

/* Of struct observe_launches. plan: struct saxs_plan. */
void cpu_saxs_emit(const struct observe_frame *f, struct tape *t);
uint32_t cpu_saxs_launches(const struct observable *o, const void *plan);
size_t cpu_saxs_work(const struct observable *o, const void *plan);

#endif
