/* SPDX-License-Identifier: Apache-2.0
 *
 * What follows from a system's topology and the settings, on the host: which atoms belong together, which distances are
 * held fixed, which bonded terms remain. Used while a model is made.
 */
#ifndef SHOAL_ENGINE_PREPARE_TOPOLOGY_H
#define SHOAL_ENGINE_PREPARE_TOPOLOGY_H

#include "engine/prepare/constant_terms.h"
#include "engine/system/settings.h"
#include "engine/system/system.h"
#include "engine/prepare/device_tables.h"

struct topology {
    /* molecules in the chemical sense: atoms joined by bonds, connections, constraints, settles or any bonded term */
    struct unit *units;
    int32_t *unit_atoms;
    int32_t *unit_of; /* [natoms] */
    int nunits;

    struct rigid_water *waters;
    int nwaters;
    struct fixed_distance *distances; /* sorted by cluster */
    int ndistances;
    struct cluster *clusters;
    int nclusters;
    int32_t *cluster_atoms; /* by cluster */
    uint32_t ncluster_atoms;
    int32_t *lone; /* atoms in no water and no cluster */
    uint32_t nlone;

    /* bonded terms that remain after bonds became constraints; those that differ between A and B at the end */
    struct bond *bonds;
    struct angle *angles;
    struct dihedral *dihedrals;
    struct rb_dihedral *rb_dihedrals;
    struct improper *impropers;
    struct pair14 *pairs14;
    struct soft_pair *soft14; /* of the perturbed ones */
    struct soft_rule soft;
    struct position_restraint *position_restraints;
    struct rare_term *rare;
    struct center_restraint *centers;
    struct cmap *cmaps;
    double (*cmap_points)[CMAP_NUMBERS];
    uint32_t ncmap_points;
    struct term_list nbonds, nangles, ndihedrals, nrb_dihedrals, nimpropers, npairs14, nposition_restraints, nrare,
        ncmaps, ncenters;
};

/* ERR_TOPOLOGY: an atom in a settle and a constraint, in two settles, a settle with unequal hydrogens. */
int topology_build(struct topology *t, const struct system *sys, const struct settings *set, struct err *e);
/* The lists of terms (bonded_lists.c), called by topology_build once t->bonds and t->rare hold what has become no
 * constraint. */
void topology_terms(struct topology *t, const struct system *sys, const struct settings *set,
                    const struct constant_terms *constant);
void topology_close(struct topology *t);
/* The first constraint whose length differs between windows; NULL: all keep theirs. */
const struct fixed_distance *topology_stretched(const struct topology *t, const struct settings *set);
/* How many terms and constraints have other numbers in state B, of those that the ladder of `component` changes: bonded
 * terms and constraints (LAMBDA_BONDED) or restraints (LAMBDA_RESTRAINT). */
uint32_t topology_changing(const struct topology *t, enum lambda component);

/* out: the start's x with every molecule whole: each atom is the image nearest to the one it is bonded to, virtual
 * sites are where they belong. */
void topology_whole(const struct topology *t, const struct system *sys, const struct start *from, double (*out)[3]);

#endif
