/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/offline/bench_families.h"

#include <string.h>

#include "engine/run/sim.h"

const char *const family_names[FAMILY_COUNT] = {[FAMILY_PAIRS] = "pairs",
                                                [FAMILY_PERTURBED] = "perturbed pairs",
                                                [FAMILY_LISTS] = "lists",
                                                [FAMILY_MESH] = "mesh",
                                                [FAMILY_TERMS] = "terms",
                                                [FAMILY_BIASES] = "biases",
                                                [FAMILY_MOTION] = "motion",
                                                [FAMILY_WHOLE_STEPS] = "whole steps",
                                                [FAMILY_SAMPLES] = "samples",
                                                [FAMILY_VOLUME_MOVES] = "volume moves",
                                                [FAMILY_WATER_MOVES] = "water moves",
                                                [FAMILY_OBSERVABLES] = "observables",
                                                [FAMILY_REPORTS] = "reports",
                                                [FAMILY_OTHER] = "other"};

/* Of a timestep, by how the names of kernels begin: the first row that fits. */
static const struct {
    const char *begins;
    enum family family;
} rows[] = {
    {"pairs_perturbed", FAMILY_PERTURBED},
    {"pairs_apart", FAMILY_TERMS}, /* that no list has: excluded ones, and those of all distances */
    {"pairs", FAMILY_PAIRS},
    {"list_", FAMILY_LISTS},
    {"mesh_", FAMILY_MESH},
    {"terms", FAMILY_TERMS},
    {"bonded", FAMILY_TERMS},
    {"uniform", FAMILY_TERMS},
    {"biases", FAMILY_BIASES},
    {"coordinations", FAMILY_BIASES},
    {"order_coordinations", FAMILY_BIASES},
#define INTEGRATOR(name, word, kernel, ...) {#kernel, FAMILY_MOTION},
#include "engine/system/integrators.def"
    {"clear", FAMILY_MOTION},
    {"remove_com", FAMILY_MOTION},
    {"sites_", FAMILY_MOTION},
    {"tiny", FAMILY_WHOLE_STEPS},
};

static enum family of_timestep(const char *kernel)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strncmp(kernel, rows[i].begins, strlen(rows[i].begins)))
            return rows[i].family;
    return FAMILY_OTHER;
}

enum family family_of(uint32_t work, const char *kernel)
{
    if (work == sim_work_label(SIM_STEP) || work == sim_work_label(SIM_INNER))
        return of_timestep(kernel);
    if (work == sim_work_label(SIM_SAMPLE))
        return FAMILY_SAMPLES;
    if (work == sim_work_label(SIM_BAROSTAT))
        return FAMILY_VOLUME_MOVES;
    if (work == sim_work_label(SIM_WATERS))
        return FAMILY_WATER_MOVES;
    return work == sim_work_label(SIM_OBSERVE) ? FAMILY_OBSERVABLES : FAMILY_REPORTS;
}
