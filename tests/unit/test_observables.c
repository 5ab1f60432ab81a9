/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables and the groups of atoms that specs name, from text to the atoms of a system; and what is wrong with them.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/spec_read.h"
#include "engine/base/buf.h"

#define SYSTEM "name: a\nsystem: {topology: a.top, coordinates: a.gro, index: a.ndx}\n"
#define RDF(first, rest) "observables:\n- rdf: {between: [" first ", C1], max: 1 nm" rest "}\n"

static const char top[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12 0 A 0.3 0.4\n"
    "[ moleculetype ]\nLIG 1\n[ atoms ]\n1 C 1 LIG C1 1 0 12\n2 C 1 LIG C2 1 0 12\n3 C 2 CAP C1 1 0 12\n"
    "[ moleculetype ]\nSOL 1\n[ atoms ]\n1 C 1 SOL OW 1 0 12\n2 C 1 SOL HW1 1 0 12\n3 C 1 SOL HW2 1 0 12\n"
    "[ system ]\nthree\n[ molecules ]\nLIG 1\nSOL 2\n";
static const char gro[] =
    "three\n9\n"
    "    1LIG     C1    1   0.500   0.500   0.500\n    1LIG     C2    2   2.900   0.500   0.500\n"
    "    2CAP     C1    3   0.200   0.500   0.500\n    3SOL     OW    4   0.500   0.500   0.500\n"
    "    3SOL    HW1    5   1.000   0.500   0.500\n    3SOL    HW2    6   1.100   0.500   0.500\n"
    "    4SOL     OW    7   2.000   0.500   0.500\n    4SOL    HW1    8   0.700   1.000   0.500\n"
    "    4SOL    HW2    9   0.700   1.000   0.500\n"
    "   3.0 3.0 3.0\n";
static const char ndx[] = "[ System ]\n1 2 3 4 5 6 7 8 9\n[ site ]\n3 7\n[ C2 ]\n2\n[ OW ]\n4\n[ twice ]\n1 1\n";

static struct err made(const char *text, struct system *sys)
{
    return system_made(text, top, gro, ndx, sys);
}

/* "1 3 7": counted from 1. */
static void assert_atoms(const struct atom_group *g, const char *expected)
{
    struct buf b = {0};
    for (int i = 0; i < g->n; i++)
        buf_printf(&b, "%s%d", i ? " " : "", g->atom[i] + 1);
    assert_string_equal(b.data, expected);
    buf_free(&b);
}

static void test_selections(void **state)
{
    static const struct {
        const char *text, *atoms, *label;
    } cases[] = {
        {"HW1", "5 8", "HW1"},
        {"\"HW?\"", "5 6 8 9", "HW?"},
        {"site", "3 7", "site"},
        {"C2", "2", "C2"}, /* a group and a name, of the same atoms */
        {"{name: OW}", "4 7", "OW"},
        {"{group: OW}", "4", "OW"},
        {"{name: \"OW, C*\"}", "1 2 3 4 7", "OW, C*"},
        {"{resname: SOL}", "4 5 6 7 8 9", "SOL"},
        {"{molecule: LIG}", "1 2 3", "LIG"},
        {"{molecule: LIG, name: C1}", "1 3", "molecule LIG, name C1"},
        {"{resname: CAP, molecule: LIG}", "3", "molecule LIG, resname CAP"},
        {"{atoms: \"9, 1-4\", name: \"C1 HW2\"}", "1 3 9", "atoms 9, 1-4, name C1 HW2"},
        {"{group: site, resname: SOL, name: OW}", "7", "group site, name OW, resname SOL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        struct system sys;
        buf_printf(&text, SYSTEM RDF("%s", ""), cases[i].text);
        struct err e = made(text.data, &sys);
        assert_string_equal(e.msg, "");
        assert_int_equal(sys.nobservables, 1);
        assert_atoms(&sys.observables[0].group[0], cases[i].atoms);
        assert_atoms(&sys.observables[0].group[1], "1 3");
        assert_string_equal(sys.observables[0].group[0].label, cases[i].label);
        system_close(&sys);
        buf_free(&text);
    }
}

static void test_rdf(void **state)
{
    struct system sys;
    struct err e = made(SYSTEM
                        "integrator: {timestep: 4 fs}\nobservables:\n"
                        "- rdf: {between: [HW1, HW1], max: 1 nm}\n"
                        "- rdf: {between: [HW1, HW2], max: 5 A, bin: 0.1 nm, every: 10 steps, within-molecules: no}\n"
                        "- rdf: {between: [HW1, HW2], max: 1 nm, name: hydrogens}\n"
                        "- rdf: {between: [HW1, HW2], max: 1 nm}\n",
                        &sys);
    assert_string_equal(e.msg, "");
    static const char *const names[] = {"rdf", "rdf_2", "hydrogens", "rdf_3"};
    for (int i = 0; i < 4; i++)
        assert_string_equal(sys.observables[i].name, names[i]);
    const struct observable *o = sys.observables;
    assert_int_equal(o[0].kind, OBSERVE_RDF);
    assert_true(o[0].rdf.max == 1 && o[0].rdf.bin == 0.002 && o[0].rdf.within && o[0].every == 250 &&
                o[0].interval == 1);
    assert_true(o[1].rdf.max == 0.5 && o[1].rdf.bin == 0.1 && !o[1].rdf.within && o[1].every == 10);
    system_close(&sys);
}

static void test_saxs(void **state)
{
    struct system sys;
    struct err e =
        made(SYSTEM
             "observables:\n"
             "- saxs: {of: HW1}\n"
             "- saxs: {of: {resname: SOL}, max: 2 /A, bin: 0.1 /A, grid: [32, 36, 40], order: 6, divide-by: euler, "
             "supersampling: 2, padding: {factor: 3, fill: average}}\n"
             "- saxs: {of: site, padding: {factor: 1.5, solvent: [{formula: H2O, density: 33 /nm^3}, "
             "{formula: C2H6O1, density: 1 /nm^3}]}}\n",
             &sys);
    assert_string_equal(e.msg, "");
    const struct saxs_choice *s = &sys.observables[0].saxs;
    assert_int_equal(sys.observables[0].kind, OBSERVE_SAXS);
    assert_atoms(&sys.observables[0].group[0], "5 8");
    assert_true(s->max == 15 && s->bin == 0.5 && s->spacing == 0.05 && s->order == 4 && !s->euler && s->padding == 1);
    assert_true(s->supersampling == 1 && s->grid[0] == 0 && s->outside == SAXS_NOTHING && !s->background.n);
    s = &sys.observables[1].saxs;
    assert_true(s->max == 20 && s->bin == 1 && s->grid[0] == 32 && s->grid[1] == 36 && s->grid[2] == 40 && s->euler);
    assert_true(s->supersampling == 2 && s->order == 6 && s->padding == 3 && s->outside == SAXS_AVERAGE);
    s = &sys.observables[2].saxs;
    assert_true(s->padding == 1.5 && s->outside == SAXS_SOLVENT && s->nfill == 3);
    static const struct saxs_fill fill[] = {{"H", 72}, {"O", 34}, {"C", 2}};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(s->fill[i].symbol, fill[i].symbol);
        assert_true(s->fill[i].density == fill[i].density);
    }
    system_close(&sys);
}

static void test_motion(void **state)
{
    struct system sys;
    struct err e = made(SYSTEM
                        "integrator: {temperature: 310 K}\nobservables:\n"
                        "- dielectric: {}\n- dielectric: {of: {resname: SOL}, every: 20 steps}\n"
                        "- vacf: {of: HW1, max: 2 ps}\n"
                        "- vacf: {of: {resname: SOL}, max: 1 ps, by: molecule, restart: 0.1 ps, remove-center: yes}\n"
                        "- pressure: {every: 4 fs, name: stress}\n",
                        &sys);
    assert_string_equal(e.msg, "");
    const struct observable *o = sys.observables;
    assert_true(o[0].kind == OBSERVE_DIELECTRIC && o[0].dielectric.temperature == 310 && o[0].every == 500);
    assert_atoms(&o[0].group[0], "1 2 3 4 5 6 7 8 9");
    assert_string_equal(o[0].group[0].label, "all atoms");
    assert_atoms(&o[1].group[0], "4 5 6 7 8 9");
    assert_true(o[1].every == 20);
    assert_true(o[2].kind == OBSERVE_VACF && o[2].lags.max == 2 && o[2].lags.restart == -0.1 && !o[2].lags.molecules &&
                !o[2].lags.center && o[2].every == 10);
    assert_true(o[3].lags.max == 1 && o[3].lags.restart == 0.1 && o[3].lags.molecules && o[3].lags.center);
    assert_true(o[4].kind == OBSERVE_PRESSURE && o[4].every == 2 && o[4].ngroups == 0);
    assert_string_equal(o[4].name, "stress");
    system_close(&sys);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {SYSTEM RDF("HW3", ""),
         "s.yaml:4: observables[0].rdf: HW3: no atom has this name, and no group of system.index; did you mean HW1?"},
        {SYSTEM RDF("SOL", ""),
         "s.yaml:4: observables[0].rdf: SOL: no atom has this name, and no group of system.index; did you mean "
         "{resname: SOL}?"},
        {SYSTEM RDF("OW", ""),
         "s.yaml:4: observables[0].rdf: OW: a group of a.ndx and the name of other atoms; expected {group: OW} or "
         "{name: OW}"},
        {SYSTEM RDF("{name: OW HW4}", ""),
         "s.yaml:4: observables[0].rdf: OW HW4: HW4: no atom has this name; did you mean HW1?"},
        {SYSTEM RDF("{resname: SLO}", ""),
         "s.yaml:4: observables[0].rdf: SLO: no residue has this name; did you mean SOL?"},
        {SYSTEM RDF("{molecule: CAP}", ""), "s.yaml:4: observables[0].rdf: CAP: there is no molecule of this type"},
        {SYSTEM RDF("{molecule: LIG, name: OW}", ""),
         "s.yaml:4: observables[0].rdf: molecule LIG, name OW: no atom for which all of it holds"},
        {SYSTEM RDF("{group: sites}", ""),
         "s.yaml:4: observables[0].rdf: sites: a.ndx has no group of this name; did you mean site?"},
        {SYSTEM RDF("twice", ""), "s.yaml:4: observables[0].rdf: twice: atom 1 is in it twice"},
        {SYSTEM RDF("{atoms: \"10\"}", ""),
         "s.yaml:4: observables[0].rdf: 10: 10: expected numbers and ranges of 1 to 9, such as 1-12, 15"},
        {SYSTEM RDF("{atoms: OW}", ""),
         "s.yaml:4: observables[0].rdf: OW: OW: expected numbers and ranges of 1 to 9, such as 1-12, 15; did you mean "
         "{name: OW}?"},
        {"name: a\nsystem: {topology: a.top, coordinates: a.gro}\n" RDF("{group: site}", ""),
         "s.yaml:4: observables[0].rdf.between: group: site: expected system.index, the file that has it"},
        {"name: a\nsystem: {topology: a.top, coordinates: a.gro, index: b.ndx}\n" RDF("site", ""),
         "s.yaml:2: system.index: there is no file \"b.ndx\""},
        {SYSTEM RDF("C1", ", bin: 0.3 nm"),
         "s.yaml:4: observables[0].rdf.max: 1 nm: expected a whole number of bins of 0.3 nm; the nearest is 0.9 nm"},
        {SYSTEM RDF("C1", ", bin: 1e-5 nm") "- rdf: {between: [C1, C1], max: 10 nm, bin: 1e-5 nm}\n",
         "s.yaml:5: observables[1].rdf.max: 1000000 bins of 1e-5 nm: expected 100000 at most"},
        {SYSTEM RDF("C1", ", name: a") "- rdf: {between: [C1, C1], max: 1 nm, name: a}\n",
         "s.yaml:5: observables[1].rdf.name: a: observables[0] has this name too"},
        {SYSTEM RDF("C1", ", name: energy"),
         "s.yaml:4: observables[0].rdf.name: energy: energy.xvg is a file of every window; expected another name"},
        {SYSTEM RDF("C1", ", name: dhdl"),
         "s.yaml:4: observables[0].rdf.name: dhdl: dhdl.xvg is a file of every window; expected another name"},
        {SYSTEM RDF("C1", ", name: ../a"),
         "s.yaml:4: observables[0].rdf.name: ../a: expected text of 1 to 63 bytes like "
         "^[A-Za-z0-9][A-Za-z0-9_.-]*$, such as oxygens"},
        {SYSTEM RDF("C1", ", every: 3 fs"),
         "s.yaml:4: observables[0].rdf.every: 3 fs: expected a whole multiple of the timestep, 2 fs; the nearest is "
         "0.004 ps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct system sys;
        assert_string_equal(made(cases[i].text, &sys).msg, cases[i].message);
        system_close(&sys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_selections), cmocka_unit_test(test_rdf),
                                       cmocka_unit_test(test_saxs), cmocka_unit_test(test_motion),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
