/* SPDX-License-Identifier: Apache-2.0
 *
 * What each integrator is, beside its arithmetic (engine/kernels/motion.h): engine/system/integrators.def.
 */
#ifndef SHOAL_ENGINE_SYSTEM_INTEGRATORS_H
#define SHOAL_ENGINE_SYSTEM_INTEGRATORS_H

#include <stdbool.h>

struct buf;

enum integrator {
#define INTEGRATOR(name, ...) INTEGRATOR_##name,
#include "engine/system/integrators.def"
};

/* What keeps the temperature. */
enum thermostat { THERMOSTAT_NONE, THERMOSTAT_FRICTION };

struct integrator_info {
    const char *word; /* of a spec */
    enum thermostat thermostat;
    int bond_steps;   /* timesteps of one swing of a bond where masses are repartitioned */
    const char *text; /* for a methods section */
};
extern const struct integrator_info integrators[];

static inline bool integrator_conserves_energy(enum integrator kind)
{
    return integrators[kind].thermostat == THERMOSTAT_NONE;
}

/* Appends the words of those with such a thermostat; of those with any, or with none: "a, b or c". */
void integrators_with(enum thermostat thermostat, struct buf *out);
void integrators_with_thermostat(bool any, struct buf *out);

#endif
