/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice on topologies, boxes and protocols.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/advice_play.h"

static void nothing_to_say(void **state)
{
    (void)state;
    expect("", "", (struct change){0});
    expect("", "", (struct change){.constraints = "none", .timestep = "1 fs"});
    expect("", "", (struct change){.constraints = "all-bonds"});
    expect("", "", (struct change){.hydrogens = "h"});
    expect("", "", (struct change){.timestep = "4 fs", .hydrogen_mass = "3.024"});
    expect("", "",
           (struct change){.windows = "{coulomb: [0, 0, 0, 0, 0, 1], vdw: [0, 0.25, 0.5, 0.75, 1, 1]}",
                           .soft_core = ", soft-core: {coulomb: yes}"});
    expect("", "", (struct change){.protocol = "  - produce: {time: 1 ns}", .velocity = "  0.1000  0.0000  0.0000"});
}

/* h-bonds goes by names: what it takes that is no hydrogen, and what it leaves that is one. */
static void names_of_hydrogens(void **state)
{
    (void)state;
    expect(
        "constraints",
        "s.yaml:1: constraints: h-bonds takes bonds of atoms whose names begin with H, as GROMACS does: D1 has a mass "
        "of "
        "1.008, and its bond C1-D1 (atoms 1 and 2 of MOL, molecule type MOL, a.top:16) stays a bond; expected a name "
        "with "
        "H, or "
        "all-bonds (2 such in all)",
        (struct change){.hydrogens = "D", .timestep = "1 fs"});
    expect("constraints",
           "H1 has a mass of 35.45, and its bond C1-H1 (atoms 1 and 2 of MOL, molecule type MOL, a.top:16) becomes a "
           "constraint "
           "(2 such",
           (struct change){.hydrogen_mass = "35.45"});
    /* the dummy of a carbon is none, however light */
    expect("constraints", "a.top:17) stays a bond; expected a name with H, or all-bonds (1 such in all)",
           (struct change){.hydrogens = "D",
                           .hydrogen_mass = "3.0",
                           .b_states = "C 0.1 12.011",
                           .timestep = "1 fs",
                           .change = "perturb: b-states"});
    expect_none("h-bonds takes", (struct change){.hydrogens = "D", .constraints = "all-bonds"});
    expect_none("h-bonds takes", (struct change){.hydrogen_mass = "4.032"});
}

/* Notes of the reader, and of force fields by their macros. */
static void notes_of_the_topology(void **state)
{
    (void)state;
    expect("topology",
           "a.top:21: [ bonds ]: text from 'words' on is taken for a comment, as grompp does; one begins with ';'",
           (struct change){.terms = "[ bonds ]\n2 3 6 0.1 100 words\n"});
    expect("topology", "a.top: GROMOS force fields (_FF_GROMOS96) were fitted with two cut-offs",
           (struct change){.terms = "#define _FF_GROMOS96\n"});
    expect("constraints",
           "constraints: all-bonds, and the force field (_FF_AMBER, _FF_CHARMM or _FF_OPLSAA) was fitted",
           (struct change){.terms = "#define _FF_CHARMM\n", .constraints = "all-bonds"});
    expect("", "", (struct change){.terms = "#define _FF_CHARMM\n"});
    expect("topology",
           "s.yaml:6: masses.repartition: 1 of the atoms have another mass in state B (the first is atom 2, H1 of "
           "MOL1): they "
           "get the larger mass in both states, and dummies of a state get theirs without taking it from an atom",
           (struct change){.masses = "masses: {repartition: 2}\n", .b_states = "D 0 1"});
}

/* The periods are those of two masses on a spring, 2 pi sqrt(mu / k), and of Wilson's G element. */
static void the_timestep(void **state)
{
    (void)state;
    expect("timestep",
           "s.yaml:5: integrator.timestep: the bond C1-H1 (atoms 1 to 2, MOL, a.top:16) swings once in 11.4 fs, 5.7 "
           "timesteps of "
           "2 fs; expected 10 or more: at most 1.1 fs, or constraints: h-bonds",
           (struct change){.constraints = "none"});
    expect(
        "timestep",
        "the bond C1-H1 (atoms 1 to 2, MOL, a.top:16) swings once in 11.4 fs, 1.1 timesteps of 10 fs, which cannot be",
        (struct change){.constraints = "none", .timestep = "10 fs"});
    expect("timestep", "the angle H1-C1-H2 (atoms 2 to 3, MOL, a.top:19) swings once in 27.",
           (struct change){.timestep = "4 fs"});
    expect("timestep", "at most 2.7 fs, or masses: {repartition: 3}", (struct change){.timestep = "4 fs"});
    expect("", "", (struct change){.timestep = "4 fs", .masses = "masses: {repartition: 3}\n"});
    expect("", "", (struct change){.timestep = "4 fs", .hydrogen_mass = "3.024"}); /* in the topology */
    expect_none("repartition", (struct change){.timestep = "8 fs", .hydrogen_mass = "4.032"});
    expect("timestep", "expected 8 or more: at most 5",
           (struct change){.timestep = "8 fs", .masses = "masses: {repartition: 3}\n"});
    /* with heavy hydrogens a bond may have five timesteps, but an angle eight */
    const char *bonds = "[ bonds ]\n1 2 1 0.109 190000\n1 3 1 0.109 1\n", *angle = "[ angles ]\n2 1 3 1 107.8 900\n";
    struct change it = {.timestep = "4 fs", .constraints = "none", .hydrogen_mass = "3.024", .settles = bonds};
    expect("", "", it);
    it.method = "velocity-verlet";
    expect("timestep", "swings once in 22.4 fs, 5.6 timesteps of 4 fs; expected 10 or more", it);
    it.method = NULL;
    it.timestep = "5 fs";
    expect("timestep", "4.5 timesteps of 5 fs; expected 5 or more: at most 4.4 fs, or constraints: h-bonds", it);
    it.timestep = "4 fs";
    it.terms = angle;
    expect("timestep", "the angle H1-C1-H2", it);
    expect("timestep", "s.yaml:8: protocol: timestep: the angle",
           (struct change){.protocol = "  - minimize: {steps: 10}\n  - equilibrate: {time: 1 ns, timestep: 4 fs}\n"
                                       "  - produce: {time: 1 ns}"});
    expect("", "", (struct change){.timestep = "4 fs", .settles = "[ settles ]\n1 1 0.1 0.16\n"});
    /* the same motions by bonds and angles of other forms */
    const char *forms[] = {"[ bonds ]\n1 2 2 0.109 1.19734e7\n1 3 3 0.109 1 9\n[ angles ]\n2 1 3 2 107.8 304.6\n",
                           "[ bonds ]\n1 3 4 0.109 9 9\n1 2 3 0.109 400 18.858\n[ angles ]\n2 1 3 2 107.8 304.6\n",
                           "[ bonds ]\n1 3 4 0.109 9 9\n1 2 4 0.109 142256 9\n[ angles ]\n2 1 3 2 107.8 304.6\n"};
    for (int k = 0; k < 3; k++) {
        expect("timestep", "the bond C1-H1 (atoms 1 to 2, MOL, a.top:1",
               (struct change){.constraints = "none", .settles = forms[k]});
        expect("timestep", "the angle H1-C1-H2 (atoms 2 to 3, MOL, a.top:19) swings once in 27.",
               (struct change){.timestep = "4 fs", .settles = forms[k]});
    }
}

/* What position restraints mean for the motion of the center of mass, and few molecules for a box that changes its
 * shape. */
static void motion(void **state)
{
    (void)state;
    const char *held = "[ position_restraints ]\n1 1 1000 1000 1000\n", *none = "[ position_restraints ]\n1 1 0 0 0\n";
    struct change it = {.method = "langevin-middle, com-removal: 50 steps", .terms = held};
    expect("center", "s.yaml:5: integrator.com-removal: 50 steps: position restraints hold atoms in space", it);
    it.terms = none;
    expect("", "", it);
    it.method = "langevin-middle, com-removal: no";
    it.terms = held;
    expect("", "", it);
    it.method = NULL;
    expect("", "", it);
    it = (struct change){.barostat = "barostat: {coupling: anisotropic}\n",
                         .protocol =
                             "  - minimize: {steps: 10}\n  - equilibrate: {time: 1 ns, ensemble: npt}\n"
                             "  - produce: {time: 1 ns, ensemble: npt}"};
    expect("barostat", "barostat.coupling: anisotropic: the mean volume of fewer than 100 molecules comes out too", it);
    it.barostat = "barostat: {coupling: isotropic}\n";
    expect("", "", it);
}

static void protocols(void **state)
{
    (void)state;
    expect("minimization", "s.yaml:7: protocol: begins without minimize",
           (struct change){.protocol = "  - produce: {time: 1 ns}"});
    const char *never =
        "  - minimize: {steps: 10}\n  - equilibrate: {time: 20 ps, ensemble: nvt}\n"
        "  - produce: {time: 1 ns, ensemble: npt}";
    const char *hardly =
        "  - minimize: {steps: 10}\n  - equilibrate: {time: 249 steps, ensemble: npt}\n"
        "  - produce: {time: 1 ns, ensemble: npt}";
    const char *enough =
        "  - minimize: {steps: 10}\n  - equilibrate: {time: 250 steps, ensemble: npt}\n"
        "  - produce: {time: 1 ns, ensemble: npt}\n  - produce: {time: 1 ns, ensemble: npt}";
    expect(
        "barostat",
        "s.yaml:8: protocol: produces with ensemble npt after 0 volume moves of equilibrate stages; their size adapts "
        "there after every 10 and nowhere else, so it stays 1 % of the volume, of which a large system accepts few; "
        "expected an equilibrate stage with ensemble npt before, of 2500 steps at the least",
        (struct change){.barostat = BAROSTAT, .protocol = never});
    expect("barostat", "after 9 volume moves of", (struct change){.barostat = BAROSTAT, .protocol = hardly});
    expect("", "", (struct change){.barostat = BAROSTAT, .protocol = enough});
    expect("ensemble", "velocity-verlet samples at constant energy", (struct change){.method = "velocity-verlet"});
    expect("sampling", "protocol: 20 samples of every window",
           (struct change){.protocol = "  - minimize: {steps: 10}\n  - produce: {time: 4 ps}"});
}

static void no_sense(void **state)
{
    (void)state;
    expect_error("a.top:13: atom 2 (H1 MOL1): charge 1e+300 e: expected -100 to 100",
                 (struct change){.charges = {NULL, "1e300"}});
    expect_error("a.top:16: [ settles ] of atom 1: distances 0.1 and 0.2 nm make no triangle",
                 (struct change){.settles = "[ settles ]\n1 1 0.1 0.2\n"});
    expect_error("epsilon -0.125: expected 0 or more", (struct change){.epsilon = "-0.125"});
    expect("", "", (struct change){.settles = "[ settles ]\n1 1 0.1 0.16\n[ constraints ]\n1 2 1 0.1\n2 3 2 0.16\n"});
    expect_error(
        "a.top:16 and a.top:18: molecule MOL, atoms 1 (C1) and 2 (H1): two constraints of different lengths, 0.11 and "
        "0.1 nm "
        "in state A; expected one length",
        (struct change){.settles = "[ settles ]\n1 1 0.1 0.16\n[ constraints ]\n1 2 1 0.11\n"});
    expect_error("two constraints of different lengths",
                 (struct change){.settles = "[ settles ]\n1 1 0.1 0.16\n[ bonds ]\n1 3 1 0.11 2e5\n"});
}

/* Of a box whose faces are close by for its edges a GPU takes less than a CPU device does; of those that are made as
 * much. */
static void test_box(void **state)
{
    const char *dodecahedron = "3 3 2.12132 0 0 0 0 1.5 1.5", *octahedron = "3 2.82843 2.44949 0 0 1 0 -1 1.41421",
               *flat = "3 3 1.4 0 0 0 0 1.5 1.5";
    expect(
        "box",
        "s.yaml:6: nonbonded.cutoff: 0.8 nm: no GPU takes it, and on one the ensemble will fail: the box of a.gro is "
        "so flat that there it has to be less than half the least distance of its opposite faces, 0.7 nm. CPU devices "
        "take less than 1.27083 nm. For a GPU expected a larger box or a shorter cut-off",
        (struct change){.box = flat, .nonbonded = "nonbonded: {cutoff: 0.8 nm}\n"});
    expect("box", "0.7 nm. CPU",
           (struct change){.box = flat, .nonbonded = "nonbonded: {cutoff: 0.6 nm, vdw: {cutoff: 0.75 nm}}\n"});
    expect_none("GPU", (struct change){.box = flat, .nonbonded = "nonbonded: {cutoff: 0.69 nm}\n"});
    expect_none("GPU", (struct change){.box = dodecahedron, .nonbonded = "nonbonded: {cutoff: 1.49 nm}\n"});
    expect_none("GPU", (struct change){.box = octahedron, .nonbonded = "nonbonded: {cutoff: 1.41 nm}\n"});
    expect_none("GPU", (struct change){.nonbonded = "nonbonded: {cutoff: 1.49 nm}\n"});
}

/* Displacements of production at constant pressure are those of the box too; only they, and only there. */
static void diffusion_at_constant_pressure(void **state)
{
    (void)state;
#define MSD "observables: [{msd: {of: AR, max: 10 ps, every: 0.1 ps}}]\n"
#define STAGES(kind)                                                                                                   \
    "  - minimize: {steps: 10}\n  - equilibrate: {time: 1 ns, ensemble: npt}\n  - produce: {time: 1 ns, "              \
    "ensemble: " kind "}"
    expect("ensemble", "s.yaml:9: protocol: production with ensemble npt moves molecules with the box",
           (struct change){.barostat = BAROSTAT, .nonbonded = MSD, .protocol = STAGES("npt")});
    expect("", "", (struct change){.barostat = BAROSTAT, .nonbonded = MSD, .protocol = STAGES("nvt")});
    expect_none("moves molecules with the box",
                (struct change){.barostat = BAROSTAT,
                                .nonbonded = "observables: [{rdf: {between: [AR, AR], max: 0.5 nm}}]\n",
                                .protocol = STAGES("npt")});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(names_of_hydrogens),
        cmocka_unit_test(notes_of_the_topology),
        cmocka_unit_test(the_timestep),
        cmocka_unit_test(motion),
        cmocka_unit_test(protocols),
        cmocka_unit_test(no_sense),
        cmocka_unit_test(test_box),
        cmocka_unit_test(diffusion_at_constant_pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
