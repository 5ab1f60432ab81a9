/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice on what changes along a ladder of windows.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/lib/advice_play.h"

static void charges(void **state)
{
    (void)state;
    expect("charge", "s.yaml:2: system: a net charge of +1 e (molecule type MOL at a.top:10: +1 e); PME",
           (struct change){.charges = {"0.8"}});
    expect("charge", "s.yaml:4: alchemy.decouple: MOL has a net charge (+1.00 e in all)",
           (struct change){.charges = {"0.8"}});
    expect("charge", "s.yaml:4: alchemy.decouple: the net charge of what acts changes by +1.00 e",
           (struct change){.charges = {"0.8"}, .change = "decouple: [{molecule: MOL, from: none, to: vdw-q}]"});
    expect("charge", "add up to +0.2000 e, no whole number (molecule type MOL at a.top:10: +0.2000 e): is",
           (struct change){.charges = {"0"}});
    expect("", "", (struct change){.charges = {"-0.198"}}); /* rounded to three digits, atom by atom */
    expect_none("net charge", (struct change){.change = "perturb: b-states", .b_states = "HC 0.105 1.008"});
    expect("charge", "a net charge of +1 e in state B",
           (struct change){.change = "perturb: b-states", .b_states = "HC 1.1 1.008"});
    expect("charge", "changes from +0.00 to +1.00 e",
           (struct change){.change = "perturb: b-states", .b_states = "HC 1.1 1.008"});
    /* both remedies are named, and either silences it; in what acts nothing is left over */
    expect(
        "charge",
        "Expected a second entry, an ion that takes the charge up, or alchemy.finite-size, which has the results say",
        (struct change){.charges = {"0.8"}});
    expect("charge", "Expected an ion whose B state takes the charge up, or alchemy.finite-size",
           (struct change){.change = "perturb: b-states", .b_states = "HC 1.1 1.008"});
    expect("charge", "Expected one more entry, an ion that takes the charge up, or alchemy.finite-size",
           (struct change){.charges = {"0.8"},
                           .ion = "-0.25",
                           .change = "decouple: [{molecule: MOL}, {molecule: AR, from: vdw-q, to: vdw}]"});
    expect("", "",
           (struct change){
               .charges = {"0.8"},
               .ion = "-0.5",
               .windows = "{coulomb: [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1], vdw: [0, 0, 0, 0, 0, 0.25, 0.5, 0.75, 1]}",
               .change = "decouple: [{molecule: MOL}, {molecule: AR, from: vdw-q, to: vdw}]"});
    expect_none("depends on the size of the box",
                (struct change){.charges = {"0.8"}, .change = "finite-size: {dielectric: 97}, decouple: MOL"});
}

static void soft_core(void **state)
{
    (void)state;
    const char *together = "{coulomb: [0, 0.25, 0.5, 0.75, 1], vdw: [0, 0.25, 0.5, 0.75, 1]}";
    expect("soft-core", "s.yaml:4: alchemy.windows: in window 1 and others charges are there while",
           (struct change){.windows = together});
    expect("", "", (struct change){.windows = together, .soft_core = ", soft-core: {coulomb: yes}"});
    expect_none("softened", (struct change){.windows = together, .charges = {"0", "0"}});
    expect("soft-core", "in window 1 and others",
           (struct change){.windows = together, .change = "perturb: b-states", .b_states = "D 0 1.008"});
}

static void ladders(void **state)
{
    (void)state;
    expect("ladder", "alchemy.windows.vdw: from 0 in window 1 to 0.5 in window 2, and elsewhere: neighbours",
           (struct change){.windows = "{coulomb: [0, 1, 1, 1], vdw: [0, 0, 0.5, 1]}"});
    expect("ladder",
           "alchemy.windows.coulomb: from 0 in window 0 to 1 in window 1: neighbours so far apart hardly overlap; "
           "expected more windows, with steps of at most about 0.51",
           (struct change){.charges = {"-0.8", "0.4"}});
    expect("ladder", "alchemy.windows.vdw: goes from 0 to 0.75;",
           (struct change){.windows = "{coulomb: [0, 1, 1, 1, 1], vdw: [0, 0, 0.25, 0.5, 0.75]}"});
    expect("ladder", "one window makes no free energy", (struct change){.windows = "{vdw: [0]}"});
}

/* What a topology has for state B, and no ladder brings. */
static void idle_terms(void **state)
{
    (void)state;
    const char *bond = "[ intermolecular_interactions ]\n[ bonds ]\n1 4 6 1.4 0 1.4 2000\n",
               *both =
                   "[ intermolecular_interactions ]\n[ bonds ]\n1 4 6 1.4 0 1.4 2000\n2 4 6 1.4 0 1.4 2000\n"
                   "[ dihedral_restraints ]\n4 1 2 3 1 0 0 0 0 0 500\n";
    const char
        *with = "{bonded: [0, 0.5, 1, 1, 1, 1, 1], coulomb: [0, 0, 0, 1, 1, 1, 1], vdw: [0, 0, 0, 0, 0.3, 0.6, 1]}",
        *other =
            "{restraint: [0, 0.5, 1, 1, 1, 1, 1], coulomb: [0, 0, 0, 1, 1, 1, 1], vdw: [0, 0, 0, 0, 0.3, 0.6, 0.9]}";
    expect("ladder",
           "s.yaml:4: alchemy.windows: 1 bonded term differs between lambda 0 and 1, and there is no "
           "ladder of bonded: every window has what is at lambda 0",
           (struct change){.more = bond});
    expect_none("ladder of", (struct change){.more = bond, .windows = with});
    expect("ladder", "1 bonded term", (struct change){.more = bond, .windows = other});
    expect("ladder", "2 bonded terms differ", (struct change){.more = both});
    expect("ladder", "1 restraint differs between lambda 0 and 1, and there is no ladder of restraint",
           (struct change){.more = both});
    expect_none("ladder of", (struct change){.more = both, .windows = with}); /* restraints follow that */
    expect_none("state B", (struct change){.b_states = "HC 0.1 1.008"});
}

/* Ladders that move and change nothing, one by one, and of all together; what no ladder moves. */
static void idle_ladders(void **state)
{
    (void)state;
    static const char *const alone[][2] = {{"coulomb", "no charge differs between lambda 0 and 1"},
                                           {"vdw", "no Lennard-Jones term differs"},
                                           {"bonded", "no bonded term and no constraint differs"},
                                           {"restraint", "no restraint and no bias differs"},
                                           {"mass", "no mass differs"}};
    const char *mass = "HC 0.1 2.016", *charge = "HC 0.2 1.008", *type = "C 0.1 1.008";
    for (int c = 0; c < 5; c++) {
        char windows[64], text[160];
        snprintf(windows, sizeof windows, "{%s: [0, 0.5, 1]}", alone[c][0]);
        snprintf(text, sizeof text, "alchemy.windows.%s: moves and changes nothing: %s", alone[c][0], alone[c][1]);
        struct change it = {.windows = windows, .change = "perturb: b-states", .b_states = c ? charge : type};
        expect("ladder", text, it);
        expect("ladder", "all windows are the same system: the free energy is 0 whatever is sampled", it);
        expect("ladder", c ? "1 charge differs" : "1 Lennard-Jones term differs", it);
        expect_none("neighbours", it);
        it.change = "perturb: b-states, allow-no-change: yes";
        expect_none("nothing", it);
        expect_none("same system", it);
        it.change = c < 2 ? NULL : "decouple: MOL";
        it.b_states = NULL;
        if (c < 2)
            expect_none("moves and changes", it);
        else
            expect("ladder", text, it);
    }
    expect("ladder", "all windows are the same system",
           (struct change){.windows = "{mass: [0, 0.5, 1]}", .change = "perturb: b-states", .b_states = mass});
    struct change it = {.windows = "{vdw: [0, 0.5, 1], coulomb: [0, 0, 0]}",
                        .change = "decouple: [{molecule: MOL, from: vdw, to: vdw-q}]"};
    expect("ladder", "alchemy.windows.vdw: moves and changes nothing", it);
    expect("ladder",
           "alchemy.windows: 3 charges differ between lambda 0 and 1, and no step is in the ladder of "
           "coulomb: every window has what is at lambda 0",
           it);
    it = (struct change){.windows = "{coulomb: [0, 0.5, 1]}"};
    expect("ladder", "3 Lennard-Jones terms differ", it);
    it = (struct change){.windows = "{coulomb: [0, 0.5, 1], vdw: [1, 1, 1]}", .change = "perturb: b-states"};
    it.b_states = type;
    expect("ladder", "1 Lennard-Jones term differs", it);
    expect("ladder", "every window has what is at lambda 1", it);
    it.b_states = "HC2 0.2 1.008"; /* a type of another name whose pairs are alike */
    expect_none("Lennard-Jones", it);
    /* a bond that is a constraint has a length, and no force constant */
    it = (struct change){.windows = "{bonded: [0, 0.5, 1], coulomb: [0, 0.5, 1]}", .change = "perturb: b-states"};
    it.b_states = charge;
    it.settles = "[ bonds ]\n1 2 1 0.109 284512 0.109 142256\n1 3 1 0.109 284512\n";
    expect("ladder", "alchemy.windows.bonded: moves and changes nothing", it);
    it.settles = "[ bonds ]\n1 2 1 0.109 284512 0.119 284512\n1 3 1 0.109 284512\n";
    expect_none("nothing", it);
    it.windows = "{coulomb: [0, 0.5, 1]}";
    expect("ladder", "1 constraint differs", it);
}

#define TEMPER "temper: {molecule: MOL, to: 600 K}"
#define ALIKE "{coulomb: [0, 0.5, 1], vdw: [0, 0.5, 1], bonded: [0, 0.5, 1]}"
#define EXCHANGE BAROSTAT "exchange: {every: 1 ps}\n"

/* A state that is hot in part is no system, so that its charges and steps are not looked at as those of others. */
static void tempering(void **state)
{
    (void)state;
    const char *produce =
        "  - minimize: {steps: 10}\n  - equilibrate: {time: 1 ns, ensemble: npt}\n  - produce: {time: 1 ns}";
    struct change calm = {.change = TEMPER, .windows = ALIKE, .barostat = EXCHANGE, .protocol = produce}, c = calm;
    expect("", "", calm);
    c.windows = "{coulomb: [0, 1], vdw: [0, 1]}"; /* nothing that bonded would change */
    expect("", "", c);
    c.charges[0] = "0.8";
    expect_none("state B", c);
    expect_none("changes", c);
    c = calm;
    c.windows = "{coulomb: [0, 0.5, 1], vdw: [0, 0.4, 1]}";
    expect(
        "ladder",
        "s.yaml:4: alchemy.windows: in window 1 coulomb is 0.5 and vdw 0.4, so that parts of the solute are at other "
        "temperatures",
        c);
    c.windows = "{vdw: [0, 1]}";
    expect("ladder", "in window 1 coulomb is 0 and vdw 1", c);
    c.windows = "{coulomb: [0.1, 1], vdw: [0.1, 1]}";
    expect("ladder", "in no window all lambdas are 0", c);
    c = calm;
    c.barostat = BAROSTAT;
    expect("temper", "windows that exchange no replicas", c);
    c = calm;
    c.terms = "[ pairs ]\n1 2 2 1 0.1 0.1 0.3 0.1\n[ pairs_nb ]\n1 3 1 0.1 0.1 0.3 0.1\n";
    expect("temper", "alchemy.temper: 2 pairs of function 2 or of [ pairs_nb ] of the solute stay at full strength", c);
}

/* State B of bonds that are constraints, and of masses. */
static void states(void **state)
{
    (void)state;
#define BONDS(b_of_the_first)                                                                                          \
    "[ bonds ]\n1 2 1 0.109 284512 " b_of_the_first "\n1 3 1 0.109 284512\n[ angles ]\n2 1 3 1 107.8 276.144\n"
    const char *bonded = "{bonded: [0, 1]}", *b = "perturb: b-states";
    expect("constraint",
           "s.yaml:4: alchemy: a constraint changes its length along the ladder (a.top:16: molecule MOL, atoms 1 (C1) "
           "and 2 "
           "(H1), from 0.109 nm in state A to 0.11 nm in state B): energies at windows with another length are known "
           "to first order only, so that MBAR and BAR will give no number and the estimate is TI's.",
           (struct change){.change = b, .windows = bonded, .settles = BONDS("0.11 284512")});
    expect_none("changes its length", (struct change){.change = b, .settles = BONDS("0.11 284512")});
    expect("constraint",
           "constraints: 1 bond has another force constant in state B and is a constraint in every window, so that its "
           "change has no effect. The first: atoms 1 (C1) and 2 (H1) of molecule MOL.",
           (struct change){.change = b, .windows = bonded, .settles = BONDS("0.109 200000")});
    expect_none("force constant", (struct change){.change = b,
                                                  .windows = bonded,
                                                  .settles = BONDS("0.109 200000"),
                                                  .constraints = "none",
                                                  .timestep = "1 fs"});
    expect("masses", "s.yaml:4: alchemy.windows.mass: 1 atom has another mass in state B.",
           (struct change){.change = b, .windows = "{mass: [0, 1]}", .b_states = "HC 0.1 2.016"});
    expect_none("alchemy.windows.mass", (struct change){.change = b, .b_states = "HC 0.1 2.016"});
#undef BONDS
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charges),    cmocka_unit_test(soft_core),    cmocka_unit_test(ladders),
        cmocka_unit_test(idle_terms), cmocka_unit_test(idle_ladders), cmocka_unit_test(tempering),
        cmocka_unit_test(states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
