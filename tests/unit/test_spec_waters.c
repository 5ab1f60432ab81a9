/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchange of waters in a spec: its numbers, the center of the sphere, which waters there are, and what is refused.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/prepare/waters/water_table.h"
#include "tests/lib/spec_read.h"

#define WATER                                                                                                          \
    "[ atoms ]\n1 OW 1 SOL OW 1 -0.8 16\n2 HW 1 SOL HW1 1 0.4 1\n3 HW 1 SOL HW2 1 0.4 1\n"                             \
    "[ settles ]\n1 1 0.1 0.16\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
#define TOP(water)                                                                                                     \
    "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nOW 8 16 0 A 0.3 0.6\nHW 1 1 0 A 0 0\nC 6 12 0 A 0.3 0.6\n"               \
    "[ moleculetype ]\nLIG 3\n[ atoms ]\n1 C 1 LIG C1 1 0 12\n2 C 1 LIG C2 1 0 12\n3 C 1 LIG C3 1 0 12\n"              \
    "[ bonds ]\n1 2 1 0.15 1e5\n2 3 1 0.15 1e5\n"                                                                      \
    "[ moleculetype ]\nSOL 2\n" water "[ system ]\nx\n[ molecules ]\nLIG 1\nSOL 2\n"
#define GRO                                                                                                            \
    "x\n 9\n    1LIG     C1    1   1.000   1.000   1.000\n    1LIG     C2    2   1.150   1.000   1.000\n"              \
    "    1LIG     C3    3   1.300   1.000   1.000\n"                                                                   \
    "    2SOL     OW    4   0.500   0.500   0.500\n    2SOL    HW1    5   0.600   0.500   0.500\n"                     \
    "    2SOL    HW2    6   0.472   0.596   0.500\n"                                                                   \
    "    3SOL     OW    7   0.500   0.500   1.500\n    3SOL    HW1    8   0.600   0.500   1.500\n"                     \
    "    3SOL    HW2    9   0.472   0.596   1.500\n   2.5   2.5   2.5\n"
#define LIG "alchemy: {decouple: LIG, windows: {vdw: [0, 1]}}\n"

static void test_numbers(void **state)
{
    struct spec *s = parsed(HEAD "integrator: {timestep: 4 fs}\n");
    assert_false(s->settings.waters.on);
    spec_free(s);
    s = parsed(HEAD "integrator: {timestep: 4 fs}\nwater-exchange: {}\n");
    const struct water_settings *w = &s->settings.waters;
    assert_true(w->on && w->radius == 0.5 && w->every == 500 && w->tries == 1000);
    spec_free(s);
    s = parsed(HEAD "integrator: {timestep: 4 fs}\nwater-exchange: {radius: 6 A, every: 1 ps, tries: 20}\n");
    w = &s->settings.waters;
    assert_true(w->on && w->radius == 0.6 && w->every == 250 && w->tries == 20);
    spec_free(s);
}

static void test_refused(void **state)
{
    refused(HEAD "integrator: {method: velocity-verlet}\nwater-exchange: {}\n",
            SPEC("4: water-exchange: velocity-verlet has no thermostat; expected integrator.method langevin-middle"));
    refused(
        HEAD "observables: [{rdf: {between: [OW, OW], max: 1 nm}}, {vacf: {of: OW, max: 1 ps}}]\nwater-exchange: {}\n",
        SPEC("4: water-exchange: observables[1] (vacf) follows molecules through time, and waters that are exchanged "
             "jump; expected one of the two in a spec"));
    refused(
        HEAD "observables: [{msd: {of: OW, max: 10 ps}}]\nwater-exchange: {}\n",
        SPEC("4: water-exchange: observables[0] (msd) follows molecules through time, and waters that are exchanged "
             "jump; expected one of the two in a spec"));
    refused(HEAD "integrator: {mesh-every: 2}\nwater-exchange: {every: 4 steps}\n",
            SPEC("4: water-exchange: beside integrator.mesh-every: 2: expected one of the two in a spec"));
    refused(HEAD "water-exchange: {around: {group: site}}\n",
            SPEC("3: water-exchange.around: group: site: expected system.index, the file that has it"));
}

static void said(const char *text, const char *top, const char *expected)
{
    struct system sys = {0};
    struct err e = system_made(text, top, GRO, "", &sys);
    assert_string_equal(e.msg, expected);
    system_close(&sys);
}

static void test_systems(void **state)
{
    static const char rigid[] = TOP(WATER), flexible[] = TOP(
                                                "[ atoms ]\n1 OW 1 SOL OW 1 -0.8 16\n2 HW 1 SOL HW1 1 0.4 1\n"
                                                "3 HW 1 SOL HW2 1 0.4 1\n[ bonds ]\n1 2 1 0.1 1e5\n1 3 1 0.1 1e5\n");
    said(HEAD "water-exchange: {around: {resname: LIG}}\n", rigid, "");
    said(HEAD "water-exchange: {around: {resname: LIG}}\n", flexible,
         "s.yaml:3: water-exchange: no waters to exchange: expected rigid waters of three sites, by [ settles ], that "
         "the "
         "alchemy leaves alone");
    said(HEAD "alchemy: {decouple: SOL, windows: {vdw: [0, 1]}}\nwater-exchange: {around: {resname: LIG}}\n", rigid,
         "s.yaml:4: water-exchange: no waters to exchange: expected rigid waters of three sites, by [ settles ], that "
         "the "
         "alchemy leaves alone");
    said(
        HEAD "water-exchange: {around: {name: HW2}}\n", rigid,
        "s.yaml:3: water-exchange: atom 6 (HW2 SOL1) of the center of the sphere belongs to a water that is exchanged: "
        "expected atoms of other molecules");
    said(HEAD "water-exchange: {around: {resname: LIG}, radius: 1.25 nm}\n", rigid,
         "s.yaml:3: water-exchange: radius 1.25 nm: expected less than 1.25 nm, so that the sphere fits into the box");
    said(HEAD "water-exchange: {}\n", rigid,
         "s.yaml:3: water-exchange: the alchemy changes no residue of 3 heavy atoms or more that the sphere could be "
         "about; expected around: and a group of atoms");
}

/* The center is what the alchemy changes; both waters may move. */
static void test_center(void **state)
{
    static const char rigid[] = TOP(WATER);
    struct system sys = {0};
    struct err e = system_made(HEAD LIG "water-exchange: {}\n", rigid, GRO, "", &sys);
    assert_string_equal(e.msg, "");
    assert_int_equal(sys.naround, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sys.around[i], i);
    const struct settings set = {0};
    uint32_t n;
    int32_t(*waters)[3] = waters_exchanged(&sys, &set, &n);
    assert_int_equal(n, 2);
    for (int k = 0; k < 3; k++)
        assert_true(waters[0][k] == 3 + k && waters[1][k] == 6 + k);
    free(waters);
    sys.settles[0].r_oh = 0.09; /* one model of two: the others are those to meet */
    waters = waters_exchanged(&sys, &set, &n);
    assert_int_equal(n, 1);
    free(waters);
    system_close(&sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_systems), cmocka_unit_test(test_center)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
