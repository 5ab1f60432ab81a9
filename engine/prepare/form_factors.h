/* SPDX-License-Identifier: Apache-2.0
 *
 * Which element an atom is, and how it scatters X-rays (form_factors.def has table and source).
 */
#ifndef SHOAL_ENGINE_PREPARE_FORM_FACTORS_H
#define SHOAL_ENGINE_PREPARE_FORM_FACTORS_H

#include "engine/math/scattering.h"
#include "engine/system/system.h"

struct element {
    const char *symbol;
    int number, charge; /* of the nucleus; of an ion, e */
    double weight;      /* u */
    struct form_factor factor;
};

/* The neutral element of a symbol such as "Cl"; NULL: none that there is a form factor for. Static. */
const struct element *element_named(const char *symbol);

/* What an atom scatters as, in state A: by the atomic number that [ atomtypes ] gives its type, else by its name where
 * the mass (before it was repartitioned) agrees. An atom that is a molecule of its own is an ion where it has the
 * charge of one. *out is static; NULL for an atom without mass, which scatters nothing. ERR_TOPOLOGY names the atom. */
int element_of_atom(const struct system *sys, int atom, const struct element **out, struct err *e);

#endif
