/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice on windows that one atom's contact with the solvent keeps from overlapping: C-O-H in water, which loses the
 * charge of its hydrogen or gets it; the hydrogen has no Lennard-Jones.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/advice_play.h"

#define GAP "will hardly overlap. Atom"
#define BEUTLER "alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: yes"
#define GAPSYS "function: gapsys"
#define HARD "alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no"

enum { EDGE = 4, WATERS = EDGE * EDGE * EDGE - 1 };

static const char loses[] =
    "1 C 1 MOL C1 1 0.2 12 C 0.2 12\n2 O 1 MOL O2 1 -0.6 16 O -0.2 16\n"
    "3 HO 1 MOL HO3 1 0.4 1.008 HO 0 1.008\n";
static const char gets[] =
    "1 C 1 MOL C1 1 0.2 12 C 0.2 12\n2 O 1 MOL O2 1 -0.2 16 O -0.6 16\n"
    "3 HO 1 MOL HO3 1 0 1.008 HO 0.4 1.008\n";
static const char loses_all[] =
    "1 C 1 MOL C1 1 0.2 12 D 0 12\n2 O 1 MOL O2 1 -0.6 16 D 0 16\n"
    "3 HO 1 MOL HO3 1 0.4 1.008 D 0 1.008\n";

static void write_top(struct buf *b, const char *atoms, int waters)
{
    buf_printf(
        b,
        "[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\nC 12 0 A 0.34 0.458\nO 16 0 A 0.306647 0.880314\n"
        "HO 1.008 0 A 0 0\nD 12 0 A 0 0\nOW 16 0 A 0.315061 0.636386\nHW 1.008 0 A 0 0\n[ moleculetype ]\nMOL 3\n"
        "[ atoms ]\n%s[ bonds ]\n1 2 1 0.1426 262838\n2 3 1 0.096 309281\n[ angles ]\n1 2 3 1 108 394\n",
        atoms);
    buf_printf(b,
               "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 OW 1 SOL OW 1 -0.834 16\n2 HW 1 SOL HW1 1 0.417 1.008\n"
               "3 HW 1 SOL HW2 1 0.417 1.008\n[ settles ]\n1 1 0.09572 0.15139\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
               "[ system ]\nx\n[ molecules ]\nMOL 1\nSOL %d\n",
               waters);
}

static void write_gro(struct buf *b, int waters)
{
    static const struct {
        const char *name;
        double x[3];
    } mol[] = {{"C1", {0.1, 0.1, 0.1}}, {"O2", {0.243, 0.1, 0.1}}, {"HO3", {0.273, 0.191, 0.1}}},
      water[] = {{"OW", {0, 0, 0}}, {"HW1", {0.0757, 0.0586, 0}}, {"HW2", {-0.0757, 0.0586, 0}}};
    int n = 0;
    buf_printf(b, "x\n%d\n", 3 + 3 * waters);
    for (int i = 0; i < 3; i++)
        buf_printf(b, "%5dMOL  %5s%5d%8.3f%8.3f%8.3f\n", 1, mol[i].name, ++n, mol[i].x[0], mol[i].x[1], mol[i].x[2]);
    for (int k = 1; k <= waters; k++) {
        const int at[3] = {k % EDGE, k / EDGE % EDGE, k / EDGE / EDGE};
        for (int i = 0; i < 3; i++)
            buf_printf(b, "%5dSOL  %5s%5d%8.3f%8.3f%8.3f\n", k + 1, water[i].name, ++n,
                       0.15 + 0.6 * at[0] + water[i].x[0], 0.15 + 0.6 * at[1] + water[i].x[1],
                       0.15 + 0.6 * at[2] + water[i].x[2]);
    }
    buf_printf(b, "2.4 2.4 2.4\n");
}

static const char *section = ""; /* of the spec */

/* What is said of gaps, owned; NULL: nothing. */
static char *said(const char *atoms, const char *soft_core, const char *windows, int waters)
{
    struct buf spec = {0}, top = {0}, gro = {0};
    struct err e = {0};
    char *text = NULL;
    buf_printf(&spec,
               "name: x\nsystem: {topology: a.top, coordinates: a.gro}\nconstraints: h-bonds\n"
               "alchemy: {perturb: b-states, soft-core: {%s}, windows: {%s}}\n"
               "integrator: {method: langevin-middle, timestep: 2 fs}\n"
               "protocol:\n  - minimize: {steps: 10}\n  - produce: {time: 1 ns}\n%s",
               soft_core, windows, section);
    write_top(&top, atoms, waters);
    write_gro(&gro, waters);
    json_t *list = advice_of(&spec, &top, &gro, &e), *one;
    size_t i;
    if (!list)
        fail_msg("refused: %s", e.msg);
    json_array_foreach (list, i, one) {
        const char *message = json_string_value(json_object_get(one, "message"));
        if (!strstr(message, GAP))
            continue;
        assert_null(text);
        assert_string_equal(json_string_value(json_object_get(one, "kind")), "ladder");
        text = strdup(message);
    }
    json_decref(list);
    buf_free(&spec);
    buf_free(&top);
    buf_free(&gro);
    return text;
}

static void says(const char *part, const char *atoms, const char *soft_core, const char *windows)
{
    char *text = said(atoms, soft_core, windows, WATERS);
    if (!text || !strstr(text, part))
        fail_msg("\"%s\", expected %s", text ? text : "", part);
    free(text);
}

static void is_silent(const char *atoms, const char *soft_core, const char *windows)
{
    char *text = said(atoms, soft_core, windows, WATERS);
    if (text)
        fail_msg("%s", text);
}

#define WIDE "[0, 0.3, 0.5, 0.7, 1]"

static void names_the_atom(void **state)
{
    (void)state;
    says(
        "s.yaml:4: alchemy.windows: windows 0 and 1 will hardly overlap. Atom 3 (HO3, molecule type MOL) has a charge "
        "of "
        "+0.4 e in state A and no Lennard-Jones of its own,",
        loses, BEUTLER, "coulomb: " WIDE);
    says("windows 3 and 4 will hardly overlap. Atom 3 (HO3, molecule type MOL) has a charge of +0.4 e in state B and",
         gets, BEUTLER, "coulomb: " WIDE);
}

/* What it says to write makes it silent. */
static void its_windows_help(void **state)
{
    (void)state;
    double part = 0;
    int more = 0;
    char *text = said(loses, BEUTLER, "coulomb: " WIDE, WATERS), windows[400], *first = strstr(text, "Expected ");
    assert_int_equal(sscanf(first, "Expected at least %d %*s between them, the first at coulomb: %lf", &more, &part),
                     2);
    assert_in_range(more, 1, 5);
    assert_true(part > 0.02 && part < 0.15);
    free(text);
    snprintf(windows, sizeof windows, "coulomb: [0, %g, %g, 0.3, 0.5, 0.7, 0.9, 1]", part, 2 * part);
    is_silent(loses, BEUTLER, windows);
    says("or soft-core: {function: gapsys}, by which", loses, BEUTLER, "coulomb: " WIDE);
    is_silent(loses, GAPSYS, "coulomb: " WIDE);
}

static void good_ladders(void **state)
{
    (void)state;
    const char *hybrids = "[0, 0.05, 0.12, 0.21, 0.31, 0.43, 0.57, 0.69, 0.79, 0.88, 0.95, 1]";
    const char *const atoms[] = {loses, gets, loses_all};
    char windows[600];
    for (int k = 0; k < 3; k++) {
        snprintf(windows, sizeof windows, "coulomb: %s, vdw: %s", hybrids, hybrids);
        is_silent(atoms[k], BEUTLER, windows);
        is_silent(atoms[k], GAPSYS, windows);
    }
    is_silent(loses_all, HARD,
              "coulomb: [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1], vdw: [0, 0, 0, 0, 0, 0.15, 0.3, 0.45, 0.6, 0.8, 1]");
}

/* A gas has no contacts, and a few molecules are no solvent. */
static void no_solvent(void **state)
{
    (void)state;
    assert_null(said(loses, BEUTLER, "coulomb: " WIDE, 0));
    assert_null(said(loses, BEUTLER, "coulomb: " WIDE, 19));
}

/* Walkers go through the rows in time: these need no overlap. */
static void switches(void **state)
{
    (void)state;
    section = "switch: {length: 10 ps, snapshots-every: 10 ps}\n";
    is_silent(loses, BEUTLER, "coulomb: " WIDE);
    section = "";
}

/* A pilot places others. */
static void placed(void **state)
{
    (void)state;
    is_silent(loses, BEUTLER "}, ladder: {pilot: 1 ps", "coulomb: " WIDE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_the_atom), cmocka_unit_test(its_windows_help),
                                       cmocka_unit_test(good_ladders),   cmocka_unit_test(no_solvent),
                                       cmocka_unit_test(switches),       cmocka_unit_test(placed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
