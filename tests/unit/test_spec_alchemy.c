/* SPDX-License-Identifier: Apache-2.0
 *
 * What a spec's alchemy becomes, and what is refused when the spec is held against its system.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"
#include "engine/system/system.h"
#include "tests/lib/spec_read.h"

/* Each soft core has keys of its own. */
static void test_soft_core(void **state)
{
    struct spec *s = parsed(HEAD "alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {function: gapsys}}\n");
    const struct soft_core *core = &s->settings.alchemy.soft_core;
    assert_int_equal(core->function, SOFT_GAPSYS);
    assert_is(core->alpha, 0.85);
    assert_is(core->alpha_coulomb, 0.3);
    assert_is(core->sigma, 0.3);
    assert_true(core->coulomb);
    spec_free(s);
    s = parsed(HEAD
               "alchemy: {decouple: A, windows: {vdw: [0]}, soft-core: {function: gapsys, scale-linpoint-lj: 0.5, "
               "scale-linpoint-coulomb: 0 nm, sigma: 0.2 nm}}\n");
    core = &s->settings.alchemy.soft_core;
    assert_is(core->alpha, 0.5);
    assert_is(core->alpha_coulomb, 0);
    assert_is(core->sigma, 0.2);
    assert_false(core->coulomb);
    spec_free(s);
}

/* A molecule type alone, or several with ends of their own. */
static void test_decouple(void **state)
{
    struct spec *s = parsed(HEAD "alchemy: {decouple: A, windows: {vdw: [0]}, intramolecular: decouple}\n");
    const struct alchemy_settings *al = &s->settings.alchemy;
    assert_int_equal(al->ndecouple, 1);
    assert_int_equal(al->decouple[0].on[0], COUPLED_ALL);
    assert_int_equal(al->decouple[0].on[1], 0);
    assert_true(al->decouple[0].intramolecular_decouple);
    spec_free(s);
    s = parsed(HEAD
               "alchemy:\n  windows: {vdw: [0]}\n  decouple:\n    - molecule: A\n"
               "    - {molecule: B, from: none, to: q}\n    - {molecule: C, to: vdw, intramolecular: decouple}\n");
    al = &s->settings.alchemy;
    assert_int_equal(al->ndecouple, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(al->decouple[k].molecule[0], 'A' + k);
        assert_int_equal(al->decouple[k].on[0], k == 1 ? 0 : COUPLED_ALL);
        assert_int_equal(al->decouple[k].on[1], ((const unsigned[]){0, COUPLED_CHARGE, COUPLED_VDW})[k]);
        assert_int_equal(al->decouple[k].intramolecular_decouple, k == 2);
    }
    spec_free(s);
}

/* A molecule type or several, hotter than the thermostat; B states that are made need no soft core. */
static void test_temper(void **state)
{
    struct spec *s = parsed(HEAD "alchemy: {temper: {molecule: A, to: 600 K}, windows: {vdw: [0, 1]}}\n");
    const struct alchemy_settings *al = &s->settings.alchemy;
    assert_int_equal(al->kind, ALCHEMY_B_STATES);
    assert_int_equal(al->temper.nmolecules, 1);
    assert_string_equal(al->temper.molecule[0], "A");
    assert_is(al->temper.to, 600);
    assert_is(al->soft_core.alpha, 0);
    assert_false(al->soft_core.coulomb);
    spec_free(s);
    s = parsed(HEAD
               "alchemy: {temper: {molecule: [A, B], to: 400 K}, windows: {vdw: [0, 1]}}\n"
               "integrator: {temperature: 399 K}\n");
    assert_int_equal(s->settings.alchemy.temper.nmolecules, 2);
    assert_string_equal(s->settings.alchemy.temper.molecule[1], "B");
    spec_free(s);
    refused(HEAD "alchemy: {temper: {molecule: A, to: 298.15 K}, windows: {vdw: [0, 1]}}\n",
            SPEC("3: alchemy.temper.to: 298.15 K: expected more than integrator.temperature, 298.15 K"));
    refused(HEAD "alchemy: {temper: {molecule: A, to: 600 K}, windows: {restraint: [0, 1]}}\n",
            SPEC("3: alchemy.windows: temper: expected coulomb, vdw and bonded"));
    refused(HEAD "alchemy: {temper: {molecule: A, to: 600 K}, windows: {vdw: [0, 1]}, soft-core: {alpha: 0.5}}\n",
            SPEC("3: alchemy.soft-core: with temper no pair loses its repulsion; expected no soft-core"));
    refused(HEAD "alchemy: {temper: {molecule: A, to: 600 K}, windows: {vdw: [0, 1]}, intramolecular: keep}\n",
            SPEC("3: alchemy.intramolecular: keep: only decouple has a choice of inner interactions, not temper"));
    refused(
        HEAD "alchemy: {temper: {molecule: A}, windows: {vdw: [0, 1]}}\n",
        SPEC("3: alchemy.temper.to: missing; expected a quantity above 0 K, at most 5000 K (units: K), such as 600 K"));
}

/* ---- with a system ---- */

static const char top[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\n#ifdef NONE\nCH4 16.043 0.0 A 0.373 0\n#else\nCH4 16.043 0.0 A 0.373 "
    "1.23\n#endif\n"
    "[ moleculetype ]\nMET 1\n[ atoms ]\n"
    "#ifdef OTHER\n1 CH4 1 MET CH5 1 0 16.043\n#else\n1 CH4 1 MET CH4 1 CHARGE 16.043\n#endif\n"
    "#ifdef HOLD\n[ position_restraints ]\n1 1 10 10 10 20 20 20\n#endif\n"
    "#ifdef FLAT\n[ position_restraints ]\n1 2 1 0.1 10\n#endif\n"
    "[ moleculetype ]\nTWO 1\n[ atoms ]\n1 CH4 1 MET CH4 1 0 16.043\n2 CH4 1 MET CH4 1 0 16.043\n"
    "#ifdef BPAIR\n[ pairs ]\n1 2 1 0.3 1 0.3 2\n#endif\n#ifdef RIGID\n[ constraints ]\n1 2 1 RIGID\n#endif\n#ifdef "
    "STRETCH\n[ constraints ]\n1 2 1 1.8 1.9\n#endif\n"
    "[ moleculetype ]\nION 1\n[ atoms ]\n1 CH4 1 MET CH4 1 1 16.043 CH4 0 16.043\n"
    "[ system ]\none\n[ molecules ]\n#ifdef MORE\nMET 3\n#else\n#ifdef PAIR\nTWO 1\n#else\nMET 1\n#ifdef SALT\nION "
    "1\n#else\n"
    "MET 1\n#endif\n#endif\n#endif\n";
static const char gro[] =
    "two\n    2\n    1MET    CH4    1   0.500   0.500   0.500\n    2MET    CH4    2   1.500   1.500   "
    "1.500\n   3.0 3.0 2.5\n";

/* The same in other boxes: 2.60.gro has one of 2.60 nm at its shortest edge. */
static void add_boxes(struct source *src)
{
    struct err e = {0};
    static const char *const edges[] = {"2.40", "2.50", "2.60", "2.70"};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        struct buf text = {0}, name = {0};
        buf_printf(&text, "%.*s %s\n", (int)(sizeof gro - 1 - strlen("2.5\n")), gro, edges[i]);
        buf_printf(&name, "%s.gro", edges[i]);
        assert_int_equal(source_memory_add(src, name.data, text.data, text.len, &e), 0);
        buf_free(&text);
        buf_free(&name);
    }
}

/* Reads a spec with a little system whose charge is given, as a submission would; the message, or "" when it is fine.
 */
static struct err with_system(const char *text, const char *charge)
{
    struct err e = {0};
    struct spec *s = parsed(text);
    struct source *src = source_memory_new();
    struct system sys = {0};
    struct buf b = {0};
    const char *mark = strstr(top, "CHARGE");
    buf_printf(&b, "%.*s%s%s", (int)(mark - top), top, charge, mark + 6);
    assert_int_equal(source_memory_add(src, "a.top", b.data, b.len, &e), 0);
    assert_int_equal(source_memory_add(src, "a.gro", gro, sizeof gro - 1, &e), 0);
    add_boxes(src);
    int rc = spec_system(s, src, &sys, &e);
    if (!rc)
        rc = spec_check_windows(s, &sys, &e);
    assert_int_equal(rc, -(int)e.code);
    system_close(&sys);
    source_free(src);
    spec_free(s);
    buf_free(&b);
    return e;
}

#define HEAD_OF(name) "name: x\nsystem: {topology: a.top, coordinates: a.gro, defines: [" name "]}\n"
#define TEMPERED(molecule) HEAD "alchemy: {temper: {molecule: " molecule ", to: 600 K}, windows: {vdw: [0, 1]}}\n"
#define SALT(molecules) HEAD_OF("SALT") "alchemy: {decouple: " molecules ", windows: {vdw: [0, 0.5]}}\n"
#define CONSTRAINED(how)                                                                                               \
    "name: x\nsystem: {topology: a.top, coordinates: a.gro, defines: [PAIR, " how                                      \
    "]}\nalchemy: {decouple: TWO, windows: {vdw: [0, 0.5]}}\n"

static void test_system_errors(void **state)
{
    static const struct {
        const char *text, *charge, *message;
    } cases[] = {
        {HEAD, "0.1", ""},
        {HEAD "nonbonded: {cutoff: 1.25 nm}\n", "0",
         "s.yaml:3: nonbonded.cutoff: 1.25 nm: expected less than half the shortest box edge in a.gro, 2.5 nm"},
        {HEAD "alchemy: {decouple: MTE, windows: {vdw: [0]}}\n", "0",
         "s.yaml:3: alchemy.decouple: MTE: a.top has no molecules of this type; did you mean MET?"},
        {HEAD "alchemy: {decouple: water, windows: {vdw: [0]}}\n", "0",
         "s.yaml:3: alchemy.decouple: water: a.top has no molecules of this type; it has MET"},
        {HEAD "alchemy: {decouple: [{molecule: MET}, {molecule: MTE}], windows: {vdw: [0]}}\n", "0",
         "s.yaml:3: alchemy.decouple: MTE: a.top has no molecules of this type; did you mean MET?"},
        {HEAD
         "alchemy: {decouple: [{molecule: MET, from: none, to: vdw-q}], windows: {coulomb: [0, 1], vdw: [0, 0]}}\n",
         "0.1",
         "s.yaml:3: alchemy.windows: window 1 has charges (coulomb 1) without Lennard-Jones (vdw 0); expected coulomb "
         "0 "
         "before vdw ends, or soft-core.coulomb yes"},
        {HEAD "alchemy: {decouple: [{molecule: MET, to: vdw}], windows: {coulomb: [0, 1], vdw: [0, 1]}}\n", "0.1", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n", "0", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n", "0.1",
         "s.yaml:3: alchemy.windows: window 1 has charges (coulomb 0) without Lennard-Jones (vdw 1); expected coulomb "
         "1 before "
         "vdw ends, or soft-core.coulomb yes"},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {coulomb: yes}}\n", "0.1", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {alpha: 0}}\n", "0",
         "s.yaml:3: alchemy.soft-core.alpha: 0: expected more than 0, as window 1 has vdw 1"},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {function: gapsys}}\n", "0.1", ""},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {function: gapsys, scale-linpoint-lj: 0}}\n",
         "0", "s.yaml:3: alchemy.soft-core.scale-linpoint-lj: 0: expected more than 0, as window 1 has vdw 1"},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}, soft-core: {function: gapsys, scale-linpoint-coulomb: "
              "0 nm}}\n",
         "0.1",
         "s.yaml:3: alchemy.windows: window 1 has charges (coulomb 0) without Lennard-Jones (vdw 1); expected coulomb "
         "1 "
         "before vdw ends, or soft-core.scale-linpoint-coulomb above 0"},
        {HEAD "alchemy: {perturb: b-states, windows: {vdw: [0, 1]}}\n", "0",
         "s.yaml:3: alchemy.perturb: b-states: nothing in a.top has a B state that differs from its A state"},
        {HEAD "alchemy: {perturb: b-states, windows: {coulomb: [0, 1]}}\n", "0 16.043 CH4 0.1", ""},
        {TEMPERED("MET"), "0.1", ""},
        {TEMPERED("[MET, MTE]"), "0",
         "s.yaml:3: alchemy.temper: MTE: a.top has no molecules of this type; did you mean MET?"},
        {TEMPERED("MET"), "0 16.043 CH4 0.1",
         "s.yaml:3: alchemy.temper: a.top has B states, and tempering makes B states itself; expected none"},
        {HEAD_OF("NONE") "alchemy: {temper: {molecule: MET, to: 600 K}, windows: {vdw: [0, 1]}}\n", "0",
         "s.yaml:3: alchemy.temper: MET: no charges, Lennard-Jones or dihedrals that a higher temperature would "
         "weaken"},
        {CONSTRAINED("BPAIR"), "0",
         "s.yaml:3: alchemy.decouple: the 1-4 pair of atoms 1 and 2 of a.top has other parameters in state B, which "
         "decouple would "
         "leave out; expected a topology without them, or perturb: b-states"},
        {CONSTRAINED("RIGID=1.8") "exchange: {every: 1 ps}\n", "0", ""},
        {CONSTRAINED("STRETCH"), "0", ""},
        {CONSTRAINED("STRETCH") "exchange: {every: 1 ps}\n", "0", ""}, /* bonded lambda stays */
        {HEAD_OF("PAIR, STRETCH") "alchemy: {decouple: TWO, windows: {bonded: [0, 0.5]}}\nexchange: {every: 1 ps}\n",
         "0",
         "s.yaml: exchange: a.top:40: molecule TWO, atoms 1 (CH4) and 2 (CH4), from 1.8 nm in state A to 1.9 nm in "
         "state B: a "
         "constraint whose length depends on lambda; replicas that exchange windows need one length: expected a bond "
         "there, or no exchange"},
        {SALT("MET"), "0",
         "s.yaml:3: alchemy.decouple: atom 2 (MET CH4, a.top:45) has a state B of its own (charge 1 e and type CH4 "
         "become 0 e and "
         "CH4), which decouple would leave out; expected one more entry, {molecule: ION, from: vdw-q, to: vdw}, which "
         "is the "
         "same"},
        {SALT("[{molecule: MET}, {molecule: ION, to: vdw}]"), "0", ""},
        {SALT("[{molecule: MET}, {molecule: ION}]"), "0",
         "s.yaml:3: alchemy.decouple: atom 2 (MET CH4, a.top:45) has a state B of its own (charge 1 e and type CH4 "
         "become 0 e and "
         "CH4), which decouple would leave out; expected a topology without it: grompp, too, takes couple-moltype or "
         "states B of "
         "a molecule, not both"},
        {HEAD "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n", "0 16.043 CH4 0", ""},
        {HEAD "alchemy: {decouple: [{molecule: MET, to: vdw-q}], windows: {bonded: [0, 1]}, soft-core: {alpha: 0}}\n",
         "0.1", ""},
        {HEAD
         "alchemy: {decouple: [{molecule: MET, from: none}], windows: {restraint: [0, 1]}, soft-core: {alpha: 0}}\n",
         "0.1", ""},
        {HEAD "alchemy: {decouple: MET, finite-size: {dielectric: 97}, windows: {vdw: [0, 1]}}\n", "0",
         "s.yaml:3: alchemy.finite-size: expected a cubic box, a.gro has one of 3 x 3 x 2.5 nm"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(with_system(cases[i].text, cases[i].charge).msg, cases[i].message);
}

/* Coordinates of each window: of as many, of the same atoms, in boxes that the settings still fit. */
static void test_starts(void **state)
{
    static const char windows[] =
        "name: a\nsystem: {topology: a.top, coordinates: a.gro, window-coordinates: [%s]}\n"
        "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n%s";
    static const struct {
        const char *files, *more, *message;
    } cases[] = {
        {"a.gro, 2.50.gro", "", ""},
        {"2.60.gro, 2.40.gro", "barostat: {}\n", ""},
        {"2.50.gro, 2.60.gro", "",
         "s.yaml:2: system.window-coordinates[1]: 2.60.gro has a box of 2.6 nm where a.gro has 2.5 nm; expected the "
         "same, as "
         "there is no barostat"},
        {"2.70.gro, 2.60.gro", "barostat: {}\n",
         "s.yaml:2: system.window-coordinates[0]: 2.70.gro has a box of 2.7 nm where a.gro has 2.5 nm; expected 5 % "
         "less to 5 "
         "% more"},
        {"2.50.gro, 2.40.gro", "barostat: {}\nnonbonded: {cutoff: 1.22 nm}\n",
         "s.yaml:5: nonbonded.cutoff: 1.22 nm: expected less than 1.2 nm in the box of 2.40.gro"},
        {"2.50.gro, none.gro", "", "s.yaml:2: system.window-coordinates: there is no file \"none.gro\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        buf_printf(&text, windows, cases[i].files, cases[i].more);
        assert_string_equal(with_system(text.data, "0").msg, cases[i].message);
        buf_free(&text);
    }
    refused(
        "name: a\nsystem:\n  topology: a.top\n  coordinates: a.gro\n  window-coordinates: [b.gro]\n"
        "alchemy: {decouple: MET, windows: {vdw: [0, 1]}}\n",
        SPEC("5: system.window-coordinates: 1 file; expected one for each of 2 windows"));
}

#define TWO_LENGTHS                                                                                                    \
    "a.top:36 and a.top:40: molecule TWO, atoms 1 (CH4) and 2 (CH4): two constraints of different lengths, 1.8 and "   \
    "1.7 nm in state A; expected one length ([ constraints ], [ settles ] and bonds that become constraints all hold " \
    "atoms)"

/* The systems of all phases are of the same atoms, and what moves keeps the same constraints. */
static void test_phase_systems(void **state)
{
    static const char staged[] =
        "name: a\nsystem: {topology: a.top, coordinates: a.gro%s}\nprotocol:\n"
        "  - minimize: {steps: 1, defines: [%s]}\n"
        "  - equilibrate: {time: 1 ps, defines: [%s]}\n"
        "  - produce: {time: 1 ps}\n";
    static const struct {
        const char *first, *second, *message;
    } cases[] = {
        {"HOLD", "HOLD=5", ""},
        {"PAIR, RIGID=1.8", "PAIR", ""},
        {"PAIR", "PAIR, RIGID=1.8",
         "s.yaml:5: protocol: with the stage's defines: other rigid waters or constraints than without them; that is "
         "for "
         "minimize only"},
        {"PAIR", "PAIR, STRETCH, RIGID=1.7", "s.yaml:5: protocol: with the stage's defines: " TWO_LENGTHS},
        {"MORE", "HOLD",
         "s.yaml:4: protocol: with the stage's defines: a.gro:2: read 2 atoms, expected 3 as in the topology"},
        {"OTHER", "HOLD",
         "s.yaml:4: protocol: with the stage's defines: atom 1 is MET CH5; expected MET CH4, as without them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        const char *pair = strncmp(cases[i].first, "PAIR", 4) ? "" : ", defines: [PAIR]";
        buf_printf(&text, staged, pair, cases[i].first, cases[i].second);
        assert_string_equal(with_system(text.data, "0").msg, cases[i].message);
        buf_free(&text);
    }
    static const char scaled[] =
        "name: a\nsystem: {topology: a.top, coordinates: a.gro%s}\nprotocol:\n"
        "  - equilibrate: {time: 1 ps%s, position-restraint-scale: 0.25}\n"
        "  - produce: {time: 1 ps}\n";
    static const struct {
        const char *ours, *own, *message;
    } scales[] = {
        {", defines: [HOLD]", "", ""},
        {"", ", defines: [HOLD]", ""},
        {"", ", defines: [FLAT]", ""},
        {"", "",
         "s.yaml:4: protocol: position-restraint-scale: 0.25: a.top has no position restraints in this stage; expected "
         "defines that bring them in (such as [POSRES]), or no scale"},
        {"", ", defines: [HODL]",
         "s.yaml:4: protocol: with the stage's defines: position-restraint-scale: 0.25: a.top has no position "
         "restraints "
         "in this stage; expected defines that bring them in (such as [POSRES]), or no scale"},
    };
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct buf text = {0};
        buf_printf(&text, scaled, scales[i].ours, scales[i].own);
        assert_string_equal(with_system(text.data, "0").msg, scales[i].message);
        buf_free(&text);
    }
    /* what is wrong without them too is not blamed on a stage's defines */
    struct buf text = {0};
    buf_printf(&text, staged, ", defines: [PAIR, STRETCH, RIGID=1.7]", "PAIR", "PAIR, STRETCH, RIGID=1.7, HOLD");
    assert_string_equal(with_system(text.data, "0").msg, TWO_LENGTHS);
    buf_free(&text);
}

/* Force constants of a stage that scales them, in both states, and of production. */
static void test_scaled_restraints(void **state)
{
    struct spec *s = parsed(
        "name: a\nsystem: {topology: a.top, coordinates: a.gro}\nprotocol:\n"
        "  - minimize: {steps: 1, defines: [HOLD, FLAT], position-restraint-scale: 0.25}\n"
        "  - equilibrate: {time: 1 ps, defines: [HOLD, FLAT], position-restraint-scale: 0}\n"
        "  - produce: {time: 1 ps}\n");
    static const double scale[] = {1, 0.25, 0};
    struct source *src = source_memory_new();
    struct err e = {0};
    assert_int_equal(source_memory_add(src, "a.top", top, sizeof top - 1, &e), 0);
    assert_int_equal(source_memory_add(src, "a.gro", gro, sizeof gro - 1, &e), 0);
    assert_int_equal(s->nphases, 3);
    for (int p = 0; p < 3; p++) {
        struct system sys = {0};
        assert_int_equal(spec_phase_system(s, p, src, &sys, &e), 0);
        assert_int_equal(sys.nposition_restraints, p ? 2 : 0);
        assert_int_equal(sys.nrare, p ? 2 : 0);
        for (int i = 0; i < sys.nposition_restraints; i++)
            for (int k = 0; k < 2; k++) {
                assert_is(sys.position_restraints[i].k[k][2], (k ? 20 : 10) * scale[p]);
                assert_is(sys.rare[i].c[k][4], 10 * scale[p]);
                assert_is(sys.rare[i].c[k][3], 0.1);
            }
        assert_int_equal(system_held_in_space(&sys), p == 1);
        system_close(&sys);
    }
    source_free(src);
    spec_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_soft_core),         cmocka_unit_test(test_decouple), cmocka_unit_test(test_temper),
        cmocka_unit_test(test_system_errors),     cmocka_unit_test(test_starts),   cmocka_unit_test(test_phase_systems),
        cmocka_unit_test(test_scaled_restraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
