/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/sample.h"

#include <stdio.h>

const char *const term_names[TERM_COUNT] = {
    "bond",       "angle", "urey_bradley",          "proper_dihedral", "improper_dihedral",  "lj_14",
    "coulomb_14", "lj",    "dispersion_correction", "coulomb",         "coulomb_reciprocal", "restraint",
    "cmap",       "bias"};

const char *clamped_names(uint32_t clamped, char *out, size_t size)
{
    static const char *const others[] = {"dU/dlambda", "virial", "force"};
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < CLAMPED_COUNT; i++)
        if (clamped >> i & 1 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
                                     i < TERM_COUNT ? term_names[i] : others[i - TERM_COUNT]);
    return out;
}
