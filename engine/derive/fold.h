/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a protein keeps its fold, and a ligand its place in it: root mean square deviations from a start structure,
 * after the backbone of a frame has been laid over the backbone there. Every atom counts the same.
 */
#ifndef SHOAL_ENGINE_DERIVE_FOLD_H
#define SHOAL_ENGINE_DERIVE_FOLD_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

enum fold_group { FOLD_BACKBONE, FOLD_LIGAND, FOLD_GROUPS };
enum {
    FOLD_LEAST = 3 /* atoms of a backbone that has an orientation */,
    FOLD_RESIDUES = 10 /* of a protein, at least */
};

/* The backbone by names: N, CA and C of residues that have all three, if there are FOLD_RESIDUES of these. How many
 * atoms; *atoms, sorted, is the caller's. */
int fold_backbone(const struct system *sys, int **atoms);
/* The ligand: heavy atoms of the residues that the alchemy changes, without backbone (sorted, n of them) and without
 * atoms that are dummies in state A or B. Residues with fewer than FOLD_LEAST such atoms are none: an ion or a water
 * that takes a charge up may go where it will. Nor is what `temper` weakens. */
int fold_changed(const struct system *sys, const struct alchemy_settings *set, const int *backbone, int n, int **atoms);

struct fold;

/* Of groups of sorted atoms, FOLD_LEAST of the backbone at least; the start structure is sys->x in sys->box. The caller
 * closes it. */
struct fold *fold_new(const struct system *sys, const int *const atoms[FOLD_GROUPS], const int n[FOLD_GROUPS]);
void fold_free(struct fold *f);
/* Of each group in a frame of all atoms, nm; NAN of a group without atoms. Molecules may be broken across the box: each
 * atom is taken where it is nearest to the one that it is nearest to in the start structure. */
void fold_deviations(struct fold *f, const double (*x)[3], const double box[BOX_SIZE], double out[FOLD_GROUPS]);

#endif
