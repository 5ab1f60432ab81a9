/* SPDX-License-Identifier: Apache-2.0
 *
 * What each kind of struct rare_term is (engine/math/bonded_kinds.def), where code asks for more than its formula.
 */
#ifndef SHOAL_ENGINE_SYSTEM_RARE_KINDS_H
#define SHOAL_ENGINE_SYSTEM_RARE_KINDS_H

#include <stdbool.h>

#include "engine/math/terms.h"

enum rare_part { RARE_PART_BOND_LENGTH, RARE_PART_BOND, RARE_PART_ANGLE, RARE_PART_DIHEDRAL, RARE_PART_RESTRAINT };
enum rare_coordinate { RARE_OF_DISTANCE, RARE_OF_ANGLE, RARE_OF_DIHEDRAL, RARE_OF_OTHER };
enum rare_first { RARE_FIRST_VALUE, RARE_FIRST_RADIANS, RARE_FIRST_COSINE };

struct rare_kind_info {
    int natoms;
    enum rare_part part;
    enum rare_coordinate coordinate;
    enum rare_first first;
};
extern const struct rare_kind_info rare_kinds[RARE_KINDS];

/* `kind`: enum rare_kind, as struct rare_term has it. */
static inline bool rare_is_bond(int kind)
{
    return rare_kinds[kind].part == RARE_PART_BOND || rare_kinds[kind].part == RARE_PART_BOND_LENGTH;
}

static inline bool rare_is_restraint(int kind)
{
    return rare_kinds[kind].part == RARE_PART_RESTRAINT;
}

#endif
