/* SPDX-License-Identifier: Apache-2.0
 *
 * Bonded terms of virtual sites that cannot change, because the sites follow atoms that constraints hold. They have no force, and a
 * constraint on a site could not be kept, so the model leaves them out: the same terms as grompp ("Cleaning up constraints and
 * constant bonded interactions with virtual sites").
 */
#ifndef SHOAL_ENGINE_SYSTEM_CONSTANT_TERMS_H
#define SHOAL_ENGINE_SYSTEM_CONSTANT_TERMS_H

#include "engine/system/system.h"

struct constant_terms {
    const struct system *sys;
    int32_t *site_of;   /* [natoms] index of the site that an atom is; -1: none. NULL: the system has no sites */
    int32_t (*held)[2]; /* pairs of atoms at a fixed distance, the smaller first, sorted */
    size_t nheld;
};

/* First of a system, then every pair that is held, then sorted: then it answers. */
void constant_terms_init(struct constant_terms *c, const struct system *sys);
void constant_terms_hold(struct constant_terms *c, int a, int b);
void constant_terms_sort(struct constant_terms *c);
void constant_terms_close(struct constant_terms *c);

/* Whether a bond, or a constraint, is constant. */
bool constant_bond(const struct constant_terms *c, const int atom[2], bool constraint);
bool constant_angle(const struct constant_terms *c, const int atom[3]);
/* Of periodic proper dihedrals and harmonic impropers. */
bool constant_dihedral(const struct constant_terms *c, const int atom[4]);

#endif
