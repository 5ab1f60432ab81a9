/* SPDX-License-Identifier: Apache-2.0
 *
 * The topology reader on small texts: what it makes of them, and that large ones take no longer than they must. Values
 * over whole force fields are held against grompp in tests/ref.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tests/lib/top_text.h"

static void test_small(void **state)
{
    struct system s = top_read_ok(FORCE_FIELD MOLECULE
                                  "[ bonds ]\n1 2 1 0.15 1000\n2 3 1 0.15 1000 0.16 2000\n3 4 5\n"
                                  "[ angles ]\n1 2 3 1 90 10\n[ pairs ]\n1 4 1\n" TAIL);
    assert_int_equal(s.natoms, 5);
    assert_int_equal(s.ntypes, 2); /* V and S are not in use */
    assert_string_equal(s.type_names[1], "B");
    assert_string_equal(s.kinds[0].name, "M");
    assert_string_equal(s.name, "t");
    top_near(s.atoms[3].charge[0], 0.2);
    top_near(s.atoms[3].mass[1], 14);
    assert_int_equal(s.nbonds, 2);
    assert_int_equal(s.nconnections, 1);
    top_near(s.bonds[0].k[1], 1000);
    top_near(s.bonds[1].k[1], 2000);
    top_near(s.angles[0].theta0[0], M_PI / 2);
    top_near(s.lj[1].c6, 4 * sqrt(0.2) * pow(0.25, 6));
    top_near(s.lj[1].c12, 4 * sqrt(0.2) * pow(0.25, 12));
    top_near(s.pairs14[0].lj[0].c12, 0.5 * s.lj[1].c12);
    top_near(s.pairs14[0].qq[0], 0.8 * 0.1 * 0.2);
    /* 1-2, 1-3, 1-4, 2-3, 2-4, 3-4: atom 5 has no bond */
    assert_int_equal(s.exclusion_start[5], 12);
    assert_int_equal(s.exclusion_start[4], 12);
    assert_int_equal(s.exclusion[0], 1);
    system_close(&s);
    system_close(&s);
}

static void test_b_states(void **state)
{
    struct system s = top_read_ok(FORCE_FIELD
                                  "[ bondtypes ]\nCA CA 1 0.1 100\nCA CB 1 0.2 200\n"
                                  "[ moleculetype ]\nM 3\n[ atoms ]\n"
                                  "1 A 1 R C1 1 0.3 12 B 0.5 13\n2 A 1 R C2 1 0.4 12 B\n3 A 1 R C3 1 0.6 12\n"
                                  "[ bonds ]\n1 3\n1 2 1 0.3 5\n[ pairs ]\n1 3\n1 2 2 0.5 0.1 0.2 0.3 0.4\n" TAIL);
    assert_string_equal(s.type_names[s.atoms[0].type[1]], "B");
    top_near(s.atoms[0].mass[1], 13);
    top_near(s.atoms[1].charge[1], 0.2); /* of type B */
    top_near(s.atoms[1].mass[1], 14);
    top_near(s.atoms[2].charge[1], 0.6);
    top_near(s.bonds[0].r0[0], 0.1);
    top_near(s.bonds[0].r0[1], 0.2); /* of the B types */
    top_near(s.bonds[1].r0[1], 0.3); /* A parameters on the line: B = A */
    assert_false(s.pairs14[0].fixed);
    top_near(s.pairs14[0].qq[1], 0.8 * 0.5 * 0.6);
    assert_true(s.pairs14[1].fixed);
    top_near(s.pairs14[1].qq[1], 0.5 * 0.1 * 0.2);
    top_near(s.pairs14[1].lj[1].c6, 4 * 0.4 * pow(0.3, 6));
    system_close(&s);
}

/* Types that differ in name alone make no atom one that changes; one [ nonbond_params ] line is enough of a difference.
 */
static void test_alike(void **state)
{
    static const char text[] =
        "[ moleculetype ]\nM 3\n[ atoms ]\n1 A 1 R C1 1 0 12 B 0 12\n2 B 1 R C2 1 0 12 C 0 12\n"
        "3 B 1 R C3 1 0 12 D 0 12\n4 B 1 R C4 1 0 12 B 0.1 12\n" TAIL;
    for (int line = 0; line < 2; line++) {
        struct buf top = {0};
        buf_printf(&top,
                   "[ defaults ]\n1 2\n[ atomtypes ]\nA 6 12 0 A 0.3 0.4\nB 6 12 0 A 0.3 0.5\nC 6 12 0.2 A 0.3 0.5\n"
                   "D 7 12 0 A 0.3 0.5\n%s%s",
                   line ? "[ nonbond_params ]\nC A 1 0.2 0.1\n" : "", text);
        struct system s = top_read_ok(top.data);
        assert_int_not_equal(s.atoms[0].type[0], s.atoms[0].type[1]);
        assert_int_equal(s.atoms[1].type[0] == s.atoms[1].type[1], !line);
        assert_int_not_equal(s.atoms[2].type[0], s.atoms[2].type[1]); /* another element */
        top_near(s.atoms[3].charge[1], 0.1);
        system_close(&s);
        buf_free(&top);
    }
}

static void test_copies(void **state)
{
    struct system s = top_read_ok(FORCE_FIELD MOLECULE
                                  "[ bonds ]\n1 2 1 0.15 1000\n[ settles ]\n3 1 0.1 0.16\n"
                                  "[ position_restraints ]\n5 1 10 20 30\n[ exclusions ]\n1 5 4\n"
                                  "[ moleculetype ]\nN 0\n[ atoms ]\n1 B 7A ION K 1 -1\n"
                                  "[ system ]\n\n[ molecules ]\nm 2\nN 3\nM 1\n");
    assert_int_equal(s.natoms, 18);
    assert_int_equal(s.nmolecules, 6);
    assert_int_equal(s.nkinds, 2);
    assert_int_equal(s.molecules[5].first, 13);
    assert_int_equal(s.molecules[4].kind, 1);
    assert_int_equal(s.atoms[12].residue, 7);
    assert_int_equal(s.atoms[17].molecule, 5);
    assert_int_equal(s.bonds[2].atom[1], 14);
    assert_int_equal(s.settles[2].oxygen, 15);
    assert_int_equal(s.settles[2].hydrogen[1], 17);
    assert_int_equal(s.position_restraints[1].atom, 9);
    top_near(s.position_restraints[1].k[1][2], 30);
    /* per M: 1-2, 1-5, 1-4, both ways; a SETTLE excludes nothing by itself */
    assert_int_equal(s.exclusion_start[18], 18);
    assert_int_equal(s.exclusion[s.exclusion_start[17]], 13);
    system_close(&s);
}

static void test_dihedrals(void **state)
{
    struct system s =
        top_read_ok(FORCE_FIELD
                    "[ dihedraltypes ]\nX CA CA X 9 0 1 1\nX CA CA X 9 0 2 2\nX CA CA X 9 0 1 1\nCA CA CA CB 9 0 3 3\n"
                    "CB CB 1 180 4 4\nX X X X 9 0 9 9\nCB CA 2 10 50\n" MOLECULE
                    "[ dihedrals ]\n1 2 3 5 9\n4 3 2 1 9\n3 2 1 4 2\n1 2 3 5 5 1 2 3 4\n"
                    "1 2 3 5 1 0 0 3\n1 4 2 3 9\n" TAIL);
    assert_int_equal(s.ndihedrals,
                     4); /* two terms of X CA CA X (one stands twice), one of the exact types, one of four wildcards */
    top_near(s.dihedrals[1].k[0], 2);
    assert_int_equal(s.dihedrals[1].multiplicity, 2);
    top_near(s.dihedrals[2].k[0], 3);
    top_near(s.dihedrals[3].k[0], 9);
    assert_int_equal(s.nimpropers, 1);
    top_near(s.impropers[0].xi0[0], 10 * M_PI / 180);
    top_near(s.rb_dihedrals[0].c[1][1], (3 * 3 - 1) / 2.);
    system_close(&s);
}

/* The types of a linear angle say where along it the middle atom stands: from the other end, where they match the other
 * way round. */
static void test_linear_angles(void **state)
{
    struct system s = top_read_ok(FORCE_FIELD "[ angletypes ]\nCB CA CA 9 0.4 3000 0.3 2000\n" MOLECULE
                                              "[ angles ]\n4 3 2 9\n2 3 4 9\n" TAIL);
    assert_int_equal(s.nrare, 2);
    top_near(s.rare[0].c[0][0], 0.4);
    top_near(s.rare[0].c[1][0], 0.3);
    top_near(s.rare[1].c[0][0], 0.6);
    top_near(s.rare[1].c[1][0], 0.7);
    top_near(s.rare[1].c[1][1], 2000);
    system_close(&s);
}

/* Terms of few force fields: parameters as their formulas want them, bonds among them exclude; terms between molecules
 * number atoms over all of them. */
static void test_rare(void **state)
{
    struct system s =
        top_read_ok(FORCE_FIELD
                    "[ bondtypes ]\nCA CA 2 0.15 8e6\n[ cmaptypes ]\nCA CA CA CB CA 1 2 2 9 9 9 9\n"
                    "CA CA CA CA CA 1 3 3 1 2 3 4 5 6 \\\n 7 8 9\nCB CA CA CA CA 1 2 2 1 2 3 4\n" MOLECULE
                    "[ bonds ]\n1 2 2\n2 3 3 0.15 400 20\n3 4 7 0.3 100\n4 5 6 0.2 50\n1 5 10 0.1 0.2 0.3 "
                    "7 0.2 0.3 0.4 8\n[ angles ]\n1 2 3 2 60 10\n[ cmap ]\n4 3 2 1 5 1\n"
                    "[ dihedral_restraints ]\n1 2 3 4 1 90 18 5\n[ system ]\n[ molecules ]\nM 2\n"
                    "[ intermolecular_interactions ]\n[ bonds ]\n1 10 6 0.5 0 0.5 1000\n"
                    "[ angles ]\n2 1 6 1 90 0 90 40\n[ angles ]\n2 1 7 2 90 3\n");
    assert_int_equal(s.nrare, 2 * 6 + 1);
    assert_int_equal(s.rare[0].kind, RARE_G96_BOND);
    top_near(s.rare[0].c[1][1], 8e6);
    assert_int_equal(s.rare[3].kind, RARE_DISTANCE_RESTRAINT);
    top_near(s.rare[3].c[1][2], 0.4);
    top_near(s.rare[4].c[0][0], 0.5); /* cos 60 degrees */
    assert_int_equal(s.rare[5].atom[3], 3);
    top_near(s.rare[5].c[0][0], M_PI / 2);
    top_near(s.rare[5].c[1][1], M_PI / 10);
    assert_int_equal(s.rare[7].atom[1], 7);
    assert_int_equal(s.exclusion_start[5], 12); /* 1-2-3-4: functions 6 and 10 are no bonds */
    assert_int_equal(s.ncmaps, 2);
    assert_int_equal(s.cmaps[1].atom[4], 9);
    assert_int_equal(s.cmaps[1].side, 2);
    assert_int_equal(s.ncmap_points, 4); /* of the only map in use */
    top_near(s.cmap_points[2][0], 3);
    assert_int_equal(s.nharmonics, 3);
    assert_int_equal(s.harmonics[2].atom[1], 9);
    top_near(s.harmonics[2].k[1], 1000);
    assert_int_equal(s.angles[0].atom[2], 5);
    assert_int_equal(s.rare[12].atom[2], 6);
    system_close(&s);
}

/* Lines of one index are one restraint of several pairs: each knows which of them it is. */
static void test_restraints_of_pairs(void **state)
{
    struct system s =
        top_read_ok(FORCE_FIELD MOLECULE
                    "[ distance_restraints ]\n1 2 1 7 1 0 0.1 0.2 2\n1 3 1 8 2 0 0.3 0.4 1\n1 4 1 8 2 0 0.3 0.4 1\n"
                    "2 5 1 8 2 0 0.3 0.4 1\n3 5 1 9 1 0 0.1 0.2 1\n[ system ]\nt\n[ molecules ]\nM 2\n");
    static const double which[] = {0, 0, 1, 2, 0}, of[] = {0, 3, 3, 3, 0};
    assert_int_equal(s.nrare, 10);
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 2; k++) {
            top_near(s.rare[i].c[k][4], which[i % 5]);
            top_near(s.rare[i].c[k][5], of[i % 5]);
        }
    assert_int_equal(s.rare[8].atom[1], 9);
    top_near(s.rare[5].c[0][3], 2000);
    system_close(&s);
}

static void test_preprocessor(void **state)
{
    struct source *src = source_memory_new();
    struct err e = {0};
    struct system s;
    static const char itp[] =
        "#ifdef HEAVY\n#define MASS 4.032\n#else\n#define MASS 1.008\n#endif\n"
        "#ifndef HEAVY\n#ifdef NEVER\n#include \"nowhere.itp\"\n#else\n#define CHARGE 0.25\n#endif\n#endif\n";
    static const char text[] =
        "* a comment, as force fields have at their head\n[ defaults ]\n1 1 ; no more\n[ atomtypes ]\n"
        "A 6 12 0 A 1 2\n#include \"ff/d.itp\"\n#include <d2.itp>\n[ moleculetype ]\nM 0\n"
        "[ atoms ]\n1 A 1 \\\n R C1 \\\n 1 CHARGE MASS ; \\\n this is comment too\n"
        "2 A 1 R LOOP 1 TWICE\n2MASS\n#undef CHARGE\n" TAIL;
    assert_int_equal(source_memory_add(src, "ff/d.itp", itp, strlen(itp), &e), 0);
    static const char itp2[] = "#define LOOP LOOP\n#define TWICE CHARGE\n#define 2MASS 3 A 1 R CHARGE 1 5 MASS";
    assert_int_equal(source_memory_add(src, "d2.itp", itp2, strlen(itp2), &e), 0);
    if (top_read_with(src, text, (struct define[]){{"HEAVY", NULL}, {"CHARGE", "0.5"}}, 2, &s, &e))
        fail_msg("%s", e.msg);
    top_near(s.atoms[0].charge[0], 0.5);
    top_near(s.atoms[0].mass[0], 4.032);
    assert_string_equal(s.atoms[1].name, "LOOP");
    top_near(s.atoms[1].charge[0], 0.5);
    assert_string_equal(s.atoms[2].name, "0.5");
    system_close(&s);
    if (top_read_with(src, text, NULL, 0, &s, &e))
        fail_msg("%s", e.msg);
    top_near(s.atoms[0].charge[0], 0.25);
    top_near(s.atoms[0].mass[0], 1.008);
    system_close(&s);
    source_free(src);
}

/* Ten times as many molecule types, and a molecule in which every atom is bonded to every other, cost ten times as much
 * and no more: a reader that looks through all of them each time would take minutes. */
static void test_many(void **state)
{
    enum { KINDS = 40000, CLIQUE = 500 };
    struct buf text = {0};
    buf_printf(&text, FORCE_FIELD);
    for (int i = 0; i < KINDS; i++)
        buf_printf(&text, "[ moleculetype ]\nMol%d 3\n[ atoms ]\n1 A 1 R C 1\n", i);
    buf_printf(&text, "[ moleculetype ]\nALL 3\n[ atoms ]\n");
    for (int i = 1; i <= CLIQUE; i++)
        buf_printf(&text, "%d A 1 R C %d\n", i, i);
    buf_printf(&text, "[ bonds ]\n");
    for (int i = 1; i <= CLIQUE; i++)
        for (int j = i + 1; j <= CLIQUE; j++)
            buf_printf(&text, "%d %d 5\n", i, j);
    buf_printf(&text, "[ system ]\nt\n[ molecules ]\nALL 1\n");
    for (int i = 0; i < KINDS; i++)
        buf_printf(&text, "%s%d 1\n", i % 2 ? "Mol" : "mOL", i);
    clock_t begun = clock();
    struct system s = top_read_ok(text.data);
    double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    assert_int_equal(s.natoms, KINDS + CLIQUE);
    assert_int_equal(s.molecules[KINDS].kind, KINDS - 1);
    assert_int_equal(s.exclusion_start[CLIQUE], CLIQUE * (CLIQUE - 1));
    if (seconds > 10)
        fail_msg("%.1f s of processor time", seconds);
    system_close(&s);
    buf_free(&text);
    top_refused(FORCE_FIELD
                "[ moleculetype ]\nSol 1\n[ atoms ]\n1 A 1 R C 1\n[ moleculetype ]\nSOL 1\n[ atoms ]\n"
                "1 A 1 R C 1\n[ system ]\nt\n[ molecules ]\nsol 1\n",
                ERR_TOPOLOGY, "x.top:20: [ molecules ]: read 'sol', expected the name of a [ moleculetype ]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),        cmocka_unit_test(test_b_states),
        cmocka_unit_test(test_alike),        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_dihedrals),    cmocka_unit_test(test_linear_angles),
        cmocka_unit_test(test_rare),         cmocka_unit_test(test_restraints_of_pairs),
        cmocka_unit_test(test_preprocessor), cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
