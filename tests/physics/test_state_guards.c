/* SPDX-License-Identifier: Apache-2.0
 *
 * What guards a replica's bits: tapes and read-only tables that change are found, and looks at copies under way do no
 * harm.
 */
#undef NDEBUG
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/model.h"
#include "tests/physics/state_play.h"

/* Every tape of a replica is checked: when enough steps of the replica have passed, and whenever a state is saved. Here
 * the settings change under a live tape. */
static void test_drift_of_each_tape(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    set.check_every = 30;
    struct buf blob = {0};
    struct err e = {0};
    struct toy t = state_start(&set);
    double du;
    for (int i = 0; i < 3; i++) {
        toy_run(t.sim, SIM_STEP, 2);
        toy_run(t.sim, SIM_BAROSTAT, 1);
        toy_sample(t.sim, &du);
    }
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    set.barostat.pressure *= 2;
    toy_run(t.sim, SIM_STEP, 10);
    toy_run(t.sim, SIM_BAROSTAT, 1); /* not yet due */
    toy_run(t.sim, SIM_STEP, 20);
    assert_int_equal(toy_try(t.sim, SIM_BAROSTAT, 1, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "(volume_decide); pressure was"));
    toy_close(&t);

    set.barostat.pressure /= 2;
    t = toy_open(state_water, &set, 0);
    for (int i = 0; i < 3; i++)
        toy_sample(t.sim, &du);
    set.integrator.timestep *= 0.01;
    assert_int_equal(sim_save(t.sim, &blob, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "(velocities); timestep was"));
    toy_close(&t);
    buf_free(&blob);
}

/* Flips a bit of byte `at` of a table in device memory. */
static void damage(struct toy *t, const struct readonly *r, size_t at)
{
    struct err e = {0};
    struct lane *lane;
    unsigned char byte, *device = (unsigned char *)(uintptr_t)r->span.start + at;
    const struct dev_ops *ops = t->dev->ops;
    assert_int_equal(ops->lane_new(t->dev, &lane, &e), 0);
    assert_int_equal(ops->copy(t->dev, lane, &byte, device, 1, &e), 0);
    byte ^= 4;
    assert_int_equal(ops->copy(t->dev, lane, device, &byte, 1, &e), 0);
    ops->lane_free(t->dev, lane);
}

static size_t table_at(const struct readonly *r, const char *name)
{
    for (size_t i = 0; i < r->nparts; i++)
        if (!strcmp(r->parts[i].name, name))
            return r->parts[i].at;
    fail_msg("no table %s", name);
    return 0;
}

/* What all replicas read is compared with what was uploaded, as often as tapes are; one replica finds it, all stop. */
static void test_damaged_tables(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    set.check_every = 30;
    struct err e = {0};
    struct buf blob = {0};
    struct toy t = state_start(&set);
    struct sim *other = toy_replica(&t, 0, 1), *late;
    damage(&t, &t.model->shared, table_at(&t.model->shared, "from->mass") + 8 * 33 + 2);
    toy_run(t.sim, SIM_STEP, 10); /* not yet due */
    toy_run(t.sim, SIM_STEP, 20);
    assert_int_equal(toy_try(t.sim, SIM_STEP, 1, &e), -ERR_DRIFT);
    assert_string_equal(
        e.msg,
        "read-only tables have changed: mass, byte 266 of 10368, was 0xa5, is 0xa1; 1 byte of all tables differs");
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), -ERR_DRIFT);
    assert_int_equal(sim_submit(other, SIM_STEP, 1, &e), -ERR_DRIFT);
    assert_true(model_damaged(t.model));
    sim_free(other);
    toy_close(&t);

    t = state_start(&set);
    const struct readonly *r = t.model->program->nonbonded_tables(t.model->nonbonded);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    damage(&t, r, r->nparts ? r->parts[r->nparts - 1].at + 1 : 0); /* the parameters, whatever device this is */
    assert_int_equal(sim_save(t.sim, &blob, &e), -ERR_DRIFT);
    assert_non_null(strstr(e.msg, "byte 1 of"));
    late = toy_replica(&t, 0, 1);
    assert_int_equal(sim_submit(late, SIM_SAMPLE, 1, &e), -ERR_DRIFT);
    sim_free(late);
    toy_close(&t);
    buf_free(&blob);
}

/* A mark that is passed at one look and not at the next, whenever that may be. */
static uint64_t flicker, stopped;

static void *flickering(void *arg)
{
    while (!__atomic_load_n(&stopped, __ATOMIC_ACQUIRE))
        __atomic_fetch_xor(&flicker, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&flicker, 1, __ATOMIC_RELEASE);
    return NULL;
}

static int flickering_mark(struct dev *dev, struct lane *lane, struct mark *out, struct err *e)
{
    *out = (struct mark){&flicker, 1};
    return dev->ops->copy(dev, lane, NULL, NULL, 0, e); /* waits for all copies */
}

/* However the end of a copy falls between two looks at it, the last report stays the one that answers are about. */
static void test_end_of_copies(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct toy t = state_start(&set);
    struct err e = {0};
    struct dev_ops ops = *t.dev->ops;
    const struct dev_ops *theirs = t.dev->ops;
    pthread_t thread;
    double(*x)[3] = xcalloc((size_t)state_water->natoms, sizeof *x);
    ops.mark = flickering_mark;
    t.dev->ops = &ops;
    assert_int_equal(pthread_create(&thread, NULL, flickering, NULL), 0);
    for (int i = 1; i <= 100; i++) {
        toy_run(t.sim, SIM_STEP, 1);
        for (int k = 0; k < 20; k++) {
            sim_tune_volume(t.sim, true); /* what was fetched before is forgotten */
            assert_int_equal(sim_get(t.sim, x, NULL, NULL, &e), 0);
            assert_int_equal(sim_step_number(t.sim), i);
        }
    }
    __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    t.dev->ops = theirs;
    free(x);
    toy_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift_of_each_tape),
        cmocka_unit_test(test_damaged_tables),
        cmocka_unit_test(test_end_of_copies),
    };
    return cmocka_run_group_tests(tests, state_set_up, state_tear_down);
}
