/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica's bits: the same eager or replayed, in one go or in pieces, interrupted and loaded into a fresh replica,
 * with or without samples in between. Water that starts from a lattice, so that lists are rebuilt often.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/physics/state_play.h"

static void check_restart(struct settings set, bool npt)
{
    struct settings eager = set;
    struct state_final whole = {0}, pieces = {0}, resumed = {0}, sampled = {0};
    struct toy t = state_start(&set);
    state_march(t.sim, 0, 60, 10, npt);
    state_finish(t.sim, &whole);
    toy_close(&t);

    eager.check_every = 1; /* a fresh tape each step */
    t = state_start(&eager);
    state_march(t.sim, 0, 60, 5, npt);
    state_finish(t.sim, &pieces);
    state_same(&whole, &pieces);
    toy_close(&t);

    struct err e = {0};
    struct buf blob = {0};
    t = state_start(&set);
    state_march(t.sim, 0, 30, 2, npt);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    toy_close(&t);
    t = toy_open(state_water, &set, 0);
    assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
    assert_int_equal(sim_step_number(t.sim), 30);
    state_march(t.sim, 30, 60, 1, npt);
    state_finish(t.sim, &resumed);
    state_same(&whole, &resumed);
    toy_close(&t);

    /* the saved count of tapes differs by the samples, what follows from x and v does not */
    double du;
    t = state_start(&set);
    for (int i = 0; i < 60; i += 10) {
        state_march(t.sim, i, i + 10, 5, npt);
        toy_sample(t.sim, &du);
    }
    state_finish(t.sim, &sampled);
    assert_memory_equal(whole.state.data + whole.state.len - 11 * sizeof(double),
                        sampled.state.data + sampled.state.len - 11 * sizeof(double), 11 * sizeof(double));
    toy_close(&t);
    buf_free(&blob);
    buf_free(&whole.state);
    buf_free(&pieces.state);
    buf_free(&resumed.state);
    buf_free(&sampled.state);
}

static void test_langevin(void **state)
{
    check_restart(state_settings(INTEGRATOR_LANGEVIN_MIDDLE), false);
}

static void test_langevin_npt(void **state)
{
    check_restart(state_settings(INTEGRATOR_LANGEVIN_MIDDLE), true);
}

/* Lists that were built in a box of another shape. */
static void test_shapes(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    for (set.barostat.coupling = VOLUME_SEMI_ISOTROPIC; set.barostat.coupling <= VOLUME_ANISOTROPIC;
         set.barostat.coupling++)
        if (!toy_refuses(state_water, &set))
            check_restart(set, true);
}

static void test_verlet(void **state)
{
    check_restart(state_settings(INTEGRATOR_VELOCITY_VERLET), false);
}

/* Minimization too can be interrupted. */
static void test_minimize(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct state_final whole = {0}, resumed = {0};
    struct buf blob = {0};
    struct err e = {0};
    struct toy t = toy_open(state_water, &set, 0);
    sim_minimize_setup(t.sim, 1);
    toy_run(t.sim, SIM_MINIMIZE, 30);
    state_finish(t.sim, &whole);
    toy_close(&t);
    t = toy_open(state_water, &set, 0);
    sim_minimize_setup(t.sim, 1);
    toy_run(t.sim, SIM_MINIMIZE, 13);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    toy_close(&t);
    t = toy_open(state_water, &set, 0);
    assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
    sim_minimize_setup(t.sim, 1);
    toy_run(t.sim, SIM_MINIMIZE, 17);
    state_finish(t.sim, &resumed);
    state_same(&whole, &resumed);
    toy_close(&t);
    buf_free(&blob);
    buf_free(&whole.state);
    buf_free(&resumed.state);
}

/* A state that was fetched is the one that is saved, until there is another. */
static void test_fetched(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct err e = {0};
    struct state_final plain = {0}, fetched[2] = {0};
    for (int way = 0; way < 3; way++) {
        struct toy t = state_start(&set);
        for (int half = 0; half < 2; half++) {
            toy_run(t.sim, SIM_STEP, 10);
            if (way == 2 || way == half + 1)
                assert_int_equal(sim_fetch(t.sim, &e), 0);
            while (!sim_done(t.sim))
                assert_int_equal(t.dev->ops->poll(t.dev, 100, &e), 0);
        }
        state_finish(t.sim, way ? &fetched[way - 1] : &plain);
        toy_close(&t);
    }
    for (int i = 0; i < 2; i++) {
        state_same(&plain, &fetched[i]);
        buf_free(&fetched[i].state);
    }
    buf_free(&plain.state);
}

/* Replicas on one device at the same time do not disturb each other, and differ by their random numbers. */
static void test_neighbours(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct err e = {0};
    struct toy t = toy_open(state_water, &set, 0);
    struct sim *together[3];
    struct state_final alone = {0}, among[3] = {0};
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, 20);
    state_finish(t.sim, &alone);
    for (int i = 0; i < 3; i++) {
        together[i] = toy_replica(&t, 0, i == 2 ? 1 : 0);
        assert_int_equal(sim_thermalize(together[i], &e), 0);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(sim_submit(together[i], SIM_STEP, 20, &e), 0);
    for (int i = 0; i < 3; i++) {
        state_finish(together[i], &among[i]);
        sim_free(together[i]);
    }
    state_same(&alone, &among[0]);
    state_same(&alone, &among[1]);
    assert_memory_not_equal(alone.state.data, among[2].state.data, alone.state.len);
    toy_close(&t);
    buf_free(&alone.state);
    for (int i = 0; i < 3; i++)
        buf_free(&among[i].state);
}

/* Water in a corner of a large box overflows lists sized for the mean density. The replica grows and its bits do not
 * show it: grown by a sample beforehand, or in the first step. */
static void test_grow(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct system *corner = toy_water(6);
    for (int d = 0; d < 3; d++)
        corner->box[d] *= 2.5;
    struct err e = {0};
    struct state_final early = {0}, late = {0};
    struct toy t = toy_open(corner, &set, 0);
    assert_int_equal(sim_submit(t.sim, SIM_SAMPLE, 1, &e), 0);
    assert_int_equal(sim_get(t.sim, NULL, NULL, NULL, &e), 0);
    assert_int_equal(sim_outcome(t.sim, &e), SIM_GROW);
    assert_int_equal(sim_steps_done(t.sim), 0);
    double du;
    toy_sample(t.sim, &du);
    state_march(t.sim, 0, 20, 10, true);
    state_finish(t.sim, &early);
    toy_close(&t);
    t = toy_open(corner, &set, 0);
    state_march(t.sim, 0, 20, 10, true);
    state_finish(t.sim, &late);
    assert_memory_equal(early.state.data + early.state.len - 11 * sizeof(double),
                        late.state.data + late.state.len - 11 * sizeof(double), 11 * sizeof(double));
    assert_memory_equal(early.box, late.box, sizeof early.box);
    toy_close(&t);
    toy_system_free(corner);
    buf_free(&early.state);
    buf_free(&late.state);
}

/* From one saved state: salt 0 changes nothing, two salts give two ways on, and each of them is exact. */
static void test_salt(void **state)
{
    (void)state;
    static const uint32_t salts[] = {0, 1, 2, 1};
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct state_final plain = {0}, end[4] = {0};
    struct buf blob = {0};
    struct err e = {0};
    struct toy t = state_start(&set);
    state_march(t.sim, 0, 10, 10, false);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    state_march(t.sim, 10, 20, 10, false);
    state_finish(t.sim, &plain);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
        sim_salt(t.sim, salts[i]);
        state_march(t.sim, 10, 20, 10, false);
        state_finish(t.sim, &end[i]);
    }
    state_same(&plain, &end[0]);
    state_same(&end[1], &end[3]);
    assert_memory_not_equal(end[0].state.data, end[1].state.data, end[0].state.len);
    assert_memory_not_equal(end[1].state.data, end[2].state.data, end[1].state.len);
    for (int i = 0; i < 4; i++)
        buf_free(&end[i].state);
    buf_free(&plain.state);
    buf_free(&blob);
    toy_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_langevin),   cmocka_unit_test(test_langevin_npt), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_verlet),     cmocka_unit_test(test_minimize),     cmocka_unit_test(test_fetched),
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_grow),         cmocka_unit_test(test_salt),
    };
    return cmocka_run_group_tests(tests, state_set_up, state_tear_down);
}
