/* SPDX-License-Identifier: Apache-2.0
 *
 * Restraints between centers, from the text of a spec to the atoms of a system, and what is wrong with them.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/spec_read.h"

#define LADDER                                                                                                         \
    "name: a\n"                                                                                                        \
    "system: {topology: a.top, coordinates: a.gro, index: a.ndx}\n"                                                    \
    "alchemy: {perturb: b-states, windows: {restraint: [0, 1]}}\n"                                                     \
    "restraints:\n"
#define BETWEEN "- between: [{molecule: LIG}, {atoms: \"1-2\"}]\n"
#define REST "  distance: 0.5 nm\n  force-constant: 1 kJ/mol/nm^2\n"
#define AT(line, text) "s.yaml:" #line ": restraints[0]" text

static const char top[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12 0 A 0.3 0.4\nM 0 0 A 0 0\n"
    "[ moleculetype ]\nHOST 1\n[ atoms ]\n1 C 1 HOS A 1 0 10\n2 C 1 HOS B 1 0 30\n3 C 1 HOS C 1 0 20\n4 M 1 HOS D 1 0 "
    "0\n"
    "[ virtual_sites2 ]\n4 1 2 1 0.5\n"
    "[ moleculetype ]\nLIG 1\n[ atoms ]\n1 C 1 LIG A 1 0 12\n2 C 1 LIG B 1 0 12\n"
    "[ moleculetype ]\nSOL 1\n[ atoms ]\n1 C 1 SOL A 1 0 12\n"
    "[ system ]\nthree\n[ molecules ]\nHOST 1\nLIG 1\nSOL 2\n";
static const char gro[] =
    "three\n8\n"
    "    1HOS      A    1   0.500   0.500   0.500\n    1HOS      B    2   2.900   0.500   0.500\n"
    "    1HOS      C    3   0.200   0.500   0.500\n    1HOS      D    4   0.500   0.500   0.500\n"
    "    2LIG      A    5   1.000   0.500   0.500\n    2LIG      B    6   1.100   0.500   0.500\n"
    "    3SOL      A    7   2.000   0.500   0.500\n    4SOL      A    8   0.700   1.000   0.500\n"
    "   3.0 3.0 3.0\n";
static const char ndx[] =
    "[ System ]\n1 2 3 4\n5 6 7 8\n[ site ] ; near\n 3 1\t2 4\n[bad]\n7 7\n[ far ]\n1 7\n[ sites ]\n4\n";

static struct err made(const char *text, struct system *sys)
{
    return system_made(text, top, gro, ndx, sys);
}

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12)
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void test_groups(void **state)
{
    struct system sys;
    struct err e = made(LADDER
                        "- between: [{group: site}, {molecule: LIG}]\n"
                        "  distance: 5 A\n"
                        "  force-constant: 2 kcal/mol/A^2\n"
                        "  b: {distance: 0.6 nm}\n"
                        "- between: [{atoms: \"8 , 1-3\"}, {atoms: \"5\"}]\n"
                        "  upper: 0.7 nm\n"
                        "  force-constant: 0 kJ/mol/nm^2\n"
                        "  b: {force-constant: 10 kJ/mol/nm^2, lower: 0.1 nm}\n"
                        "- between: [{molecule: LIG}, {atoms: \"7\"}]\n"
                        "  lower: 0.3 nm\n"
                        "  force-constant: 1 kcal/mol/nm^2\n",
                        &sys);
    assert_string_equal(e.msg, "");
    assert_int_equal(sys.ncenters, 3);
    const struct center_restraint *r = sys.centers;
    /* the site: whole across the edge, its middle first, without the atom that weighs nothing */
    assert_int_equal(r->count[0], 3);
    static const int site[] = {2, 0, 1};
    static const double weight[] = {1.0 / 3, 1.0 / 6, 0.5};
    for (int i = 0; i < 3; i++) {
        const struct center_atom *a = &sys.center_atoms[r->first[0] + (uint32_t)i];
        near(a->weight, weight[a->atom == 2 ? 0 : a->atom == 0 ? 1 : 2]);
        assert_true(i || a->atom == site[0]);
    }
    near(r->c[0][0], 0.5);
    near(r->c[0][1], 0.5);
    near(r->c[0][3], 836.8);
    near(r->c[1][0], 0.6);
    near(r->c[1][1], 0.6);
    near(r->c[1][3], 836.8);
    assert_true(r->c[0][2] > 1e5);
    assert_int_equal(r[1].count[0], 4);
    near(r[1].c[0][0], 0);
    near(r[1].c[0][1], 0.7);
    near(r[1].c[0][3], 0);
    near(r[1].c[1][0], 0.1);
    near(r[1].c[1][1], 0.7);
    near(r[1].c[1][3], 10);
    near(r[2].c[0][0], 0.3);
    assert_true(r[2].c[0][1] > 1e5);
    near(r[2].c[1][3], 4.184);
    system_close(&sys);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {LADDER BETWEEN "  force-constant: 1 kJ/mol/nm^2\n",
         AT(5, ": expected distance (harmonic), or lower or upper (flat between)")},
        {LADDER BETWEEN "  distance: 0.5 nm\n", AT(5, ": missing; expected force-constant, such as 1000 kJ/mol/nm^2")},
        {LADDER BETWEEN "  distance: 0.5 nm\n  upper: 1 nm\n",
         AT(6, ": expected distance (harmonic), or lower and upper (flat between), not both")},
        {LADDER BETWEEN "  lower: 0.5 nm\n  upper: 0.4 nm\n",
         AT(5, ": lower 0.5 nm: expected less than upper, 0.4 nm")},
        {LADDER BETWEEN "  distance: 0.5 nm\n  force-constant: 1 kJ/mol/nm^2\n  b: {upper: 1 nm}\n",
         AT(8, ".b: expected distance, as without b")},
        {LADDER BETWEEN "  upper: 0.5 nm\n  force-constant: 1 kJ/mol/nm^2\n  b: {distance: 1 nm}\n",
         AT(8, ".b: expected lower or upper, as without b")},
        {"name: a\nsystem: {topology: a.top, coordinates: a.gro}\nalchemy: {decouple: LIG, windows: {vdw: [0, 1]}}\n"
         "restraints:\n" BETWEEN "  upper: 0.5 nm\n  force-constant: 1 kJ/mol/nm^2\n  b: {upper: 1 nm}\n",
         AT(8, ".b: expected a ladder that leads there, alchemy.windows.restraint or bonded")},
        {LADDER BETWEEN "  distance: 1.6 nm\n  force-constant: 1 kJ/mol/nm^2\n",
         AT(5, ": 1.6 nm: expected less than 1.5 nm in this box")},
        {LADDER "- between: [{molecule: LIG}]\n", AT(5, ".between: a list of 1: expected a list of 2 values")},
        {LADDER "- between: [{molecule: LIG}, {}]\n",
         AT(5, ".between[1]: 0 keys; expected at least one of molecule, atoms, group, name or resname")},
        {LADDER "- between: [{molecule: LIG}, {atoms: \"1-2\", group: far, name: B}]\n" REST,
         AT(5, ".between[1]: atoms 1-2, group far, name B: no atom for which all of it holds")},
        {LADDER "- between: [LIG, {atoms: \"1\"}]\n" REST,
         AT(5, ".between[0]: LIG: no atom has this name, and no group of system.index; did you mean {resname: LIG}?")},
        {LADDER "- between: [{molecule: SOL}, {atoms: \"1\"}]\n" REST,
         AT(5, ".between[0]: SOL: there are several molecules of this type; expected one, or atoms by number")},
        {LADDER "- between: [{molecule: SOIL}, {atoms: \"1\"}]\n" REST,
         AT(5, ".between[0]: SOIL: there is no molecule of this type; did you mean SOL?")},
        {LADDER "- between: [{molecule: LIG}, {atoms: \"1-9\"}]\n" REST,
         AT(5, ".between[1]: 1-9: 1-9: expected numbers and ranges of 1 to 8, such as 1-12, 15")},
        {LADDER "- between: [{molecule: LIG}, {atoms: \"1,x\"}]\n" REST,
         AT(5, ".between[1]: 1,x: x: expected numbers and ranges of 1 to 8, such as 1-12, 15")},
        {LADDER "- between: [{molecule: LIG}, {atoms: \"1-3, 2\"}]\n" REST,
         AT(5, ".between[1]: 1-3, 2: atom 2 is in it twice")},
        {LADDER "- between: [{molecule: LIG}, {atoms: \"4\"}]\n" REST, AT(5, ".between[1]: 4: no atoms with mass")},
        {LADDER "- between: [{molecule: LIG}, {group: sits}]\n" REST,
         AT(5, ".between[1]: sits: a.ndx has no group of this name; did you mean site?")},
        {LADDER "- between: [{molecule: LIG}, {group: far}]\n" REST,
         AT(5,
            ".between[1]: far: its atoms are up to 1.5 nm from that in its middle; in this box expected less than "
            "1.35 nm, or it is not known which of their images belong together")},
        {"name: a\nsystem: {topology: a.top, coordinates: a.gro}\nrestraints:\n"
         "- between: [{molecule: LIG}, {group: site}]\n" REST,
         "s.yaml:4: restraints[0].between: group: site: expected system.index, the file that has it"},
        {"name: a\nsystem: {topology: a.top, coordinates: a.gro, index: b.ndx}\nrestraints:\n"
         "- between: [{molecule: LIG}, {group: site}]\n" REST,
         "s.yaml:2: system.index: there is no file \"b.ndx\""},
        {"name: a\nsystem: {topology: a.top, coordinates: a.gro, index: a.top}\nrestraints:\n"
         "- between: [{molecule: LIG}, {group: site}]\n" REST,
         "s.yaml:4: restraints[0].between[1]: site: a.top:2: no: expected the number of an atom, 1 to 8, or [ name ]"},
        {LADDER BETWEEN REST,
         "s.yaml:3: alchemy.perturb: b-states: nothing in a.top has a B state that differs from its A "
         "state"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct system sys;
        assert_string_equal(made(cases[i].text, &sys).msg, cases[i].message);
        system_close(&sys);
    }
}

/* Where the centers are in the coordinates, the one across the edge of the box. */
static void test_start(void **state)
{
    struct system sys;
    struct err e = made(LADDER BETWEEN
                        "  distance: start\n  force-constant: 1 kJ/mol/nm^2\n"
                        "  b: {force-constant: 5 kJ/mol/nm^2}\n",
                        &sys);
    assert_string_equal(e.msg, "");
    for (int s = 0; s < 2; s++) {
        near(sys.centers[0].c[s][0], 1);
        near(sys.centers[0].c[s][1], 1);
        near(sys.centers[0].c[s][3], s ? 5 : 1);
    }
    system_close(&sys);
    e = made(LADDER BETWEEN "  distance: start\n  force-constant: 1 kJ/mol/nm^2\n  b: {distance: 0.7 nm}\n", &sys);
    near(sys.centers[0].c[0][0], 1);
    near(sys.centers[0].c[1][1], 0.7);
    system_close(&sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups), cmocka_unit_test(test_start),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
