/* SPDX-License-Identifier: Apache-2.0
 *
 * Biases, from the text of a spec to the tables of a system, and what is wrong with them.
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

#define START                                                                                                          \
    "name: a\n"                                                                                                        \
    "system: {topology: a.top, coordinates: a.gro}\n"                                                                  \
    "integrator: {timestep: 2 fs}\n"
#define LADDER "alchemy: {perturb: b-states, windows: {restraint: [0, 1]}}\n"
#define PROTOCOL                                                                                                       \
    "protocol:\n"                                                                                                      \
    "- minimize: {steps: 100}\n"                                                                                       \
    "- equilibrate: {time: 10 ps, ensemble: nvt, timestep: 1 fs}\n"                                                    \
    "- equilibrate: {time: 20 ps, ensemble: nvt}\n"                                                                    \
    "- produce: {time: 100 ps, ensemble: nvt, sample-every: 1 ps}\n"
#define AT(line, text) "s.yaml:" #line ": biases[0]" text

static const char top[] =
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 12 0 A 0.3 0.4\n"
    "[ moleculetype ]\nLIG 1\n[ atoms ]\n1 C 1 LIG A 1 0 12\n2 C 1 LIG B 1 0 12\n"
    "[ moleculetype ]\nSOL 1\n[ atoms ]\n1 C 1 SOL OW 1 0 12\n"
    "[ system ]\nthree\n[ molecules ]\nLIG 1\nSOL 4\n";
static const char gro[] =
    "three\n6\n"
    "    1LIG      A    1   1.000   0.500   0.500\n    1LIG      B    2   1.100   0.500   0.500\n"
    "    2SOL     OW    3   2.000   0.500   0.500\n    3SOL     OW    4   0.700   1.000   0.500\n"
    "    4SOL     OW    5   2.500   0.500   0.500\n    5SOL     OW    6   0.200   1.000   0.500\n"
    "   3.0 3.0 3.0\n";

static struct err made(const char *text, struct system *sys)
{
    return system_made(text, top, gro, "", sys);
}

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12 * fmax(1, fabs(expected)))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void test_coordinations(void **state)
{
    struct system sys;
    struct err e = made(START LADDER
                        "biases:\n"
                        "- coordination: {between: [OW, {molecule: LIG}], r0: 3 A}\n"
                        "  harmonic: {at: 2, force-constant: 1 kcal/mol, b: {at: 5}}\n"
                        "  upper: {at: 7.5, force-constant: 20 kJ/mol}\n"
                        "- coordination: {within: OW, r0: 0.3 nm, d0: 0.1 nm, nn: 8, mm: 14, d-max: 0.9 nm,\n"
                        "    stretch: no, periodic: no}\n"
                        "  linear: {slope: -3 kJ/mol}\n"
                        "  lower: {at: 1, force-constant: 5 kJ/mol, b: {force-constant: 6 kJ/mol}}\n"
                        "- coordination: {between: [{molecule: LIG}, {atoms: \"3-4\"}], paired: yes, r0: 0.28 nm,\n"
                        "    d-max: automatic}\n",
                        &sys);
    assert_string_equal(e.msg, "");
    assert_int_equal(sys.ncoordinations, 3);
    const struct coordination *c = sys.coordinations;
    /* the larger group is the second */
    assert_int_equal(c[0].pairs, COORDINATION_BETWEEN);
    assert_int_equal(c[0].count[0], 2);
    assert_int_equal(c[0].count[1], 4);
    assert_int_equal(sys.coordination_atoms[c[0].first[0]], 0);
    assert_int_equal(sys.coordination_atoms[c[0].first[1] + 3], 5);
    near(c[0].f.r0, 0.3);
    assert_int_equal(c[0].f.n, 6);
    assert_int_equal(c[0].f.m, 12);
    assert_true(isinf(c[0].f.farthest2));
    assert_int_equal(c[0].periodic, 1);
    assert_int_equal(c[1].pairs, COORDINATION_WITHIN);
    assert_int_equal(c[1].first[0], c[1].first[1]);
    assert_int_equal(c[1].count[1], 4);
    assert_int_equal(c[1].periodic, 0);
    near(c[1].f.farthest2, 0.81);
    near(c[1].f.scale, 1);
    near(c[1].f.shift, 0);
    assert_int_equal(c[2].pairs, COORDINATION_PAIRED);
    near(c[2].f.farthest2, 1.9076177933622915 * 1.9076177933622915); /* as PLUMED's short form */
    assert_true(c[2].f.shift < 0);
    assert_int_equal(sys.nbiases, 4);
    static const struct bias expected[] = {{0, BIAS_HARMONIC, 0, 0, {{2, 4.184}, {5, 4.184}}},
                                           {0, BIAS_UPPER, 0, 0, {{7.5, 20}, {7.5, 20}}},
                                           {1, BIAS_LOWER, 0, 0, {{1, 5}, {1, 6}}},
                                           {1, BIAS_LINEAR, 0, 0, {{0, -3}, {0, -3}}}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sys.biases[i].coordination, expected[i].coordination);
        assert_int_equal(sys.biases[i].kind, expected[i].kind);
        assert_int_equal(sys.biases[i].count, 0);
        for (int k = 0; k < 4; k++)
            near(sys.biases[i].c[k / 2][k % 2], expected[i].c[k / 2][k % 2]);
    }
    system_close(&sys);
}

/* Times are those of energy.xvg, over stages of two timesteps. */
static void test_schedule(void **state)
{
    struct system sys;
    struct err e = made(START
                        "biases:\n"
                        "- coordination: {within: OW, r0: 0.3 nm}\n"
                        "  harmonic: {at: 1, force-constant: 9 kJ/mol, schedule: [{time: -31 ps},\n"
                        "    {time: -25 ps, at: 2}, {time: -10 ps, at: 3}, {time: 5 ps, force-constant: 8 kJ/mol},\n"
                        "    {time: 1 ns, at: -4}]}\n" PROTOCOL,
                        &sys);
    static const struct bias_knot expected[] = {
        {-1000, 1, 9}, {5000, 2, 9}, {15000, 3, 9}, {22500, 1, 8}, {520000, -4, 9}};
    assert_string_equal(e.msg, "");
    assert_int_equal(sys.nknots, 5);
    assert_int_equal(sys.biases[0].count, 5);
    for (int i = 0; i < 5; i++) {
        near(sys.knots[i].step, expected[i].step);
        near(sys.knots[i].at, expected[i].at);
        near(sys.knots[i].k, expected[i].k);
    }
    system_close(&sys);
}

#define ONE START "biases:\n- coordination: {between: [OW, {molecule: LIG}], r0: 0.3 nm"
static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {ONE ", within: OW}\n", AT(5, ".coordination: expected exactly one of between and within")},
        {ONE ", nn: 8, mm: 8}\n", AT(5, ".coordination.mm: 8: expected more than nn, 8, or 0 for twice nn")},
        {ONE ", d0: 0.5 nm, d-max: 0.4 nm}\n", AT(5, ".coordination.d-max: 0.4 nm: expected more than d0, 0.5 nm")},
        {ONE ", paired: yes}\n",
         AT(5, ".coordination: OW: 4 atoms, LIG: 2; expected as many in both, to pair them one by one")},
        {START "biases:\n- coordination: {between: [{molecule: LIG}, {atoms: \"5, 3\"}], paired: yes, r0: 0.3 nm}\n",
         AT(5,
            ".coordination: 5, 3: atom 3 comes behind atom 5; atoms are paired in the order of the topology, "
            "expected them in it")},
        {START "biases:\n- coordination: {within: OW, paired: yes, r0: 0.3 nm}\n",
         AT(5, ".coordination.paired: expected between, two groups")},
        {START "biases:\n- coordination: {between: [OW, {resname: SOL}], r0: 0.3 nm}\n",
         AT(5, ".coordination: OW, SOL: the same atoms; expected within: OW, which counts each pair once")},
        {START "biases:\n- coordination: {within: {atoms: \"3\"}, r0: 0.3 nm}\n",
         AT(5, ".coordination: 3: one atom; expected two or more")},
        {START "biases:\n- coordination: {between: [OV, {molecule: LIG}], r0: 0.3 nm}\n",
         AT(5, ".coordination: OV: no atom has this name, and no group of system.index; did you mean OW?")},
        {ONE "}\n  harmonic: {at: 2}\n", AT(6, ".harmonic: missing; expected at and force-constant, or a schedule")},
        {ONE "}\n  linear: {at: 2}\n", AT(6, ".linear: missing; expected slope, or a schedule")},
        {ONE "}\n  upper: {at: 2, force-constant: 1 kJ/mol, b: {at: 3}}\n",
         AT(6, ".upper.b: expected a ladder that leads there, alchemy.windows.restraint or bonded")},
        {ONE "}\n  upper: {at: 2, force-constant: 1 kJ/mol, b: {at: 3}, schedule: [{time: 0 ps}]}\n",
         AT(6, ".upper.b: expected b or schedule, not both")},
        {ONE "}\n  lower: {at: 2, force-constant: 1 kJ/mol, schedule: [{time: 0 ps}, {time: -1 ps}]}\n",
         AT(6, ".lower.schedule: -1 ps: expected times one after the other")},
        {START LADDER "biases:\n- coordination: {within: OW, r0: 0.3 nm}\n"
                      "  lower: {at: 2, force-constant: 1 kJ/mol, schedule: [{time: 0 ps}, {time: 1 ps}]}\n",
         AT(7,
            ".lower.schedule: 1 ps: expected 0 ps, where production begins, or earlier: samples of several windows are "
            "to be of potentials that stay")},
        {START LADDER "biases:\n- coordination: {within: OW, r0: 0.3 nm}\n"
                      "  lower: {at: 2, force-constant: 1 kJ/mol}\n",
         "s.yaml:4: alchemy.perturb: b-states: nothing in a.top has a B state that differs from its A state"},
        {ONE "}\n  upper: {at: 2, force-constant: 1 kJ/mol/nm^2}\n",
         AT(6,
            ".upper.force-constant: 1 kJ/mol/nm^2: unknown unit; expected a quantity from 0 kJ/mol to 100000000 kJ/mol "
            "(units: kJ/mol, kcal/mol), such as 50 kJ/mol")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct system sys;
        assert_string_equal(made(cases[i].text, &sys).msg, cases[i].message);
        system_close(&sys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_coordinations), cmocka_unit_test(test_schedule),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
