/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms of virtual sites that cannot change, because the sites follow atoms that constraints hold. They have no
 * force, and a constraint on a site could not be kept, so the model leaves them out: the same terms as grompp
 * ("Cleaning up constraints and constant bonded interactions with virtual sites").
 */
#ifndef SHOAL_ENGINE_PREPARE_CONSTANT_TERMS_H
#define SHOAL_ENGINE_PREPARE_CONSTANT_TERMS_H

#include "engine/system/settings.h"
#include "engine/system/system.h"

struct constant_terms {
    const struct system *sys;
    enum constrain how;
    int32_t *site_of;   /* [natoms] index of the site that an atom is; -1: none. NULL: the system has no sites */
    int32_t (*held)[2]; /* pairs of atoms at a fixed distance, the smaller first, sorted */
    size_t nheld;
};

/* What becomes of a bond under the settings' constraints. */
enum bond_fate { BOND_STAYS, BOND_CONSTRAINED, BOND_CONSTANT };

void constant_terms_init(struct constant_terms *c, const struct system *sys, enum constrain how);
void constant_terms_close(struct constant_terms *c);

/* Of a bond of these atoms; of a rare term of any kind. One of a site that is a hydrogen by its name stays a bond
 * unless it is constant: grompp refuses that. */
enum bond_fate constant_terms_bond(const struct constant_terms *c, const int atom[2]);
enum bond_fate constant_terms_rare(const struct constant_terms *c, const struct rare_term *r);
/* Whether a bond, or a constraint, is constant; and angles; and periodic proper dihedrals and harmonic impropers. */
bool constant_bond(const struct constant_terms *c, const int atom[2], bool constraint);
bool constant_angle(const struct constant_terms *c, const int atom[3]);
bool constant_dihedral(const struct constant_terms *c, const int atom[4]);

#endif
