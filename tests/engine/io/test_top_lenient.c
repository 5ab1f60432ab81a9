/* SPDX-License-Identifier: Apache-2.0
 *
 * What the topology reader takes because grompp takes it, and what it says of that.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "tests/lib/top_text.h"

static void notes(const struct system *s, const char *const *expected, int n)
{
    for (int i = 0; i < n && i < s->nnotes; i++)
        assert_string_equal(s->notes[i], expected[i]);
    assert_int_equal(s->nnotes, n);
}

/* Names of sections, [ defaults ] by name, comments without ';', quotes and conditions that nothing closes. */
static void test_lenient(void **state)
{
    struct source *src = source_memory_new();
    struct err e = {0};
    struct system s;
    static const char itp[] = "[ bonds ]\n1 2 1 0.1 100 text\n#ifdef NEVER\n1 3 1 0.1 100\n";
    static const char text[] =
        "[ Default_s ] text\nlj ARITHMETIC Y 0.5 0.8 12\n[ Atom-Types ]\nA 6 12.0 0.1 A 0.3 0.5 # regular\n"
        "V V 0 0.0 0.0 V 0 0 words\n[ Molecule_Type ]\nM 3 text\n[ atoms ]\n1 A 1 RES C1 1 0.2 12 A 0.3 # text\n"
        "2 A 1 RES C2 1 # text\n3 A 1 RES C3 1 0.4 // 5\n4 V 1 RES M1 1\n5 V 1 RES M2 1\n#include \"x.itp\n"
        "[ exclusions ]\n1 2 and a sentence 3\n[ dummies_2 ]\n4 1 2 1 0.25 text\n[ virtual_sites1 ]\n5 3 1\n"
        "[ system ]\n[ Mole_cules ]\nM 1 text\n"
        "[ intermolecular_interactions ]\n[ bonds ]\n1 2 6 0.5 100\n[ intermolecular-interactions ]\n[ angles ]\n"
        "1 2 3 1 90 10\n";
    assert_int_equal(source_memory_add(src, "x.itp", itp, strlen(itp), &e), 0);
    if (top_read_with(src, text, (struct define[]){{"POSRE", NULL}}, 1, &s, &e))
        fail_msg("%s", e.msg);
    top_near(s.atoms[0].charge[1], 0.3);
    top_near(s.atoms[1].charge[0], 0.1);
    top_near(s.atoms[2].charge[0], 0.4);
    top_near(s.atoms[2].mass[0], 12);
    assert_int_equal(s.nbonds, 1);
    top_near(s.bonds[0].k[1], 100);
    assert_int_equal(s.exclusion_start[1], 1);
    assert_int_equal(s.nharmonics, 1);
    assert_int_equal(s.nangles, 1);
    assert_int_equal(s.nsites, 2);
    top_near(s.site_weights[1], 0.25);
    assert_int_equal(s.sites[1].count, 1);
    assert_int_equal(s.site_atoms[s.sites[1].first], 2);
    top_near(s.site_weights[s.sites[1].first], 1);
    static const char *const expected[] = {
        "x.top:1: text from 'text' on is taken for a comment, as grompp does; one begins with ';' (and "
        "10 "
        "more)",
        "x.top:1: nothing asks for the define POSRE: is its name right?",
        "x.itp:3: #ifdef or #ifndef without #endif: it ends with its file, as for grompp",
    };
    notes(&s, expected, 3);
    system_close(&s);
    source_free(src);
}

/* Of two definitions the later holds. */
static void test_redefined(void **state)
{
    struct system s =
        top_read_ok(FORCE_FIELD
                    "A CA 6 12.0 0.3 A 0.3 0.6\n[ bondtypes ]\nCA CA 1 0.1 100\nCA CA 1 0.1 100\nCA CA 1 0.1 200\n"
                    "[ dihedraltypes ]\nCA CA CA CA 1 0 1 1\nCA CA CA CA 1 0 2 2\n[ pairtypes ]\nA B 1 0.1 0.2\n"
                    "B A 1 0.1 0.4\n[ nonbond_params ]\nA B 1 0.3 0.4\nB A 1 0.3 0.5\n" MOLECULE
                    "[ bonds ]\n1 2 1\n[ pairs ]\n1 4 1\n[ dihedrals ]\n1 2 3 5 1\n" TAIL);
    top_near(s.atoms[0].charge[0], 0.3);
    top_near(s.lj[0].c12, 4 * 0.6 * pow(0.3, 12));
    top_near(s.lj[1].c12, 4 * 0.5 * pow(0.3, 12));
    top_near(s.bonds[0].k[0], 200);
    top_near(s.pairs14[0].lj[0].c12, 4 * 0.4 * pow(0.1, 12));
    top_near(s.dihedrals[0].k[0], 2);
    static const char *const expected[] = {
        "x.top:9: [ atomtypes ]: atom type A is defined before with other values; these hold now (and 4 more)"};
    notes(&s, expected, 1);
    system_close(&s);
}

/* The second column of an atom type is its bonded type unless it is a whole number. */
static void test_type_columns(void **state)
{
    struct system s = top_read_ok(
        "[ defaults ]\n1 2\n[ atomtypes ]\n2C 2C 12 0.1 A 0.3 0.5\nh +x 12 0.2 A 0.3 0.5\n"
        "N3 7 14 0.3 A 0.3 0.5\nP +8 14 0.4 A 0.3 0.5\n[ bondtypes ]\n2C +x 1 0.1 100\nN3 P 1 0.2 100\n"
        "[ moleculetype ]\nM 0\n[ atoms ]\n1 2C 1 R A 1\n2 h 1 R B 1\n3 N3 1 R C 1\n4 P 1 R D 1\n"
        "[ bonds ]\n1 2 1\n3 4 1\n" TAIL);
    top_near(s.bonds[0].r0[0], 0.1);
    top_near(s.bonds[1].r0[0], 0.2);
    assert_int_equal(s.type_numbers[s.atoms[3].type[0]], 8);
    system_close(&s);
}

/* More types than a table has rows: those of the same Lennard-Jones are one, but for those that [ nonbond_params ]
 * name. */
static void test_many_types(void **state)
{
    enum { TYPES = SYSTEM_TYPES_MAX + 100 };
    struct buf text = {0};
    buf_printf(&text, "[ defaults ]\n1 2\n[ atomtypes ]\n");
    for (int i = 0; i < TYPES; i++)
        buf_printf(&text, "T%d 6 12 0 A 0.%d 0.4\n", i, 2 + i % 3);
    buf_printf(&text, "[ nonbond_params ]\nT7 T8 1 0.9 0.1\n[ moleculetype ]\nM 0\n[ atoms ]\n");
    for (int i = 0; i < TYPES; i++)
        buf_printf(&text, "%d T%d 1 R C 1\n", i + 1, i);
    buf_printf(&text, TAIL);
    struct system s = top_read_ok(text.data);
    assert_int_equal(s.ntypes, 5);
    for (int i = 0; i < TYPES; i++)
        top_near(s.lj[s.atoms[i].type[0] * s.ntypes + s.atoms[i].type[0]].c12, 4 * 0.4 * pow((2 + i % 3) / 10., 12));
    top_near(s.lj[s.atoms[7].type[0] * s.ntypes + s.atoms[8].type[0]].c12, 4 * 0.1 * pow(0.9, 12));
    top_near(s.lj[s.atoms[10].type[0] * s.ntypes + s.atoms[8].type[0]].c12, 4 * 0.4 * pow(0.35, 12));
    system_close(&s);
    buf_free(&text);
}

/* CMAP corrections of residues: the first in the file whose types and residues fit. */
static void test_cmap_residues(void **state)
{
    struct system s =
        top_read_ok(FORCE_FIELD
                    "[ cmaptypes ]\nCA-* CA-GLY CA-GLY CA-GLY CA-* 1 2 2 1 1 1 1\n"
                    "CA-* CA-ALA CA-ALA CA-ALA CA-* 1 2 2 2 2 2 2\nCA-* CA-ALA CA-ALA CA-ALA CA-* 1 2 2 3 3 3 3\n"
                    "[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 GLY C 1\n2 A 2 ALA N 1\n3 A 2 ALA CA 1\n4 A 2 ALA C 1\n"
                    "5 A 3 GLY N 1\n6 A 3 GLY CA 1\n7 A 3 GLY C 1\n8 A 4 ALA N 1\n"
                    "[ cmap ]\n1 2 3 4 5 1\n4 5 6 7 8 1\n" TAIL);
    assert_int_equal(s.ncmaps, 2);
    top_near(s.cmap_points[s.cmaps[0].first][0], 2);
    top_near(s.cmap_points[s.cmaps[1].first][0], 1);
    static const char *const expected[] = {
        "x.top:12: [ cmaptypes ]: values for these types are defined before and are others; those hold, as for grompp"};
    notes(&s, expected, 1);
    system_close(&s);
    top_refused(
        FORCE_FIELD "[ cmaptypes ]\nCA-* CA-GLY CA-GLY CA-GLY CA-* 1 2 2 1 1 1 1\n" MOLECULE
                    "[ atoms ]\n6 A 2 RES C6 1\n"
                    "[ cmap ]\n1 2 3 5 6 1\n",
        T,
        "x.top:22: [ cmap ]: [ cmaptypes ] has no CMAP correction for these types and residues: C1 of RES1 (type "
        "A), C2 "
        "of RES1 (type A), C3 of RES1 (type A), C5 of RES1 (type A), C6 of RES2 (type A)");
}

static void atoms_are(const int *atom, int a, int b, int c, int d)
{
    const int expected[4] = {a - 1, b - 1, c - 1, d - 1};
    assert_memory_equal(atom, expected, sizeof expected);
}

/* AMBER's order of impropers, by its rule: the first of its types stays, the others are sorted around the third atom by
 * the names that the matching line gives them (X before all), then by number; lines with a force constant are turned
 * round first. */
static void test_leap_order(void **state)
{
    static const char field[] =
        "[ defaults ]\n1 2\n[ atomtypes ]\nC 6 12 0 A 0.3 0.5\nH 1 1 0 A 0.3 0.5\nN 7 14 0 A 0.3 0.5\nO 8 16 0 A 0.3 "
        "0.5\n"
        "[ dihedraltypes ]\nX X C O 4 180 40 2\nX X N H 4 180 4 2\nN C C H 4 180 0 2\nO N C C 2 10 20\n"
        "[ moleculetype ]\nM 0\n[ atoms ]\n1 C 1 R C1 1\n2 N 1 R N2 1\n3 C 1 R C3 1\n4 O 1 R O4 1\n5 H 1 R H5 1\n6 N 1 "
        "R N6 1\n"
        "7 O 1 R O7 1\n";
    static const char lines[] =
        "[ dihedrals ]\n2 1 3 4 4\n6 1 3 4 4\n4 3 6 2 4\n5 1 3 2 4\n5 1 3 2 4\n7 2 1 3 2\n4 6 1 3 2\n"
        "6 2 1 7 4 180 1 2\n#undef _FF_AMBER_LEAP_ATOM_REORDERING\n6 2 1 4 4\n";
    struct buf text = {0};
    buf_printf(&text, "#define _FF_AMBER_LEAP_ATOM_REORDERING\n%s%s" TAIL, field, lines);
    struct system s = top_read_ok(text.data);
    assert_int_equal(s.ndihedrals, 5); /* those without a force constant are left out, but count for the order */
    atoms_are(s.dihedrals[0].atom, 2, 1, 3, 4); /* X X C O, the first */
    atoms_are(s.dihedrals[1].atom, 1, 6, 3, 4); /* X X C O again: two blanks sorted by number */
    atoms_are(s.dihedrals[2].atom, 2, 6, 3, 4); /* O C X X turned to X X C O, then 2, 6 around 3 */
    atoms_are(s.dihedrals[3].atom, 2, 6, 1, 7); /* with parameters on its line */
    atoms_are(s.dihedrals[4].atom, 6, 2, 1, 4); /* no longer defined */
    assert_int_equal(s.nimpropers, 2);
    atoms_are(s.impropers[0].atom, 3, 1, 2, 7); /* the first of function 2: O N C C turned round */
    atoms_are(s.impropers[1].atom, 1, 3, 6, 4); /* C C N O turned round, then C, C, O around N */
    system_close(&s);
    text.len = 0;
    buf_printf(&text, "%s%s" TAIL, field, lines);
    s = top_read_ok(text.data);
    atoms_are(s.dihedrals[1].atom, 6, 1, 3, 4);
    atoms_are(s.impropers[0].atom, 7, 2, 1, 3);
    system_close(&s);
    /* Between molecules numbers are those of the system. The first of X X N H has kept its order; this one is sorted
     * around N. */
    text.len = 0;
    buf_printf(&text,
               "#define _FF_AMBER_LEAP_ATOM_REORDERING\n%s[ dihedrals ]\n1 4 2 5 4\n"
               "[ system ]\nt\n[ molecules ]\nM 2\n[ intermolecular_interactions ]\n[ dihedrals ]\n"
               "10 8 9 5 4 180 7 2 180 7 2\n8 3 11 4 4 180 8 2\n",
               field);
    s = top_read_ok(text.data);
    assert_int_equal(s.ndihedrals, 4);
    atoms_are(s.dihedrals[0].atom, 1, 4, 2, 5);
    atoms_are(s.dihedrals[1].atom, 8, 11, 9, 12);
    atoms_are(s.dihedrals[2].atom, 8, 10, 9, 5); /* X X N H: two blanks sorted by number, then H */
    atoms_are(s.dihedrals[3].atom, 8, 3, 11, 4); /* C C O O: no type fits */
    system_close(&s);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lenient),    cmocka_unit_test(test_redefined),     cmocka_unit_test(test_type_columns),
        cmocka_unit_test(test_many_types), cmocka_unit_test(test_cmap_residues), cmocka_unit_test(test_leap_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
