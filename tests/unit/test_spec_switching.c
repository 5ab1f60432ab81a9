/* SPDX-License-Identifier: Apache-2.0
 *
 * The section of non-equilibrium switches: what it becomes, what it takes, what is refused beside it.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/spec/predict.h"
#include "engine/base/buf.h"
#include "tests/lib/spec_read.h"

#define LADDER HEAD "alchemy: {decouple: A, windows: {vdw: [0, 0.5, 1]}}\n"
#define RUN "protocol: [{equilibrate: {time: 1 ps}}, {produce: {time: 100 ps}}]\n"
#define SWITCH "switch: {length: 5 ps, snapshots-every: 10 ps, walkers: 3}\n"

static void test_read(void **state)
{
    (void)state;
    struct spec *s = parsed(LADDER SWITCH RUN "repeats: 2\n");
    assert_int_equal(s->walkers, 3);
    assert_int_equal(spec_windows(s), 6);
    assert_int_equal(s->settings.replicas, 12);
    assert_int_equal(s->settings.switching.every, 10);
    assert_int_equal(s->settings.switching.changes, 250);
    assert_int_equal(s->stages[0].switch_every, 0);
    assert_int_equal(s->stages[1].switch_every, 5000);
    assert_int_equal(s->settings.alchemy.nwindows, 3);
    for (int k = 0; k < 6; k++)
        assert_int_equal(spec_row(s, k), k < 3 ? 0 : 2);
    spec_free(s);
}

static void test_shares(void **state)
{
    (void)state;
    struct spec *s = parsed(LADDER "switch: {length: 5 ps, snapshots-every: 10 ps, shares: [2, 0.5]}\n" RUN);
    assert_true(s->settings.switching.shares[0] == 2 && s->settings.switching.shares[1] == 0.5);
    spec_free(s);
    s = parsed(LADDER SWITCH RUN);
    assert_null(s->settings.switching.shares);
    spec_free(s);
    refused(
        LADDER "switch: {length: 5 ps, snapshots-every: 10 ps, shares: [2, 1, 1]}\n" RUN,
        SPEC("4: switch.shares: 3 values; expected 2, one for each interval between the 3 rows of alchemy.windows"));
    refused(LADDER "switch: {length: 5 ps, snapshots-every: 10 ps, shares: [2, 0]}\n" RUN,
            SPEC("4: switch.shares[1]: 0: out of range; expected a number from 1e-06 to 1000000"));
}

/* Without the section replicas are windows, each in a row of its own. */
static void test_windows(void **state)
{
    (void)state;
    struct spec *s = parsed(LADDER RUN);
    assert_int_equal(spec_windows(s), 3);
    assert_int_equal(spec_row(s, 1), 1);
    assert_int_equal(s->settings.switching.changes, 0);
    assert_int_equal(s->stages[1].switch_every, 0);
    spec_free(s);
}

/* Switches come after multiples of the stride, too; lambda changes after whole cycles of the mesh. */
static void test_multiples(void **state)
{
    (void)state;
    struct spec *s = parsed(LADDER
                            "switch: {length: 600 steps, change-every: 12 steps, snapshots-every: 150 steps}\n"
                            "protocol: [{produce: {time: 100 ps, sample-every: 100 steps}}]\n");
    assert_int_equal(s->settings.stride, 50);
    assert_int_equal(s->walkers, 12);
    assert_int_equal(s->settings.switching.changes, 50);
    spec_free(s);
    s = parsed(LADDER
               "switch: {length: 600 steps, snapshots-every: 150 steps}\nintegrator: {timestep: 1 fs, mesh-every: 3}\n"
               "protocol: [{produce: {time: 600 steps, sample-every: 99 steps}}]\n");
    assert_int_equal(s->settings.switching.every, 12);
    spec_free(s);
}

/* A switch costs its timesteps and one evaluation for each change of lambda. */
static void test_prediction(void **state)
{
    (void)state;
    const double x[1][3] = {{0}};
    struct system sys = {.natoms = 1, .x = (double(*)[3])x, .box = {3, 3, 3}};
    struct spec *windows = parsed(LADDER RUN), *switches = parsed(LADDER SWITCH RUN);
    const struct prediction of_windows = spec_predict(windows, &sys), p = spec_predict(switches, &sys);
    assert_int_equal(p.replicas, 6);
    assert_true(p.switches == 10);
    assert_true(fabs(p.switch_ns - 0.005) < 1e-12);
    assert_true(fabs(p.ns - of_windows.ns - 10 * 0.005) < 1e-12);
    assert_true(spec_switching_share(switches) == 0.5 && spec_switching_share(windows) == 0);
    assert_true(p.evaluations - of_windows.evaluations == 10 * (2500 + 250));
    assert_true(p.replica_bytes > of_windows.replica_bytes);
    spec_free(windows);
    spec_free(switches);
}

static void test_refused(void **state)
{
    (void)state;
    refused(HEAD SWITCH RUN,
            SPEC("3: switch: alchemy.windows has one row; expected two or more: the ends and what is between"));
    refused(HEAD "alchemy: {perturb: b-states, windows: {vdw: [0, 1], mass: [0, 1]}}\n" SWITCH RUN,
            SPEC("4: switch: alchemy.windows.mass: the work would lack the kinetic energy of masses that change; "
                 "expected no ladder of masses"));
    refused(LADDER SWITCH "integrator: {method: velocity-verlet}\n" RUN,
            SPEC("4: switch: velocity-verlet has no thermostat; expected integrator.method langevin-middle"));
    refused(LADDER SWITCH "exchange: {every: 1 ps}\n" RUN,
            SPEC("5: exchange: walkers of a switch: section have no neighbours; expected one of both"));
    refused(LADDER SWITCH "allocate: adaptive\n" RUN,
            SPEC("5: allocate: adaptive: walkers of a switch: section are sampled alike; expected even"));
}

static void test_refused_times(void **state)
{
    (void)state;
    refused(
        LADDER "switch: {length: 5 ps}\n" RUN,
        SPEC(
            "4: switch.snapshots-every: missing; expected a quantity above 0 ps, at most 1000000000 ps (units: fs, ps, "
            "ns, us, steps), such as 10 ps"));
    refused(LADDER "switch: {length: 5.01 ps, snapshots-every: 10 ps}\n" RUN,
            SPEC("4: switch.length: 5.01 ps: 2505 timesteps; expected a multiple of switch.change-every, 10 timesteps "
                 "or 0.02 ps"));
    refused(LADDER "switch: {length: 5.001 ps, snapshots-every: 10 ps}\n" RUN,
            SPEC("4: switch.length: 5.001 ps: expected a whole multiple of the timestep, 2 fs; the nearest is 5 ps"));
    refused(LADDER "switch: {length: 10 steps, snapshots-every: 10 ps}\n" RUN,
            SPEC("4: switch.length: 10 steps: lambda would change 1 times; expected from 2 times, once for each row of "
                 "alchemy.windows but the first, to 1000000"));
    refused(
        LADDER "switch: {length: 20 steps, change-every: 1 steps, snapshots-every: 10 ps}\n" RUN,
        SPEC("4: switch.change-every: 1 steps: the work of a change is done within timesteps, of which two with a mesh "
             "have to come from one change to the next; expected 2 steps or more"));
    refused(LADDER "switch: {length: 5 ps, snapshots-every: 101 ps}\n" RUN,
            SPEC("4: switch.snapshots-every: 101 ps: longer than protocol[1].produce, 100 ps, so there would be no "
                 "switch"));
    refused(LADDER
            "switch: {length: 20 steps, change-every: 5 steps, snapshots-every: 10 ps}\n"
            "integrator: {timestep: 2 fs, mesh-every: 2}\n" RUN,
            SPEC("4: switch.change-every: 5 steps: expected a multiple of integrator.mesh-every, 2 timesteps or 0.004 "
                 "ps; the next is 6 steps, 0.012 ps"));
}

/* A constraint whose length depends on lambda: the topology says so. */
static void test_stretched(void **state)
{
    (void)state;
    static const char top[] =
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nX 12 0 A 0.3 0.5\n[ moleculetype ]\nA 3\n[ atoms ]\n"
        "1 X 1 A a 1 0 12\n2 X 1 A b 1 0 12\n[ constraints ]\n1 2 1 0.1 0.12\n[ system ]\nx\n"
        "[ molecules ]\nA 1\n";
    static const char gro[] =
        "x\n2\n    1A      a    1   0.000   0.000   0.000\n    1A      b    2   0.100   0.000   0.000\n"
        "   4.0   4.0   4.0\n";
#define STRETCHED                                                                                                      \
    HEAD "nonbonded: {cutoff: 0.9 nm, coulomb: {method: reaction-field}}\n"                                            \
         "alchemy: {perturb: b-states, windows: {bonded: [0, 1]}}\n" RUN
    struct system sys = {0};
    struct err made = system_made(STRETCHED, top, gro, "", &sys), e = {0};
    assert_string_equal(made.msg, "");
    struct spec *s = parsed(STRETCHED SWITCH);
    assert_int_equal(spec_check_windows(s, &sys, &e), -ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "s.yaml: switch: "));
    assert_non_null(strstr(e.msg,
                           "a constraint whose length depends on lambda; switches need one length: "
                           "expected a bond there, or no switches"));
    spec_free(s);
    s = parsed(STRETCHED);
    assert_int_equal(spec_check_windows(s, &sys, &e), 0);
    spec_free(s);
    system_close(&sys);
#undef STRETCHED
}

/* Later switches of a walker may be longer, by doublings; the first quarter of them is handed out first. */
static void test_longest(void **state)
{
    (void)state;
#define LONGEST(longest) "switch: {length: 5 ps, snapshots-every: 10 ps, longest: " longest "}\n"
    struct spec *s =
        parsed(LADDER LONGEST("40 ps") "protocol: [{equilibrate: {time: 1 ps}}, {produce: {time: 95 ps}}]\n");
    assert_int_equal(s->settings.switching.changes, 250);
    assert_int_equal(s->settings.switching.doublings, 3);
    assert_int_equal(s->lengthen.after, 2); /* of 9 */
    assert_true(s->allocate.rounds);
    assert_int_equal(s->allocate.before, 500);
    assert_int_equal(s->allocate.share, 47500);
    assert_int_equal(s->allocate.every, 5000);
    assert_int_equal(s->allocate.first, 10000);
    spec_free(s);
    s = parsed(LADDER SWITCH RUN);
    assert_int_equal(s->settings.switching.doublings, 0);
    assert_int_equal(s->lengthen.after, 0);
    assert_false(s->allocate.rounds);
    spec_free(s);
    s = parsed(LADDER LONGEST("10 ps") "protocol: [{produce: {time: 20 ps}}]\n");
    assert_int_equal(s->lengthen.after, 1);
    spec_free(s);
    refused(LADDER LONGEST("15 ps") RUN,
            SPEC("4: switch.longest: 15 ps: expected 2, 4, 8 or so times switch.length, 5 ps"));
    refused(LADDER LONGEST("5 ps") RUN,
            SPEC("4: switch.longest: 5 ps: expected 2, 4, 8 or so times switch.length, 5 ps"));
    refused(LADDER LONGEST("40960 ps") RUN,
            SPEC("4: switch.longest: 40960 ps: lambda would change 2048000 times; expected 1000000 times at most"));
    refused(LADDER LONGEST("10 ps") "protocol: [{produce: {time: 10 ps}}, {produce: {time: 100 ps}}]\n",
            SPEC("4: switch.longest: expected a protocol that ends with its only produce stage"));
    refused(LADDER LONGEST("10 ps") "protocol: [{produce: {time: 19 ps}}]\n",
            SPEC("4: switch.longest: a walker makes one switch, so there is no later one; expected two or more in "
                 "protocol[0].produce, 19 ps"));
#undef LONGEST
}

static void test_slopes(void **state)
{
    (void)state;
#define SLOPES(every) "switch: {length: 5 ps, snapshots-every: 10 ps, dhdl-every: " every "}\n"
    struct spec *s = parsed(LADDER SLOPES("0.5 ps") RUN);
    assert_int_equal(s->slopes_every, 250);
    spec_free(s);
    s = parsed(LADDER SWITCH RUN);
    assert_int_equal(s->slopes_every, 0);
    spec_free(s);
    refused(LADDER SLOPES("0.03 ps") RUN, SPEC("4: switch.dhdl-every: 0.03 ps: expected a multiple of "
                                               "switch.change-every, 0.02 ps, of which 2 or more are "
                                               "switch.length"));
    refused(LADDER SLOPES("15 steps") RUN, SPEC("4: switch.dhdl-every: 15 steps: expected a multiple of "
                                                "switch.change-every, 0.02 ps, of which 2 or more are "
                                                "switch.length"));
    refused(
        LADDER SLOPES("5 ps") RUN,
        SPEC("4: switch.dhdl-every: 5 ps: expected a multiple of switch.change-every, 0.02 ps, of which 2 or more are "
             "switch.length"));
#undef SLOPES
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),          cmocka_unit_test(test_windows),    cmocka_unit_test(test_shares),
        cmocka_unit_test(test_multiples),     cmocka_unit_test(test_prediction), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_times), cmocka_unit_test(test_stretched),  cmocka_unit_test(test_longest),
        cmocka_unit_test(test_slopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
