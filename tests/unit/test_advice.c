/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a spec, one thing changed at a time from a spec of which nothing is said.
 */
#undef NDEBUG
#include "daemon/spec/advice.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/buf.h"

/* What a test may change; NULL: as in the calm case. */
struct change {
    const char *constraints, *timestep, *windows, *soft_core, *change, *method, *protocol; /* of the spec */
    const char *charges[3], *hydrogen_mass, *b_states, *epsilon, *settles;                 /* of the topology */
    const char *hydrogens;         /* what their names begin with */
    const char *ion;               /* charge of each argon atom */
    const char *more;              /* sections at the end of the topology */
    const char *barostat, *masses; /* a line */
    const char *velocity;          /* of every atom */
    const char *terms;             /* of the molecule, beside what holds it together */
    const char *nonbonded;         /* a line */
    const char *box;               /* of the coordinates */
};

#define BAROSTAT "barostat: {method: monte-carlo, pressure: 1 bar, every: 25 steps}\n"
#define CALM_WINDOWS "{coulomb: [0, 1, 1, 1, 1, 1], vdw: [0, 0, 0.25, 0.5, 0.75, 1]}"

static const char * or (const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static void write_spec(struct buf *b, const struct change *c)
{
    buf_printf(b, "name: x\nsystem: {topology: a.top, coordinates: a.gro}\nconstraints: %s\n",
               or (c->constraints, "h-bonds"));
    buf_printf(b, "alchemy: {%s, windows: %s%s}\n", or (c->change, "decouple: MOL"), or (c->windows, CALM_WINDOWS),
               or (c->soft_core, ""));
    buf_printf(b, "integrator: {method: %s, timestep: %s}\n", or (c->method, "langevin-middle"),
               or (c->timestep, "2 fs"));
    buf_printf(b, "%s", or (c->masses, ""));
    buf_printf(b, "%s", or (c->barostat, ""));
    buf_printf(b, "%s", or (c->nonbonded, ""));
    buf_printf(b, "protocol:\n%s\n", or (c->protocol, "  - minimize: {steps: 10}\n  - produce: {time: 1 ns}"));
}

/* CH2 with inner bonds and an angle, and two argon atoms. */
static void write_topology(struct buf *b, const struct change *c)
{
    const char *mass = or (c->hydrogen_mass, "1.008"), *hydrogen = or (c->charges[1], "0.1");
    const char *name = or (c->hydrogens, "H");
    buf_printf(b, "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12.011 0 A 0.35 0.276\nHC 1.008 0 A 0.25 %s\n",
               or (c->epsilon, "0.125"));
    buf_printf(b, "HC2 1.008 0 A 0.25 %s\n", or (c->epsilon, "0.125"));
    buf_printf(b, "D 1.008 0 A 0 0\nAR 39.948 0 A 0.34 0.996\n[ moleculetype ]\nMOL 3\n[ atoms ]\n");
    buf_printf(b, "1 C 1 MOL C1 1 %s 12.011\n", or (c->charges[0], "-0.2"));
    buf_printf(b, "2 HC 1 MOL %s1 1 %s %s %s\n", name, hydrogen, mass, or (c->b_states, ""));
    buf_printf(b, "3 HC 1 MOL %s2 1 %s %s\n", name, or (c->charges[2], hydrogen), mass);
    buf_printf(b, "%s", or (c->settles,
                            "[ bonds ]\n1 2 1 0.109 284512\n1 3 1 0.109 284512\n"
                            "[ angles ]\n2 1 3 1 107.8 276.144\n"));
    buf_printf(b, "%s", or (c->terms, ""));
    buf_printf(b,
               "[ moleculetype ]\nAR 1\n[ atoms ]\n1 AR 1 AR AR 1 %s 39.948\n[ system ]\nx\n"
               "[ molecules ]\nMOL 1\nAR 2\n%s",
               or (c->ion, "0"), or (c->more, ""));
}

static void write_coordinates(struct buf *b, const struct change *c)
{
    static const char *const names[][2] = {{"MOL", "C1"}, {"MOL", "1"}, {"MOL", "2"}, {"AR", "AR"}, {"AR", "AR"}};
    static const double x[][3] = {{1, 1, 1}, {1.1, 1, 1}, {0.97, 1.1, 1}, {2, 2, 2}, {2, 1, 2}};
    buf_printf(b, "x\n5\n");
    for (int i = 0; i < 5; i++)
        buf_printf(b, "%5d%-5s%3s%2s%5d%8.3f%8.3f%8.3f%s\n", i < 3 ? 1 : i - 1, names[i][0],
                   i == 1 || i == 2 ? or (c->hydrogens, "H") : "", names[i][1], i + 1, x[i][0], x[i][1], x[i][2],
                   or (c->velocity, ""));
    buf_printf(b, "%s\n", or (c->box, "3 3 3"));
}

/* What is said, a new reference; NULL with *e. */
static json_t *advise(const struct change *c, struct err *e)
{
    struct buf spec = {0}, top = {0}, gro = {0};
    struct spec *s = NULL;
    struct system sys = {0};
    struct source *src = source_memory_new();
    json_t *list = NULL;
    write_spec(&spec, c);
    write_topology(&top, c);
    write_coordinates(&gro, c);
    if (spec_parse(&s, "s.yaml", spec.data, spec.len, e) || source_memory_add(src, "a.top", top.data, top.len, e) ||
        source_memory_add(src, "a.gro", gro.data, gro.len, e))
        fail_msg("%s", e->msg);
    int rc = spec_system(s, src, &sys, e);
    if (!rc && spec_advise(s, &sys, &list, e))
        assert_null(list);
    system_close(&sys);
    spec_free(s);
    source_free(src);
    buf_free(&spec);
    buf_free(&top);
    buf_free(&gro);
    return list;
}

/* One piece of advice of this kind that holds this text; "" as kind: none at all. */
static void expect(const char *kind, const char *text, struct change c)
{
    struct err e = {0};
    json_t *list = advise(&c, &e), *one;
    size_t i;
    int found = 0;
    if (!list)
        fail_msg("refused: %s", e.msg);
    json_array_foreach (list, i, one) {
        const char *said = json_string_value(json_object_get(one, "message"));
        found += !strcmp(json_string_value(json_object_get(one, "kind")), kind) && strstr(said, text);
        if (!*kind)
            fail_msg("said: %s", said);
    }
    if (found != 1 && *kind) {
        char *all = json_dumps(list, 0);
        fail_msg("%d times %s \"%s\" in %s", found, kind, text, all);
    }
    json_decref(list);
}

static void expect_none(const char *text, struct change c)
{
    struct err e = {0};
    json_t *list = advise(&c, &e), *one;
    size_t i;
    if (!list)
        fail_msg("refused: %s", e.msg);
    json_array_foreach (list, i, one)
        assert_null(strstr(json_string_value(json_object_get(one, "message")), text));
    json_decref(list);
}

static void expect_error(const char *text, struct change c)
{
    struct err e = {0};
    if (advise(&c, &e))
        fail_msg("accepted, expected %s", text);
    if (!strstr(e.msg, text))
        fail_msg("\"%s\", expected %s", e.msg, text);
    assert_int_equal(e.code, ERR_TOPOLOGY);
}

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
        "1.008, and its bond C1-D1 (atoms 1 and 2 of MOL, molecule type MOL) stays a bond; expected a name with H, or "
        "all-bonds (2 such in all)",
        (struct change){.hydrogens = "D", .timestep = "1 fs"});
    expect("constraints",
           "H1 has a mass of 35.45, and its bond C1-H1 (atoms 1 and 2 of MOL, molecule type MOL) becomes a constraint "
           "(2 such",
           (struct change){.hydrogen_mass = "35.45"});
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
           "get the larger mass in both states",
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

/* What position restraints mean for the motion of the center of mass, and few molecules for a box that changes its shape. */
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

/* Of a box whose faces are close by for its edges a GPU takes less than a CPU device does; of those that are made as much. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(names_of_hydrogens),
        cmocka_unit_test(notes_of_the_topology),
        cmocka_unit_test(the_timestep),
        cmocka_unit_test(charges),
        cmocka_unit_test(soft_core),
        cmocka_unit_test(ladders),
        cmocka_unit_test(idle_terms),
        cmocka_unit_test(idle_ladders),
        cmocka_unit_test(motion),
        cmocka_unit_test(tempering),
        cmocka_unit_test(protocols),
        cmocka_unit_test(no_sense),
        cmocka_unit_test(states),
        cmocka_unit_test(test_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
