/* SPDX-License-Identifier: Apache-2.0
 *
 * What the topology reader refuses of molecule types: the exact sentence for each kind of bad input.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/top_text.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_bad_molecules(void **state)
{
    static const struct top_bad bad[] = {
        {FORCE_FIELD "[ moleculetype ]\nM\n", T,
         "x.top:10: [ moleculetype ]: the line ends after 1 word, expected nrexcl"},
        {FORCE_FIELD "[ moleculetype ]\nM 3 4\n", T,
         "x.top:10: [ moleculetype ]: read '4' after name and nrexcl, expected the end of the line"},
        {FORCE_FIELD MOLECULE "[ moleculetype ]\nM 3\n", T,
         "x.top:18: [ moleculetype ]: molecule type M is defined before"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n7 A 1 R C6 1\n", T,
         "x.top:18: [ atoms ]: read atom number 7, expected 6: atoms are numbered from 1 without gaps"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 A 1 R C6\n", T,
         "x.top:18: [ atoms ]: read 5 words, expected 6 or more: number type residue-number residue name charge-group "
         "[charge "
         "[mass [typeB [chargeB [massB]]]]]"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 A 1 R C6 1 0 12 A 0 12 0\n", T,
         "x.top:18: [ atoms ]: read '0' after the last value, expected the end of the line"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 A 1 R C6 1 0 12 # text\n", T,
         "x.top:18: [ atoms ]: read '#', expected an atom type of [ atomtypes ]"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 Q 1 R C6 1\n", T,
         "x.top:18: [ atoms ]: read 'Q', expected an atom type of [ atomtypes ]"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 S 1 R C6 1\n", U,
         "x.top:18: [ atoms ]: atom type S is a shell: only atoms and virtual sites are computed"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 A 1 R C6 1 0 12 B 0 -1\n", T,
         "x.top:18: [ atoms ]: atom 6 (C6) has mass -1 in state B, expected a positive mass"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 A one R C6 1\n", T,
         "x.top:18: [ atoms ]: read 'on', expected a residue number (a whole number)"},
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 A 1 R C123456789012345 1\n", T,
         "x.top:18: [ atoms ]: read 'C123456789012345', expected an atom name of at most 15 characters"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 6 1 0.1 1\n", T,
         "x.top:18: [ bonds ]: read 6, expected an atom number of the molecule from 1 to 5"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 1 1 0.1 1\n", T, "x.top:18: [ bonds ]: atom 1 is on the line twice"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 9 0 1\n", U,
         "x.top:18: [ bonds ]: function 9 (tabulated) is not computed, expected 1, 2, 3, 4, 5, 6, 7 or 10"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 1 0.1\n", T,
         "x.top:18: [ bonds ]: read 1 parameter, expected 2 (A) or 4 (A and B) for a harmonic bond (funct 1)"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 1 0.1 1 nan 2\n", T,
         "x.top:18: [ bonds ]: read 'nan', expected a parameter of state B (a number)"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 1 0.1 1 0.2 text\n", T,
         "x.top:18: [ bonds ]: read 3 parameters, expected 2 (A) or 4 (A and B) for a harmonic bond (funct 1)"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 1 gb_99\n", T,
         "x.top:18: [ bonds ]: read 'gb_99', expected a parameter (a number, or a macro that is defined)"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2\n", T,
         "x.top:18: [ bonds ]: read no parameters, expected 2 for a harmonic bond (no types of that function are "
         "defined)"},
        {FORCE_FIELD "[ bondtypes ]\nCA CA 1 0.1 1\n" MOLECULE "[ bonds ]\n1 4\n", T,
         "x.top:20: [ bonds ]: read no parameters, and there are none for a harmonic bond between the types A B"},
        {FORCE_FIELD MOLECULE "[ pairs ]\n1 4 2\n", T,
         "x.top:18: [ pairs ]: read no parameters, expected 5 for a 1-4 pair with its own charges (no types of that "
         "function "
         "are defined)"},
        {FORCE_FIELD MOLECULE "[ pairs ]\n1 4 2 0.5\n", T,
         "x.top:18: [ pairs ]: read 1 parameter, expected 5 for a 1-4 pair with its own charges (funct 2)"},
        {"[ defaults ]\n1 1\n[ atomtypes ]\nA 1 0 A 1 1\n[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 R A 1\n2 A 1 R A 1\n[ "
         "pairs ]\n1 2\n",
         T, "x.top:11: [ pairs ]: read no parameters, and there are none for a 1-4 pair between the types A A"},
        {"[ defaults ]\n1 2 no\n[ atomtypes ]\nA 1 0 A 1 1\nB 1 0 A 1 1\n[ pairtypes ]\nA A 1 1 1\n"
         "[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 R A 1\n2 A 1 R A 1 0 1 B\n[ pairs ]\n1 2\n",
         T,
         "x.top:14: [ pairs ]: the types of A have parameters of a 1-4 pair, those of B (A B) none: give them on the "
         "line"},
        {FORCE_FIELD MOLECULE "[ dihedrals ]\n1 2 3 4 1 0 1 2.5\n", T,
         "x.top:18: [ dihedrals ]: read multiplicity 2.5, expected a whole number"},
        {FORCE_FIELD MOLECULE "[ dihedrals ]\n1 2 3 4 9 0 1 2 0 1 3\n", U,
         "x.top:18: [ dihedrals ]: multiplicity 2 in A and 3 in B: it can not be perturbed"},
        {FORCE_FIELD MOLECULE "[ dihedrals ]\n1 2 3 4 8 0 1\n", U,
         "x.top:18: [ dihedrals ]: function 8 (tabulated) is not computed, expected 1, 2, 3, 4, 5, 9, 10 or 11"},
        {FORCE_FIELD "[ dihedraltypes ]\nCA CA CA CA 9 0 1 1\nCA CA CA CA 9 0 1 2\nCB CA CA CA 9 0 1 1\n"
                     "[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 R A 1 0 1 B\n2 A 1 R A 1\n3 A 1 R A 1\n4 A 1 R A 1\n"
                     "[ dihedrals ]\n1 2 3 4 9\n",
         T,
         "x.top:21: [ dihedrals ]: the types of A have 2 dihedral terms, those of B 1 other: give the parameters on "
         "the line"},
        {FORCE_FIELD MOLECULE "[ settles ]\n4 1 0.1 0.16\n", T,
         "x.top:18: [ settles ]: atom 4: two more atoms (the hydrogens) must follow it in the molecule"},
        {FORCE_FIELD MOLECULE "[ settles ]\n1 1 0.1 0\n", T, "x.top:18: [ settles ]: expected positive lengths in nm"},
        {FORCE_FIELD MOLECULE "[ constraints ]\n1 2 1 0.1 0\n", T,
         "x.top:18: [ constraints ]: expected positive lengths in nm"},
        {FORCE_FIELD MOLECULE "[ position_restraints ]\n1 2 9 1 1\n", T,
         "x.top:18: [ position_restraints ]: read geometry 9, expected 1 to 8: sphere, cylinder, x, y, z, cylinder-x, "
         "cylinder-y or cylinder-z"},
        {FORCE_FIELD MOLECULE "[ angle_restraints ]\n1 1 2 3 1 90 10 1\n", T,
         "x.top:18: [ angle_restraints ]: atom 1 is on the line twice"},
        {FORCE_FIELD MOLECULE "[ exclusions ]\n1 2 6\n", T,
         "x.top:18: [ exclusions ]: read 6, expected an atom number of the molecule from 1 to 5"},
    };
    top_refuse_all(bad, COUNT(bad));
}

/* Atoms 1 to 5 have mass, 6 and 7 have none. */
#define MASSLESS MOLECULE "6 V 1 RES M1 1\n7 V 1 RES M2 1\n"

static void test_bad_sites(void **state)
{
    static const struct top_bad bad[] = {
        {FORCE_FIELD MOLECULE "[ atoms ]\n6 A 1 R C6 1 0 0\n" TAIL, T,
         "x.top:10: molecule type M: atom 6 (C6) has mass 0 in state A, expected a positive mass or a line of [ "
         "virtual_sites ] that places it"},
        {FORCE_FIELD MASSLESS "[ virtual_sites2 ]\n6 1 2 1 0.5\n" TAIL, T,
         "x.top:10: molecule type M: atom 7 (M2) has mass 0 in state A, expected a positive mass or a line of [ "
         "virtual_sites ] that places it"},
        {FORCE_FIELD MASSLESS "[ virtual_sites2 ]\n6 1 2 1 0.5\n7 1 6 1 0.5\n" TAIL, U,
         "x.top:10: molecule type M: virtual site 7 is placed by atom 6, which is one too: expected atoms with mass"},
        {FORCE_FIELD MOLECULE "[ virtual_sites2 ]\n5 1 2 1 0.5\n" TAIL, T,
         "x.top:10: molecule type M: virtual site 5 (C5) has mass 12, expected none"},
        {FORCE_FIELD MASSLESS "[ virtual_sites3 ]\n6 1 2 3 5 0.5\n", U,
         "x.top:20: [ virtual_sites3 ]: function 5 is not computed, expected 1, 2, 3 or 4"},
        {FORCE_FIELD MASSLESS "[ virtual_sites3 ]\n6 1 2 3 1 0.5\n", T,
         "x.top:20: [ virtual_sites3 ]: read 1 parameter, expected 2"},
        {FORCE_FIELD MASSLESS "[ virtual_sites2 ]\n6 1 2 1\n", T,
         "x.top:20: [ virtual_sites2 ]: read no parameters, expected 1: only those of three atoms and more follow from "
         "bonds and angles"},
        {FORCE_FIELD MASSLESS "[ virtual_sites3 ]\n6 1 2 3 2\n7 1 2 3 2\n" TAIL, T,
         "x.top:20: virtual site 6 (M1) has no parameters, and the bonds and angles of molecule type M do not "
         "give "
         "them: expected parameters on the line"},
        {FORCE_FIELD MASSLESS "[ virtual_sites2 ]\n6 1 1 1 0.5\n", T,
         "x.top:20: [ virtual_sites2 ]: atom 1 is on the line twice"},
        {FORCE_FIELD MASSLESS "[ virtual_sites2 ]\n6 1 2 1 0.5\n6 1 3 1 0.5\n", T,
         "x.top:21: [ virtual_sites2 ]: atom 6 is placed by an earlier line"},
        {FORCE_FIELD MASSLESS "[ virtual_sitesn ]\n6 3 1 0.5 2 -0.5\n", T,
         "x.top:20: [ virtual_sitesn ]: read 2 atoms of weight 0 in all, expected some of positive weight"},
    };
    top_refuse_all(bad, COUNT(bad));
    struct system s = top_read_ok(FORCE_FIELD MASSLESS
                                  "[ virtual_sitesn ]\n6 3 1 1 2 3\n[ virtual_sites3 ]\n7 1 2 3 3 90 "
                                  "0.1\n[ system ]\n[ molecules ]\nM 2\n");
    assert_int_equal(s.nsites, 4);
    assert_int_equal(s.sites[2].atom, 12);
    assert_int_equal(s.site_atoms[s.sites[2].first + 1], 8);
    top_near(s.site_weights[1], 0.75);
    top_near(s.sites[3].c[1], 0.1);
    top_near(s.sites[3].c[0], 0);
    system_close(&s);
}

static void test_bad_rare(void **state)
{
    static const struct top_bad bad[] = {
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 7 0 1\n", T,
         "x.top:18: [ bonds ]: read 0, expected the positive length at which the bond breaks"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 4 0.1 1\n", T,
         "x.top:18: [ bonds ]: read 2 parameters, expected 3 for a cubic bond (funct 4)"},
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 2 10 0.1 0.2 0.3 9 0.1 0.3 0.2 9\n", T,
         "x.top:18: [ bonds ]: read distances 0.1, 0.3, 0.2 in state B, expected none below the one before"},
        {FORCE_FIELD MOLECULE "[ angle_restraints ]\n1 2 3 4 1 90 10 1 90 10 2\n", U,
         "x.top:18: [ angle_restraints ]: multiplicity 1 in A and 2 in B: it can not be perturbed"},
        {FORCE_FIELD MOLECULE "[ dihedral_restraints ]\n1 2 3 4 1\n", T,
         "x.top:18: [ dihedral_restraints ]: read no parameters, expected 3 for a dihedral restraint (no types of that "
         "function are defined)"},
        {FORCE_FIELD MOLECULE "[ cmap ]\n1 2 3 4 5 1\n", T,
         "x.top:18: [ cmap ]: [ cmaptypes ] has no CMAP correction for these types and residues: C1 of RES1 (type A), "
         "C2 of RES1 (type A), C3 of RES1 (type A), C4 of RES1 (type B), C5 of RES1 (type A)"},
        {FORCE_FIELD "[ cmaptypes ]\nCA-* CA-R CA CB-R CA-* 1 2 2 1 2 3 4\n", T,
         "x.top:10: [ cmaptypes ]: read 4 types with a residue, expected 5 (TYPE-RESIDUE) or none"},
        {FORCE_FIELD "[ cmaptypes ]\nCA CA CA CB CA 1 2 3 1 2 3 4\n", U,
         "x.top:10: [ cmaptypes ]: a grid of 2 by 3: only square ones are computed"},
        {FORCE_FIELD "[ cmaptypes ]\nCA CA CA CB CA 1 2 2 1 2 3\n", T,
         "x.top:10: [ cmaptypes ]: read 3 values, expected 4 for a grid of 2 by 2"},
        {FORCE_FIELD MOLECULE "[ system ]\n[ intermolecular_interactions ]\n", T,
         "x.top:18: [ intermolecular_interactions ]: it must come after [ molecules ]"},
        {FORCE_FIELD MOLECULE TAIL "[ intermolecular_interactions ]\n1 2\n", U,
         "x.top:22: [ intermolecular_interactions ]: expected sections: [ bonds ], [ angles ], [ dihedrals ], [ pairs "
         "], [ pairs_nb ], [ angle_restraints ], [ angle_restraints_z ] or [ dihedral_restraints ]"},
        {FORCE_FIELD MOLECULE TAIL "[ intermolecular_interactions ]\n[ exclusions ]\n", U,
         "x.top:22: [ exclusions ]: after [ intermolecular_interactions ]; expected [ bonds ], [ angles ], [ dihedrals "
         "], [ pairs ], [ pairs_nb ], [ angle_restraints ], [ angle_restraints_z ] or [ dihedral_restraints ]"},
        {FORCE_FIELD MOLECULE TAIL "[ intermolecular_interactions ]\n[ bonds ]\n1 6 6 0.1 10\n", T,
         "x.top:23: [ bonds ]: read 6, expected an atom number of the system from 1 to 5"},
        {FORCE_FIELD MOLECULE TAIL "[ intermolecular_interactions ]\n[ bonds ]\n1 5 1 0.1 10\n", U,
         "x.top:23: [ bonds ]: a harmonic bond (funct 1) between molecules: expected function 6 (harmonic) or 10 (a "
         "restraint), which are no chemical bonds"},
        {FORCE_FIELD MOLECULE TAIL "[ intermolecular_interactions ]\n[ angles ]\n1 5 3\n", T,
         "x.top:23: [ angles ]: read no parameters, expected 2 for a harmonic angle: between molecules they belong on "
         "the line"},
    };
    top_refuse_all(bad, COUNT(bad));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_molecules),
        cmocka_unit_test(test_bad_sites),
        cmocka_unit_test(test_bad_rare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
