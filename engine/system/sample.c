/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/sample.h"

const char *const term_names[TERM_COUNT] = {
    "bond",       "angle", "urey_bradley",          "proper_dihedral", "improper_dihedral",  "lj_14",
    "coulomb_14", "lj",    "dispersion_correction", "coulomb",         "coulomb_reciprocal", "restraint"};
