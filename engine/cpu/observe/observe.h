/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables of the CPU program: see struct program.
 */
#ifndef SHOAL_ENGINE_CPU_OBSERVE_OBSERVE_H
#define SHOAL_ENGINE_CPU_OBSERVE_OBSERVE_H

#include "engine/run/program.h"

uint32_t cpu_observe_launches(const struct model *m);
size_t cpu_observe_work(const struct model *m);
void cpu_observe(const struct sim *s, struct tape *t);

#endif
