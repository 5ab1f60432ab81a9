/* SPDX-License-Identifier: Apache-2.0
 *
 * Host-side numbers of the terms that depend on no distance.
 */
#ifndef SHOAL_ENGINE_PREPARE_UNIFORM_H
#define SHOAL_ENGINE_PREPARE_UNIFORM_H

#include "engine/prepare/alchemy.h"

void uniform_table_make(struct uniform_table *u, const struct alchemy_plan *plan, const struct nonbonded_settings *set);

#endif
