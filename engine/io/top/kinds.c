/* SPDX-License-Identifier: Apache-2.0
 *
 * The interactions that are read, with the function numbers and parameter counts of the GROMACS manual ("Topology file
 * formats", tables of the interaction types). Dihedral function 9 is function 1 with several terms for one set of
 * types.
 */
#include "engine/io/top/top.h"

#include <stdio.h>
#include <string.h>

enum { FUNCTIONS_MOST = 20 };

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
    [KIND_HARMONIC] = {"bonds", "a harmonic potential", 6, 2, 2, 2},
    [KIND_CMAP] = {"cmap", "a CMAP correction", 1, 5, 0, 0},
    [KIND_RARE + RARE_G96_BOND] = {"bonds", "a GROMOS-96 bond", 2, 2, 2, 2},
    [KIND_RARE + RARE_MORSE] = {"bonds", "a Morse bond", 3, 2, 3, 3},
    [KIND_RARE + RARE_CUBIC_BOND] = {"bonds", "a cubic bond", 4, 2, 3, 0},
    [KIND_RARE + RARE_FENE] = {"bonds", "a FENE bond", 7, 2, 2, 0},
    [KIND_RARE + RARE_DISTANCE_RESTRAINT] = {"bonds", "a distance restraint", 10, 2, 4, 4},
    [KIND_RARE + RARE_G96_ANGLE] = {"angles", "a GROMOS-96 angle", 2, 3, 2, 2},
    [KIND_RARE + RARE_QUARTIC_ANGLE] = {"angles", "a quartic angle", 6, 3, 6, 0},
    [KIND_RARE + RARE_RESTRICTED_ANGLE] = {"angles", "a restricted angle", 10, 3, 2, 0},
    [KIND_RARE + RARE_BOND_BOND] = {"angles", "a bond-bond cross term", 3, 3, 3, 0},
    [KIND_RARE + RARE_BOND_ANGLE] = {"angles", "a bond-angle cross term", 4, 3, 4, 0},
    [KIND_RARE + RARE_LINEAR_ANGLE] = {"angles", "a linear angle", 9, 3, 2, 2},
    [KIND_RARE + RARE_RESTRICTED_DIHEDRAL] = {"dihedrals", "a restricted dihedral", 10, 4, 2, 0},
    [KIND_RARE + RARE_DIHEDRAL_RESTRAINT] = {"dihedral_restraints", "a dihedral restraint", 1, 4, 3, 3},
    [KIND_RARE + RARE_BENDING_TORSION] = {"dihedrals", "a combined bending and torsion", 11, 4, 6, 0},
    [KIND_RARE + RARE_ANGLE_RESTRAINT] = {"angle_restraints", "an angle restraint", 1, 4, 3, 3},
    [KIND_RARE + RARE_FLAT_POSITION] = {"position_restraints", "a flat-bottomed position restraint", 2, 1, 3, 0},
    [KIND_RARE + RARE_ANGLE_RESTRAINT_Z] = {"angle_restraints_z", "an angle restraint", 1, 2, 3, 3},
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

int top_atoms_of(const char *section)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (!strcmp(top_kinds[k].section, section))
            return top_kinds[k].natoms;
    return 0;
}

const char *top_functions_of(const char *section, char *out, size_t size)
{
    int last = 0;
    size_t used = 0;
    for (int f = 1; f < FUNCTIONS_MOST; f++)
        if (top_kind_of(section, f) >= 0)
            last = f;
    out[0] = '\0';
    for (int f = 1; f <= last && used < size; f++)
        if (top_kind_of(section, f) >= 0)
            used += (size_t)snprintf(out + used, size - used, "%s%d", !used ? "" : f == last ? " or " : ", ", f);
    return out;
}
