/* SPDX-License-Identifier: Apache-2.0
 *
 * The topology reader on small texts: what it makes of them, and the exact sentence for each kind of bad input. Values over
 * whole force fields are held against grompp in tests/ref.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/io/io.h"

static int read_with(struct source *src, const char *text, const struct define *d, int n, struct system *s,
                     struct err *e)
{
    assert_int_equal(source_memory_add(src, "x.top", text, strlen(text), e), 0);
    return top_read(s, src, "x.top", d, n, e);
}

static struct system read_ok(const char *text)
{
    struct source *src = source_memory_new();
    struct system s;
    struct err e = {0};
    if (read_with(src, text, NULL, 0, &s, &e))
        fail_msg("%s", e.msg);
    source_free(src);
    return s;
}

static void refused(const char *text, enum err_code code, const char *message)
{
    struct source *src = source_memory_new();
    struct system s;
    struct err e = {0};
    if (!read_with(src, text, NULL, 0, &s, &e))
        fail_msg("accepted: %s", text);
    assert_string_equal(e.msg, message);
    assert_int_equal(e.code, code);
    assert_int_equal(s.natoms, 0);
    source_free(src);
}

static void near(double a, double b)
{
    if (fabs(a - b) > 1e-12 * fmax(1, fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Lines 1 to 8 of most texts. */
#define FORCE_FIELD                                                                                                    \
    "[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nA CA 6 12.0 0.1 A 0.3 0.5\nB CB 6 14.0 0.2 A 0.2 0.4\n"             \
    "V V 0 0.0 0.0 V 0.0 0.0\nS S 0 1.0 0.0 S 0.0 0.0\n\n"
/* Lines 9 to 16. */
#define MOLECULE                                                                                                       \
    "[ moleculetype ]\nM 3\n[ atoms ]\n1 A 1 RES C1 1\n2 A 1 RES C2 1\n3 A 1 RES C3 1\n4 B 1 RES C4 1\n5 A 1 RES C5 "  \
    "1\n"
#define TAIL "[ system ]\nt\n[ molecules ]\nM 1\n"

/* ---- what is read ---- */

static void test_small(void **state)
{
    struct system s = read_ok(FORCE_FIELD MOLECULE
                              "[ bonds ]\n1 2 1 0.15 1000\n2 3 1 0.15 1000 0.16 2000\n3 4 5\n"
                              "[ angles ]\n1 2 3 1 90 10\n[ pairs ]\n1 4 1\n" TAIL);
    assert_int_equal(s.natoms, 5);
    assert_int_equal(s.ntypes, 2); /* V and S are not in use */
    assert_string_equal(s.type_names[1], "B");
    assert_string_equal(s.kinds[0].name, "M");
    assert_string_equal(s.name, "t");
    near(s.atoms[3].charge[0], 0.2);
    near(s.atoms[3].mass[1], 14);
    assert_int_equal(s.nbonds, 2);
    assert_int_equal(s.nconnections, 1);
    near(s.bonds[0].k[1], 1000);
    near(s.bonds[1].k[1], 2000);
    near(s.angles[0].theta0[0], M_PI / 2);
    near(s.lj[1].c6, 4 * sqrt(0.2) * pow(0.25, 6));
    near(s.lj[1].c12, 4 * sqrt(0.2) * pow(0.25, 12));
    near(s.pairs14[0].lj[0].c12, 0.5 * s.lj[1].c12);
    near(s.pairs14[0].qq[0], 0.8 * 0.1 * 0.2);
    /* 1-2, 1-3, 1-4, 2-3, 2-4, 3-4: atom 5 has no bond */
    assert_int_equal(s.exclusion_start[5], 12);
    assert_int_equal(s.exclusion_start[4], 12);
    assert_int_equal(s.exclusion[0], 1);
    system_close(&s);
    system_close(&s);
}

static void test_b_states(void **state)
{
    struct system s = read_ok(FORCE_FIELD
                              "[ bondtypes ]\nCA CA 1 0.1 100\nCA CB 1 0.2 200\n"
                              "[ moleculetype ]\nM 3\n[ atoms ]\n"
                              "1 A 1 R C1 1 0.3 12 B 0.5 13\n2 A 1 R C2 1 0.4 12 B\n3 A 1 R C3 1 0.6 12\n"
                              "[ bonds ]\n1 3\n1 2 1 0.3 5\n[ pairs ]\n1 3\n1 2 2 0.5 0.1 0.2 0.3 0.4\n" TAIL);
    assert_string_equal(s.type_names[s.atoms[0].type[1]], "B");
    near(s.atoms[0].mass[1], 13);
    near(s.atoms[1].charge[1], 0.2); /* of type B */
    near(s.atoms[1].mass[1], 14);
    near(s.atoms[2].charge[1], 0.6);
    near(s.bonds[0].r0[0], 0.1);
    near(s.bonds[0].r0[1], 0.2); /* of the B types */
    near(s.bonds[1].r0[1], 0.3); /* A parameters on the line: B = A */
    assert_false(s.pairs14[0].fixed);
    near(s.pairs14[0].qq[1], 0.8 * 0.5 * 0.6);
    assert_true(s.pairs14[1].fixed);
    near(s.pairs14[1].qq[1], 0.5 * 0.1 * 0.2);
    near(s.pairs14[1].lj[1].c6, 4 * 0.4 * pow(0.3, 6));
    system_close(&s);
}

/* Types that differ in name alone make no atom one that changes; one [ nonbond_params ] line is enough of a difference. */
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
        struct system s = read_ok(top.data);
        assert_int_not_equal(s.atoms[0].type[0], s.atoms[0].type[1]);
        assert_int_equal(s.atoms[1].type[0] == s.atoms[1].type[1], !line);
        assert_int_not_equal(s.atoms[2].type[0], s.atoms[2].type[1]); /* another element */
        near(s.atoms[3].charge[1], 0.1);
        system_close(&s);
        buf_free(&top);
    }
}

static void test_copies(void **state)
{
    struct system s = read_ok(FORCE_FIELD MOLECULE
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
    near(s.position_restraints[1].k[1][2], 30);
    /* per M: 1-2, 1-5, 1-4, both ways; a SETTLE excludes nothing by itself */
    assert_int_equal(s.exclusion_start[18], 18);
    assert_int_equal(s.exclusion[s.exclusion_start[17]], 13);
    system_close(&s);
}

static void test_dihedrals(void **state)
{
    struct system s =
        read_ok(FORCE_FIELD
                "[ dihedraltypes ]\nX CA CA X 9 0 1 1\nX CA CA X 9 0 2 2\nX CA CA X 9 0 1 1\nCA CA CA CB 9 0 3 3\n"
                "CB CB 1 180 4 4\nX X X X 9 0 9 9\nCB CA 2 10 50\n" MOLECULE
                "[ dihedrals ]\n1 2 3 5 9\n4 3 2 1 9\n3 2 1 4 2\n1 2 3 5 5 1 2 3 4\n"
                "1 2 3 5 1 0 0 3\n1 4 2 3 9\n" TAIL);
    assert_int_equal(s.ndihedrals,
                     4); /* two terms of X CA CA X (one stands twice), one of the exact types, one of four wildcards */
    near(s.dihedrals[1].k[0], 2);
    assert_int_equal(s.dihedrals[1].multiplicity, 2);
    near(s.dihedrals[2].k[0], 3);
    near(s.dihedrals[3].k[0], 9);
    assert_int_equal(s.nimpropers, 1);
    near(s.impropers[0].xi0[0], 10 * M_PI / 180);
    near(s.rb_dihedrals[0].c[1][1], (3 * 3 - 1) / 2.);
    system_close(&s);
}

/* The types of a linear angle say where along it the middle atom stands: from the other end, where they match the other way round. */
static void test_linear_angles(void **state)
{
    struct system s = read_ok(FORCE_FIELD "[ angletypes ]\nCB CA CA 9 0.4 3000 0.3 2000\n" MOLECULE
                                          "[ angles ]\n4 3 2 9\n2 3 4 9\n" TAIL);
    assert_int_equal(s.nrare, 2);
    near(s.rare[0].c[0][0], 0.4);
    near(s.rare[0].c[1][0], 0.3);
    near(s.rare[1].c[0][0], 0.6);
    near(s.rare[1].c[1][0], 0.7);
    near(s.rare[1].c[1][1], 2000);
    system_close(&s);
}

/* Terms of few force fields: parameters as their formulas want them, bonds among them exclude; terms between molecules number atoms
 * over all of them. */
static void test_rare(void **state)
{
    struct system s = read_ok(FORCE_FIELD
                              "[ bondtypes ]\nCA CA 2 0.15 8e6\n[ cmaptypes ]\nCA CA CA CB CA 1 2 2 9 9 9 9\n"
                              "CA CA CA CA CA 1 3 3 1 2 3 4 5 6 \\\n 7 8 9\nCB CA CA CA CA 1 2 2 1 2 3 4\n" MOLECULE
                              "[ bonds ]\n1 2 2\n2 3 3 0.15 400 20\n3 4 7 0.3 100\n4 5 6 0.2 50\n1 5 10 0.1 0.2 0.3 "
                              "7 0.2 0.3 0.4 8\n[ angles ]\n1 2 3 2 60 10\n[ cmap ]\n4 3 2 1 5 1\n"
                              "[ dihedral_restraints ]\n1 2 3 4 1 90 18 5\n[ system ]\n[ molecules ]\nM 2\n"
                              "[ intermolecular_interactions ]\n[ bonds ]\n1 10 6 0.5 0 0.5 1000\n"
                              "[ angles ]\n2 1 6 1 90 0 90 40\n[ angles ]\n2 1 7 2 90 3\n");
    assert_int_equal(s.nrare, 2 * 6 + 1);
    assert_int_equal(s.rare[0].kind, RARE_G96_BOND);
    near(s.rare[0].c[1][1], 8e6);
    assert_int_equal(s.rare[3].kind, RARE_DISTANCE_RESTRAINT);
    near(s.rare[3].c[1][2], 0.4);
    near(s.rare[4].c[0][0], 0.5); /* cos 60 degrees */
    assert_int_equal(s.rare[5].atom[3], 3);
    near(s.rare[5].c[0][0], M_PI / 2);
    near(s.rare[5].c[1][1], M_PI / 10);
    assert_int_equal(s.rare[7].atom[1], 7);
    assert_int_equal(s.exclusion_start[5], 12); /* 1-2-3-4: functions 6 and 10 are no bonds */
    assert_int_equal(s.ncmaps, 2);
    assert_int_equal(s.cmaps[1].atom[4], 9);
    assert_int_equal(s.cmaps[1].side, 2);
    assert_int_equal(s.ncmap_points, 4); /* of the only map in use */
    near(s.cmap_points[2][0], 3);
    assert_int_equal(s.nharmonics, 3);
    assert_int_equal(s.harmonics[2].atom[1], 9);
    near(s.harmonics[2].k[1], 1000);
    assert_int_equal(s.angles[0].atom[2], 5);
    assert_int_equal(s.rare[12].atom[2], 6);
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
    if (read_with(src, text, (struct define[]){{"HEAVY", NULL}, {"CHARGE", "0.5"}}, 2, &s, &e))
        fail_msg("%s", e.msg);
    near(s.atoms[0].charge[0], 0.5);
    near(s.atoms[0].mass[0], 4.032);
    assert_string_equal(s.atoms[1].name, "LOOP");
    near(s.atoms[1].charge[0], 0.5);
    assert_string_equal(s.atoms[2].name, "0.5");
    system_close(&s);
    if (read_with(src, text, NULL, 0, &s, &e))
        fail_msg("%s", e.msg);
    near(s.atoms[0].charge[0], 0.25);
    near(s.atoms[0].mass[0], 1.008);
    system_close(&s);
    source_free(src);
}

#define T ERR_TOPOLOGY
#define U ERR_UNSUPPORTED

/* ---- what grompp takes, too ---- */

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
    if (read_with(src, text, (struct define[]){{"POSRE", NULL}}, 1, &s, &e))
        fail_msg("%s", e.msg);
    near(s.atoms[0].charge[1], 0.3);
    near(s.atoms[1].charge[0], 0.1);
    near(s.atoms[2].charge[0], 0.4);
    near(s.atoms[2].mass[0], 12);
    assert_int_equal(s.nbonds, 1);
    near(s.bonds[0].k[1], 100);
    assert_int_equal(s.exclusion_start[1], 1);
    assert_int_equal(s.nharmonics, 1);
    assert_int_equal(s.nangles, 1);
    assert_int_equal(s.nsites, 2);
    near(s.site_weights[1], 0.25);
    assert_int_equal(s.sites[1].count, 1);
    assert_int_equal(s.site_atoms[s.sites[1].first], 2);
    near(s.site_weights[s.sites[1].first], 1);
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
        read_ok(FORCE_FIELD
                "A CA 6 12.0 0.3 A 0.3 0.6\n[ bondtypes ]\nCA CA 1 0.1 100\nCA CA 1 0.1 100\nCA CA 1 0.1 200\n"
                "[ dihedraltypes ]\nCA CA CA CA 1 0 1 1\nCA CA CA CA 1 0 2 2\n[ pairtypes ]\nA B 1 0.1 0.2\n"
                "B A 1 0.1 0.4\n[ nonbond_params ]\nA B 1 0.3 0.4\nB A 1 0.3 0.5\n" MOLECULE
                "[ bonds ]\n1 2 1\n[ pairs ]\n1 4 1\n[ dihedrals ]\n1 2 3 5 1\n" TAIL);
    near(s.atoms[0].charge[0], 0.3);
    near(s.lj[0].c12, 4 * 0.6 * pow(0.3, 12));
    near(s.lj[1].c12, 4 * 0.5 * pow(0.3, 12));
    near(s.bonds[0].k[0], 200);
    near(s.pairs14[0].lj[0].c12, 4 * 0.4 * pow(0.1, 12));
    near(s.dihedrals[0].k[0], 2);
    static const char *const expected[] = {
        "x.top:9: [ atomtypes ]: atom type A is defined before with other values; these hold now (and 4 more)"};
    notes(&s, expected, 1);
    system_close(&s);
}

/* The second column of an atom type is its bonded type unless it is a whole number. */
static void test_type_columns(void **state)
{
    struct system s = read_ok(
        "[ defaults ]\n1 2\n[ atomtypes ]\n2C 2C 12 0.1 A 0.3 0.5\nh +x 12 0.2 A 0.3 0.5\n"
        "N3 7 14 0.3 A 0.3 0.5\nP +8 14 0.4 A 0.3 0.5\n[ bondtypes ]\n2C +x 1 0.1 100\nN3 P 1 0.2 100\n"
        "[ moleculetype ]\nM 0\n[ atoms ]\n1 2C 1 R A 1\n2 h 1 R B 1\n3 N3 1 R C 1\n4 P 1 R D 1\n"
        "[ bonds ]\n1 2 1\n3 4 1\n" TAIL);
    near(s.bonds[0].r0[0], 0.1);
    near(s.bonds[1].r0[0], 0.2);
    assert_int_equal(s.type_numbers[s.atoms[3].type[0]], 8);
    system_close(&s);
}

/* More types than a table has rows: those of the same Lennard-Jones are one, but for those that [ nonbond_params ] name. */
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
    struct system s = read_ok(text.data);
    assert_int_equal(s.ntypes, 5);
    for (int i = 0; i < TYPES; i++)
        near(s.lj[s.atoms[i].type[0] * s.ntypes + s.atoms[i].type[0]].c12, 4 * 0.4 * pow((2 + i % 3) / 10., 12));
    near(s.lj[s.atoms[7].type[0] * s.ntypes + s.atoms[8].type[0]].c12, 4 * 0.1 * pow(0.9, 12));
    near(s.lj[s.atoms[10].type[0] * s.ntypes + s.atoms[8].type[0]].c12, 4 * 0.4 * pow(0.35, 12));
    system_close(&s);
    buf_free(&text);
}

/* CMAP corrections of residues: the first in the file whose types and residues fit. */
static void test_cmap_residues(void **state)
{
    struct system s =
        read_ok(FORCE_FIELD
                "[ cmaptypes ]\nCA-* CA-GLY CA-GLY CA-GLY CA-* 1 2 2 1 1 1 1\n"
                "CA-* CA-ALA CA-ALA CA-ALA CA-* 1 2 2 2 2 2 2\nCA-* CA-ALA CA-ALA CA-ALA CA-* 1 2 2 3 3 3 3\n"
                "[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 GLY C 1\n2 A 2 ALA N 1\n3 A 2 ALA CA 1\n4 A 2 ALA C 1\n"
                "5 A 3 GLY N 1\n6 A 3 GLY CA 1\n7 A 3 GLY C 1\n8 A 4 ALA N 1\n"
                "[ cmap ]\n1 2 3 4 5 1\n4 5 6 7 8 1\n" TAIL);
    assert_int_equal(s.ncmaps, 2);
    near(s.cmap_points[s.cmaps[0].first][0], 2);
    near(s.cmap_points[s.cmaps[1].first][0], 1);
    static const char *const expected[] = {
        "x.top:12: [ cmaptypes ]: values for these types are defined before and are others; those hold, as for grompp"};
    notes(&s, expected, 1);
    system_close(&s);
    refused(FORCE_FIELD "[ cmaptypes ]\nCA-* CA-GLY CA-GLY CA-GLY CA-* 1 2 2 1 1 1 1\n" MOLECULE
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

/* AMBER's order of impropers, by its rule: the first of its types stays, the others are sorted around the third atom by the names
 * that the matching line gives them (X before all), then by number; lines with a force constant are turned round first. */
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
    struct system s = read_ok(text.data);
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
    s = read_ok(text.data);
    atoms_are(s.dihedrals[1].atom, 6, 1, 3, 4);
    atoms_are(s.impropers[0].atom, 7, 2, 1, 3);
    system_close(&s);
    buf_free(&text);
}

/* ---- what is refused ---- */

struct bad {
    const char *text;
    enum err_code code;
    const char *message;
};

static void refuse_all(const struct bad *bad, size_t n)
{
    for (size_t i = 0; i < n; i++)
        refused(bad[i].text, bad[i].code, bad[i].message);
}

#define COUNT(a) (sizeof(a) / sizeof *(a))
static void test_bad_preprocessing(void **state)
{
    static const struct bad bad[] = {
        {"#if 1\n", U, "x.top:1: #if: only #ifdef and #ifndef are read"},
        {"#ifdef\n", T, "x.top:1: #ifdef: read '', expected a name"},
        {"#endif\n", T, "x.top:1: #endif without #ifdef or #ifndef"},
        {"#else\n", T, "x.top:1: #else without #ifdef or #ifndef"},
        {"#ifdef A\n#else\n#else\n", T, "x.top:3: #else without #ifdef or #ifndef"},
        {"#define F(x) x\n", T,
         "x.top:1: #define: read 'F(x) x', expected a name of letters, digits and '_', then a value"},
        {"#undef\n", T, "x.top:1: #undef: read '', expected a name"},
        {"#include a.itp\n", T, "x.top:1: #include: read 'a.itp', expected a file name in quotes"},
        {"#include \"x.top\"\n", T, "x.top:1: #include \"x.top\": the file includes itself"},
        {"\n#include \"a.itp\"\n", ERR_MISSING_FILE, "x.top:2: there is no file \"a.itp\""},
        {"#include \"../a.itp\"\n", U, "x.top:1: \"../a.itp\" is not a file in the folder of the spec or below it"},
        {"#pragma\n", T,
         "x.top:1: read '#pragma', expected #include, #define, #undef, #ifdef, #ifndef, #else or #endif"},
    };
    refuse_all(bad, COUNT(bad));
    refused(
        "[ defaults ]\n1 1\n[ atomtypes ]\nA 1 1 0 A 0 0\n[ moleculetype ]\nM 1\n[ atoms ]\n1 A 1 R A 1\n"
        "#define B B0 B0 B0 B0 B0 B0 B0 B0\n#define B0 B1 B1 B1 B1 B1 B1 B1 B1\n#define B1 B2 B2 B2 B2 B2 B2 B2 B2\n"
        "#define B2 B3 B3 B3 B3 B3 B3 B3 B3\n#define B3 B4 B4 B4 B4 B4 B4 B4 B4\n[ system ]\nB\n",
        T, "x.top:15: with its macros replaced the line is longer than 65536 characters");
}

static void test_include_depth(void **state)
{
    struct source *src = source_memory_new();
    struct err e = {0};
    struct system s;
    for (int i = 0; i < 40; i++) {
        char name[16], text[32];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(text, sizeof text, "#include \"f%d\"\n", i + 1);
        assert_int_equal(source_memory_add(src, name, text, strlen(text), &e), 0);
    }
    assert_int_equal(top_read(&s, src, "f0", NULL, 0, &e), -ERR_TOPOLOGY);
    assert_string_equal(e.msg, "f31:1: #include \"f32\": more than 32 files deep");
    /* Every file includes the next one twice: two to the power of thirty lines, if nothing stops it. */
    for (int i = 0; i < 30; i++) {
        char name[16], text[64];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(text, sizeof text, "#include \"f%d\"\n#include \"f%d\"\n", i + 1, i + 1);
        assert_int_equal(source_memory_add(src, name, text, strlen(text), &e), 0);
    }
    assert_int_equal(source_memory_add(src, "f30", "*\n", 2, &e), 0);
    assert_int_equal(top_read(&s, src, "f0", NULL, 0, &e), -ERR_TOPOLOGY);
    assert_non_null(strstr(e.msg, "with its includes and macros the topology is larger than 134217728 bytes"));
    assert_int_equal(top_read(&s, src, "none.top", NULL, 0, &e), -ERR_MISSING_FILE);
    assert_string_equal(e.msg, "there is no file \"none.top\"");
    assert_int_equal(source_memory_add(src, "x", "a\0b", 3, &e), 0);
    assert_int_equal(top_read(&s, src, "x", NULL, 0, &e), -ERR_TOPOLOGY);
    assert_string_equal(e.msg, "x:1: a NUL byte: this is not a text file");
    assert_int_equal(top_read(&s, src, "x", (struct define[]){{"a-b", NULL}}, 1, &e), -ERR_TOPOLOGY);
    assert_string_equal(e.msg, "define 'a-b': expected a name of letters, digits and '_'");
    source_free(src);
}

static void test_bad_sections(void **state)
{
    static const struct bad bad[] = {
        {"", T, "x.top: read no molecules, expected a [ molecules ] section that counts some"},
        {"1 2\n", T, "x.top:1: read '1 2', expected a section, such as [ defaults ], first"},
        {"[ defaults\n", T, "x.top:1: read '[ defaults', expected [ section ]"},
        {"[ a b ]\n", T, "x.top:1: read 2 words between [ and ], expected one section name"},
        {"[ nonsense ]\n", U, "x.top:1: section [ nonsense ] is not known"},
        {"[ atomtypes ]\n", T, "x.top:1: [ atomtypes ]: it must come after [ defaults ]"},
        {"[ bondtypes ]\n", T, "x.top:1: [ bondtypes ]: it must come after [ atomtypes ]"},
        {"[ moleculetype ]\n", T, "x.top:1: [ moleculetype ]: it must come after [ atomtypes ]"},
        {"[ atoms ]\n", T, "x.top:1: [ atoms ]: it must come after a [ moleculetype ]"},
        {"[ system ]\n", T, "x.top:1: [ system ]: it must come after a [ moleculetype ]"},
        {"[ molecules ]\n", T, "x.top:1: [ molecules ]: it must come after [ system ]"},
        {FORCE_FIELD "[ moleculetype ]\nM 3\n[ bonds ]\n", T,
         "x.top:11: [ bonds ]: it must come after the [ atoms ] of the molecule"},
        {FORCE_FIELD MOLECULE "[ bondtypes ]\n", T,
         "x.top:17: [ bondtypes ]: force-field sections must come before the first [ moleculetype ]"},
        {FORCE_FIELD MOLECULE "[ system ]\n[ atoms ]\n", T,
         "x.top:18: [ atoms ]: molecule types must come before [ system ]"},
        {FORCE_FIELD MOLECULE "[ distance_restraints ]\n1 2 1 0 1 0 0.1 0.2 1\n3 4 1 0 1 0 0.1 0.2 1\n", U,
         "x.top:19: [ distance_restraints ]: index 0 stands on an earlier line: restraints of several pairs at once "
         "are "
         "not computed"},
        {FORCE_FIELD MOLECULE "[ distance_restraints ]\n1 2 1 0 3 0 0.1 0.2 1\n", T,
         "x.top:18: [ distance_restraints ]: read 3, expected type' from 1 to 2"},
        {FORCE_FIELD MOLECULE "[ polarization ]\n1 2 1 0.1\n", U,
         "x.top:18: [ polarization ]: polarization is not computed"},
        {FORCE_FIELD MOLECULE "[ system ]\n[ molecules ]\nWAT 3\n", T,
         "x.top:19: [ molecules ]: read 'WAT', expected the name of a [ moleculetype ]"},
        {FORCE_FIELD MOLECULE "[ system ]\n[ molecules ]\nM -1\n", T,
         "x.top:19: [ molecules ]: read -1, expected a number of molecules from 0 to 1000000"},
        {FORCE_FIELD MOLECULE "[ system ]\n[ molecules ]\nM 900000\n", U,
         "x.top:19: [ molecules ]: more than 1000000 atoms in the system"},
        {FORCE_FIELD MOLECULE "[ system ]\n[ molecules ]\nM 1 2\n", T,
         "x.top:19: [ molecules ]: read '2' after name and number, expected the end of the line"},
        {FORCE_FIELD "[ moleculetype ]\nM 3\n[ system ]\n[ molecules ]\nM 1\n", T,
         "x.top:13: [ molecules ]: molecule type M has no atoms"},
        {FORCE_FIELD MOLECULE "[ system ]\n[ molecules ]\nM 0\n", T,
         "x.top: read no molecules, expected a [ molecules ] section that counts some"},
    };
    refuse_all(bad, COUNT(bad));
}

static void test_bad_types(void **state)
{
    static const struct bad bad[] = {
        {"[ defaults ]\n2 1\n", U,
         "x.top:2: [ defaults ]: nbfunc 2: only 1 (Lennard-Jones) is computed, not Buckingham"},
        {"[ defaults ]\n1 4\n", T, "x.top:2: [ defaults ]: read 4, expected comb-rule from 1 to 3"},
        {"[ defaults ]\n1\n", T, "x.top:2: [ defaults ]: the line ends after 1 word, expected comb-rule"},
        {"[ defaults ]\n1 2 maybe\n", T, "x.top:2: [ defaults ]: gen-pairs: read 'maybe', expected yes or no"},
        {"[ defaults ]\n1 2 yes half\n", T, "x.top:2: [ defaults ]: read 'half', expected fudgeLJ (a number)"},
        {"[ defaults ]\n1 2 yes 1 1 9\n", U, "x.top:2: [ defaults ]: repulsion power 9: only 12 is computed"},
        {"[ defaults ]\n1 2\n1 2\n", T, "x.top:3: [ defaults ]: a second [ defaults ] line"},
        {"[ defaults ]\n1 2\n[ atomtypes ]\nA 1 2 3 4 5\n", T,
         "x.top:4: [ atomtypes ]: atom type A: read no particle type (A, S, D or V) in column 4, 5 or 6, expected: "
         "name "
         "[bonded type] [atomic number] mass charge particle-type two parameters"},
        {"[ defaults ]\n1 2\n[ atomtypes ]\nA 1 2 A x 5\n", T,
         "x.top:4: [ atomtypes ]: read 'x', expected a parameter (a number)"},
        {"[ defaults ]\n1 2\n[ atomtypes ]\nA 1 nan A 1 5\n", T,
         "x.top:4: [ atomtypes ]: read 'nan', expected a charge (a number)"},
        {"[ defaults ]\n1 2\n[ atomtypes ]\nA 1 2 A 1\n", T,
         "x.top:4: [ atomtypes ]: the line ends after 5 words, expected a parameter"},
        {"[ defaults ]\n1 2\n[ atomtypes ]\nA 1 2 Q 1 1\n", T,
         "x.top:4: [ atomtypes ]: atom type A: read particle type 'Q', expected A, S, D or V"},
        {"[ defaults ]\n1 2\n[ atomtypes ]\nA 1 2 A 1 1 1\n", T,
         "x.top:4: [ atomtypes ]: read '1' after the two parameters, expected the end of the line"},
        {FORCE_FIELD "[ bondtypes ]\nCA CX 1 0.1 1\n", T,
         "x.top:10: [ bondtypes ]: read 'CX', expected a bonded type of [ atomtypes ]"},
        {FORCE_FIELD "[ bondtypes ]\nCA\n", T,
         "x.top:10: [ bondtypes ]: the line ends after 1 word, expected 2 type names"},
        {FORCE_FIELD "[ bondtypes ]\nCA CB 12 0.1 1\n", U,
         "x.top:10: [ bondtypes ]: function 12 is not computed, expected 1, 2, 3, 4, 5, 6, 7 or 10"},
        {FORCE_FIELD "[ bondtypes ]\nCA CB 1 0.1\n", T,
         "x.top:10: [ bondtypes ]: read 1 parameter, expected 2 (A) or 4 (A and B) for a harmonic bond (funct 1)"},
        {FORCE_FIELD "[ bondtypes ]\nCA CB 1\n", T,
         "x.top:10: [ bondtypes ]: read no parameters, expected 2 for a harmonic bond"},
        {FORCE_FIELD "[ pairtypes ]\nCA A 1 0.1 1\n", T,
         "x.top:10: [ pairtypes ]: read 'CA', expected an atom type of [ atomtypes ]"},
        {FORCE_FIELD "[ angletypes ]\nCA CA CA 8 1 1\n", U,
         "x.top:10: [ angletypes ]: function 8 (tabulated) is not computed, expected 1, 2, 3, 4, 5, 6, 9 or 10"},
        {FORCE_FIELD "[ dihedraltypes ]\nCA CA CA 9 0.5 1 1\n", T,
         "x.top:10: [ dihedraltypes ]: read no function number in column 3 or 5, expected 2 or 4 type names before it"},
        {FORCE_FIELD "[ dihedraltypes ]\nX X CA CA 9 0 1 1\nCA CA X X 9 0 1 2\n", T,
         "x.top:11: [ dihedraltypes ]: parameters for these types are defined before with other values"},
        {FORCE_FIELD "[ nonbond_params ]\nA Q 1 1 1\n", T,
         "x.top:10: [ nonbond_params ]: read 'Q', expected an atom type of [ atomtypes ]"},
        {FORCE_FIELD "[ nonbond_params ]\nA B 2 1 1 1\n", U,
         "x.top:10: [ nonbond_params ]: function 2: only 1 (Lennard-Jones) is computed"},
        {FORCE_FIELD "[ nonbond_params ]\nA B 1 1\n", T, "x.top:10: [ nonbond_params ]: read 1 parameter, expected 2"},
        {FORCE_FIELD "[ nonbond_params ]\nA B 1 1 1 1\n", T,
         "x.top:10: [ nonbond_params ]: read '1' after the two parameters, expected the end of the line"},
        {"[ defaults ]\n1 1\n[ atomtypes ]\nA 1 0 A -1 1\nB 1 0 A 1 1\n[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 R A 1\n"
         "2 B 1 R B 1\n" TAIL,
         T, "x.top: [ atomtypes ]: A and B combine to no number"},
    };
    refuse_all(bad, COUNT(bad));
}

static void test_bad_molecules(void **state)
{
    static const struct bad bad[] = {
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
        {FORCE_FIELD MOLECULE "[ bonds ]\n1 1 1 0.1 1\n", T, "x.top:18: [ bonds ]: atom 1 stands twice on the line"},
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
         "x.top:18: [ angle_restraints ]: atom 1 stands twice on the line"},
        {FORCE_FIELD MOLECULE "[ exclusions ]\n1 2 6\n", T,
         "x.top:18: [ exclusions ]: read 6, expected an atom number of the molecule from 1 to 5"},
    };
    refuse_all(bad, COUNT(bad));
}

/* Atoms 1 to 5 have mass, 6 and 7 have none. */
#define MASSLESS MOLECULE "6 V 1 RES M1 1\n7 V 1 RES M2 1\n"

static void test_bad_sites(void **state)
{
    static const struct bad bad[] = {
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
         "x.top:20: [ virtual_sites2 ]: atom 1 stands twice on the line"},
        {FORCE_FIELD MASSLESS "[ virtual_sites2 ]\n6 1 2 1 0.5\n6 1 3 1 0.5\n", T,
         "x.top:21: [ virtual_sites2 ]: atom 6 is placed by an earlier line"},
        {FORCE_FIELD MASSLESS "[ virtual_sitesn ]\n6 3 1 0.5 2 -0.5\n", T,
         "x.top:20: [ virtual_sitesn ]: read 2 atoms of weight 0 in all, expected some of positive weight"},
    };
    refuse_all(bad, COUNT(bad));
    struct system s = read_ok(FORCE_FIELD MASSLESS
                              "[ virtual_sitesn ]\n6 3 1 1 2 3\n[ virtual_sites3 ]\n7 1 2 3 3 90 "
                              "0.1\n[ system ]\n[ molecules ]\nM 2\n");
    assert_int_equal(s.nsites, 4);
    assert_int_equal(s.sites[2].atom, 12);
    assert_int_equal(s.site_atoms[s.sites[2].first + 1], 8);
    near(s.site_weights[1], 0.75);
    near(s.sites[3].c[1], 0.1);
    near(s.sites[3].c[0], 0);
    system_close(&s);
}

static void test_bad_rare(void **state)
{
    static const struct bad bad[] = {
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
         "x.top:23: [ angles ]: read no parameters, expected 2 for a harmonic angle: between molecules they stand on "
         "the line"},
    };
    refuse_all(bad, COUNT(bad));
}

/* ---- large ones ---- */

/* Ten times as many molecule types, and a molecule in which every atom is bonded to every other, cost ten times as much and
 * no more: a reader that looks through all of them each time would take minutes. */
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
    struct system s = read_ok(text.data);
    double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    assert_int_equal(s.natoms, KINDS + CLIQUE);
    assert_int_equal(s.molecules[KINDS].kind, KINDS - 1);
    assert_int_equal(s.exclusion_start[CLIQUE], CLIQUE * (CLIQUE - 1));
    if (seconds > 10)
        fail_msg("%.1f s of processor time", seconds);
    system_close(&s);
    buf_free(&text);
    refused(FORCE_FIELD
            "[ moleculetype ]\nSol 1\n[ atoms ]\n1 A 1 R C 1\n[ moleculetype ]\nSOL 1\n[ atoms ]\n"
            "1 A 1 R C 1\n[ system ]\nt\n[ molecules ]\nsol 1\n",
            ERR_TOPOLOGY, "x.top:20: [ molecules ]: read 'sol', expected the name of a [ moleculetype ]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),         cmocka_unit_test(test_b_states),
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_dihedrals),
        cmocka_unit_test(test_preprocessor),  cmocka_unit_test(test_bad_preprocessing),
        cmocka_unit_test(test_include_depth), cmocka_unit_test(test_bad_sections),
        cmocka_unit_test(test_bad_types),     cmocka_unit_test(test_bad_molecules),
        cmocka_unit_test(test_alike),         cmocka_unit_test(test_linear_angles),
        cmocka_unit_test(test_rare),          cmocka_unit_test(test_bad_rare),
        cmocka_unit_test(test_bad_sites),     cmocka_unit_test(test_many),
        cmocka_unit_test(test_lenient),       cmocka_unit_test(test_redefined),
        cmocka_unit_test(test_type_columns),  cmocka_unit_test(test_many_types),
        cmocka_unit_test(test_cmap_residues), cmocka_unit_test(test_leap_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
