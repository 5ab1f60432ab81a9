/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas that exchange windows take half a kick by the forces of the window that they leave (SIM_KICK), and the other
 * half by those of the window that they come to. Without that, exchanges would add a mean force to those of the
 * windows.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/near.h"
#include "tests/physics/switch_play.h"

#define CONSTANT 10000.0 /* kJ/mol/nm^2 */
#define MASS 12.0
#define TIMESTEP 0.008

/* Of wells (switch_wells). */
static struct settings exchanging(void)
{
    struct settings set = switch_settings_of_ends(0, 0);
    set.switching = (struct switch_settings){0};
    set.integrator.timestep = TIMESTEP;
    set.integrator.friction = 0;
    set.exchange = EXCHANGE_NEIGHBOURS;
    return set;
}

static double place_of(struct sim *s)
{
    double x[1][3];
    struct err e = {0};
    assert_int_equal(sim_get(s, x, NULL, NULL, &e), 0);
    return x[0][0];
}

/* From rest, 0.01 nm from the middle of A's well, without friction: how far it goes in a timestep in B's. */
static double after_a_timestep(struct sim *s, bool kick)
{
    const double v[1][3] = {{0}};
    double x[1][3], box[BOX_SIZE];
    struct err e = {0};
    assert_int_equal(sim_get(s, x, NULL, box, &e), 0);
    x[0][0] += 0.01;
    assert_int_equal(sim_put(s, (const double(*)[3])x, v, box, &e), 0);
    if (kick)
        toy_run(s, SIM_KICK, 1);
    sim_place(s, 1, 0);
    toy_run(s, SIM_STEP, 1);
    return place_of(s) - x[0][0];
}

static void test_halves(void **state)
{
    const double far = 0.1, unit = CONSTANT * TIMESTEP * TIMESTEP / MASS; /* a step by a whole kick, for a nm */
    struct system *sys = switch_wells(1, far, CONSTANT);
    const struct settings set = exchanging();
    struct toy t = toy_open(sys, &set, 0);
    struct sim *other = toy_replica(&t, 0, 0);
    near(after_a_timestep(t.sim, false), unit * (far - 0.01), 1e-6);
    const double first = after_a_timestep(other, true), next = place_of(other);
    near(first, unit * (-0.01 + far - 0.01) / 2, 1e-6);
    toy_run(other, SIM_STEP, 1); /* a whole kick again */
    near(place_of(other) - next, first + unit * (far - 0.01 - first), 1e-6);
    sim_free(other);
    toy_close(&t);
    toy_system_free(sys);
}

/* A state that is saved between the two halves goes on bit by bit. */
static void test_saved(void **state)
{
    struct system *sys = switch_wells(1, 0.1, CONSTANT);
    const struct settings set = exchanging();
    struct toy t = toy_open(sys, &set, 1);
    struct sim *other = toy_replica(&t, 1, 0);
    struct buf saved = {0};
    struct err e = {0};
    const double begin = place_of(t.sim);
    toy_run(t.sim, SIM_STEP, 10);
    toy_run(t.sim, SIM_KICK, 1);
    assert_int_equal(sim_save(t.sim, &saved, &e), 0);
    sim_seal(&saved);
    assert_int_equal(sim_load(other, saved.data, saved.len, &e), 0);
    buf_free(&saved);
    toy_run(t.sim, SIM_STEP, 5);
    toy_run(other, SIM_STEP, 5);
    assert_true(place_of(t.sim) == place_of(other) && place_of(other) != begin);
    sim_free(other);
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halves), cmocka_unit_test(test_saved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
