/* SPDX-License-Identifier: Apache-2.0
 *
 * Torsions about bonds that can turn: the slow coordinates of most molecules that an ensemble changes.
 */
#ifndef SHOAL_ENGINE_DERIVE_TORSIONS_H
#define SHOAL_ENGINE_DERIVE_TORSIONS_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

enum { TORSIONS_MAX = 64 };

struct bond_torsion {
    int atom[4];
};

/* [natoms] true of every atom of the residues that have an atom which the alchemy changes; the caller frees it. */
bool *changed_residues(const struct system *sys, const struct alchemy_settings *set);
/* One torsion for each bond that can turn and has an atom in a residue that the alchemy of `set` changes. Bonds of
 * rings, bonds that their own potential holds (amides, double bonds), bonds to a linear group, and bonds to a group of
 * equal ends (a methyl) that the alchemy leaves equal do not count. Returns how many, TORSIONS_MAX at most. */
int torsions_of(const struct system *sys, const struct alchemy_settings *set, struct bond_torsion out[TORSIONS_MAX]);
/* Its angle in a frame, radians. Molecules may be broken across the box. */
double torsion_angle(const struct bond_torsion *t, const double (*x)[3], const double box[BOX_SIZE]);

/* Turns of one torsion from frame to frame. Zeroed: no frame yet. */
struct torsion_turns {
    double toward[2]; /* sum of cosines and sines since the last turn */
    int64_t count;
};

/* Whether half a turn leaves the molecule as it was, because one end of the bond has two groups that are alike and no
 * other, such as a phenyl. A group is compared by its first atom. */
bool torsion_is_twofold(const struct system *sys, const struct bond_torsion *t);

/* The mean angle since the last turn, radians. */
double turns_mean(const struct torsion_turns *t);
/* Whether two angles lie in one well: at most 75 degrees from each other. twofold: half a turn apart is the same. */
bool torsion_same_well(double a, double b, bool twofold);
/* The next frame. A turn is an angle that lies more than 75 degrees from the mean angle since the last turn. */
void turns_add(struct torsion_turns *t, double angle);

#endif
