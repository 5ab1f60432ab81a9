/* SPDX-License-Identifier: Apache-2.0
 *
 * The interactions that are read, with the function numbers and parameter counts of the GROMACS manual ("Topology file
 * formats", tables of the interaction types). Dihedral function 9 is function 1 with several terms for one set of
 * types.
 */
#include "engine/io/top.h"

#include <string.h>

const struct top_kind_info top_kinds[KIND_COUNT] = {
    [KIND_BOND] = {"bonds", "a harmonic bond", 1, 2, 2, 2},
    [KIND_CONNECTION] = {"bonds", "a connection", 5, 2, 0, 0},
    [KIND_ANGLE] = {"angles", "a harmonic angle", 1, 3, 2, 2},
    [KIND_UREY_BRADLEY] = {"angles", "a Urey-Bradley angle", 5, 3, 4, 4},
    [KIND_DIHEDRAL] = {"dihedrals", "a proper dihedral", 1, 4, 3, 3},
    [KIND_PERIODIC_IMPROPER] = {"dihedrals", "a periodic improper dihedral", 4, 4, 3, 3},
    [KIND_IMPROPER] = {"dihedrals", "a harmonic improper dihedral", 2, 4, 2, 2},
    [KIND_RB] = {"dihedrals", "a Ryckaert-Bellemans dihedral", 3, 4, 6, 6},
    [KIND_FOURIER] = {"dihedrals", "a Fourier dihedral", 5, 4, 4, 4},
    [KIND_PAIR] = {"pairs", "a 1-4 pair", 1, 2, 2, 2},
    [KIND_PAIR_OWN] = {"pairs", "a 1-4 pair with its own charges", 2, 2, 5, 0},
    [KIND_PAIR_NB] = {"pairs_nb", "a non-bonded pair", 1, 2, 4, 0},
    [KIND_CONSTRAINT] = {"constraints", "a constraint", 1, 2, 1, 1},
    [KIND_CONSTRAINT_NO_BOND] = {"constraints", "a constraint without a bond", 2, 2, 1, 1},
    [KIND_SETTLE] = {"settles", "SETTLE", 1, 1, 2, 0},
    [KIND_POSITION_RESTRAINT] = {"position_restraints", "a position restraint", 1, 1, 3, 3},
};

int top_kind_of(const char *section, long funct)
{
    if (funct == 9 && !strcmp(section, "dihedrals"))
        return KIND_DIHEDRAL;
    for (int k = 0; k < KIND_COUNT; k++)
        if (top_kinds[k].funct == funct && !strcmp(top_kinds[k].section, section))
            return k;
    return -1;
}
