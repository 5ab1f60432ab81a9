/* SPDX-License-Identifier: Apache-2.0
 *
 * What the topology reader refuses of preprocessing, sections and force fields: the exact sentence for each kind of bad
 * input.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/top_text.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
static void test_bad_preprocessing(void **state)
{
    static const struct top_bad bad[] = {
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
        {"#include \"../a.itp\"\n", ERR_MISSING_FILE, "x.top:1: there is no file \"../a.itp\""},
        {"#include \"..\"\n", U, "x.top:1: \"..\" is not the name of a file"},
        {"#pragma\n", T,
         "x.top:1: read '#pragma', expected #include, #define, #undef, #ifdef, #ifndef, #else or #endif"},
    };
    top_refuse_all(bad, COUNT(bad));
    top_refused(
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
    static const struct top_bad bad[] = {
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
        {FORCE_FIELD MOLECULE
         "[ distance_restraints ]\n1 2 1 0 1 0 0.1 0.2 1\n1 3 1 1 1 0 0.1 0.2 1\n3 4 1 0 1 0 0.1 0.2 1\n",
         U,
         "x.top:20: [ distance_restraints ]: index 0 is on an earlier line; expected the pairs of one restraint on "
         "lines behind one another"},
        {FORCE_FIELD MOLECULE "[ distance_restraints ]\n1 2 1 0 1 0 0.1 0.2 1\n[ bonds ]\n2 3 10 0 0.1 0.2 1000\n"
                              "[ distance_restraints ]\n3 4 1 0 1 0 0.1 0.2 1\n",
         U,
         "x.top:22: [ distance_restraints ]: index 0 is on an earlier line; expected the pairs of one restraint on "
         "lines behind one another"},
        {FORCE_FIELD MOLECULE "[ distance_restraints ]\n1 2 1 0 1 0 0.1 0.2 1\n3 4 1 0 1 0 0.1 0.2 2\n", U,
         "x.top:19: [ distance_restraints ]: index 0 has other numbers on the line before; expected the same type', "
         "distances and factor for all pairs of a restraint"},
        {FORCE_FIELD MOLECULE "[ distance_restraints ]\n1 2 1 0 1 0 0.1 0.2 1\n3 4 1 0 2 0 0.1 0.2 1\n", U,
         "x.top:19: [ distance_restraints ]: index 0 has other numbers on the line before; expected the same type', "
         "distances and factor for all pairs of a restraint"},
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
    top_refuse_all(bad, COUNT(bad));
}

static void test_bad_types(void **state)
{
    static const struct top_bad bad[] = {
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
    top_refuse_all(bad, COUNT(bad));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_preprocessing),
        cmocka_unit_test(test_include_depth),
        cmocka_unit_test(test_bad_sections),
        cmocka_unit_test(test_bad_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
