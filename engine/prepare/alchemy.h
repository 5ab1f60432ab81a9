/* SPDX-License-Identifier: Apache-2.0
 *
 * What the alchemy settings make of a topology: charge and LJ type of every atom in both end states, which atoms are
 * perturbed, exclusions and pairs outside the lists. On the host, while a model is made.
 */
#ifndef SHOAL_ENGINE_PREPARE_ALCHEMY_H
#define SHOAL_ENGINE_PREPARE_ALCHEMY_H

#include <stdbool.h>

#include "engine/prepare/device_tables.h"

struct alchemy_plan {
    int natoms, ntypes;
    struct lj *lj;           /* [ntypes][ntypes]; a last type without any LJ is added for decoupled atoms */
    double *charge, *change; /* [natoms], e: state A, and B minus A; over the root of epsilon-r */
    int32_t *type[2];        /* [natoms] */
    int32_t *plain, *perturbed;
    int nplain, nperturbed;
    int32_t *exclusion_start, *exclusion;   /* sorted, symmetric, with the kept inner pairs */
    struct nb_excluded *excluded;           /* both charges constant */
    struct nb_excluded *excluded_perturbed; /* with PME also pairs charged in A alone and in B alone */
    int nexcluded, nexcluded_perturbed;
    struct nb_always *always;
    int nalways;
};

/* unit: atoms with one number are whole with each other. ERR_SPEC: no molecule of a name to decouple. */
int alchemy_plan_make(struct alchemy_plan *p, const struct system *sys, const struct settings *set, const int32_t *unit,
                      struct err *e);
void alchemy_plan_close(struct alchemy_plan *p);
/* Whether the pair of two atoms is among its exclusions. */
bool alchemy_excludes(const struct alchemy_plan *p, int32_t i, int32_t j);

/* listed: of pairs within cut-offs; others, the 1-4 pairs, feel no reaction field. */
struct soft_rule soft_rule_of(const struct settings *set, bool listed);

/* Whether windows differ in a component. */
bool alchemy_moves(const struct alchemy_settings *set, enum lambda component);

/* What `set` says of the molecule of an atom; NULL: it is not decoupled. */
const struct decoupled *alchemy_decoupled(const struct system *sys, const struct alchemy_settings *set, int atom);

/* The charge of an atom in states A and B, e. */
void alchemy_charges(const struct system *sys, const struct alchemy_settings *set, int atom, double charge[2]);

#endif
