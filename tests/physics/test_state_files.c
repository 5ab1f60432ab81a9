/* SPDX-License-Identifier: Apache-2.0
 *
 * What is saved of a replica and what one begins from: other versions, damage, states of their own, parts that go on in
 * another model.
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

#include "engine/run/model.h"
#include "tests/physics/state_play.h"

/* Where a state says its version, where counts of volume moves are and where those of waters, and the switch, begin.
 */
enum { VERSION_AT = 8, COUNTS_AT = 152, WATERS_AT = 168, HEAD = 264 };

/* States of versions that end before some of it: none of that is known, all else is the same. */
static void expect_older(struct toy *t, uint32_t version, size_t ends)
{
    struct buf now = {0}, before = {0}, again = {0};
    struct err e = {0};
    assert_int_equal(sim_save(t->sim, &now, &e), 0);
    buf_add(&before, now.data, ends);
    buf_add(&before, now.data + HEAD, now.len - HEAD);
    memcpy(before.data + VERSION_AT, &version, sizeof version);
    sim_seal(&before);
    assert_int_equal(sim_saved_moves(now.data, now.len).tried, 2);
    assert_int_equal(sim_saved_moves(before.data, before.len).tried, ends == COUNTS_AT ? 0 : 2);
    assert_int_equal(sim_saved_water_moves(before.data, before.len).tried, 0);
    struct sim *resumed = toy_replica(t, 0, 0);
    struct system *sys = (struct system *)t->model->sys;
    struct cmap tempered = {.share = {1, 0.5}}; /* as nothing was in such states */
    sys->ncmaps = 1, sys->cmaps = &tempered;
    assert_int_equal(sim_load(resumed, before.data, before.len, &e), -ERR_UNSUPPORTED);
    sys->ncmaps = 0, sys->cmaps = NULL;
    assert_int_equal(sim_load(resumed, before.data, before.len, &e), 0);
    assert_int_equal(sim_save(resumed, &again, &e), 0);
    memset(now.data + ends, 0, HEAD - ends);
    assert_int_equal(again.len, now.len);
    assert_memory_equal(again.data, now.data, now.len);
    memcpy(before.data + VERSION_AT, (&(uint32_t){2}), sizeof version);
    sim_seal(&before);
    assert_int_equal(sim_load(resumed, before.data, before.len, &e), -ERR_UNSUPPORTED);
    sim_free(resumed);
    buf_free(&now);
    buf_free(&before);
    buf_free(&again);
}

static void test_older(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct toy t = state_start(&set);
    state_march(t.sim, 0, 20, 10, true);
    expect_older(&t, 4, WATERS_AT);
    expect_older(&t, 3, COUNTS_AT);
    toy_close(&t);
}

static void test_bad_blobs(void **state)
{
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    struct toy t = toy_open(state_water, &set, 0);
    struct err e = {0};
    struct buf b = {0};
    assert_int_equal(sim_save(t.sim, &b, &e), 0);
    sim_seal(&b);
    assert_int_equal(sim_load(t.sim, b.data, b.len, &e), 0);
    for (size_t i = 0; i < b.len; i += 1 + b.len / 50) {
        b.data[i] ^= 1;
        assert_int_equal(sim_load(t.sim, b.data, b.len, &e), -ERR_CHECKPOINT);
        b.data[i] ^= 1;
    }
    assert_int_equal(sim_load(t.sim, b.data, b.len - 1, &e), -ERR_CHECKPOINT);
    assert_int_equal(sim_load(t.sim, b.data, 20, &e), -ERR_CHECKPOINT);
    assert_string_equal(e.msg, "not the state of a replica (20 bytes)");
    struct system *other = toy_system(2, 4);
    struct toy u = toy_open(other, &set, 0);
    assert_int_equal(sim_load(u.sim, b.data, b.len, &e), -ERR_CHECKPOINT);
    assert_string_equal(e.msg, "state of 648 atoms, the system has 2");
    toy_close(&u);
    toy_system_free(other);
    toy_close(&t);
    buf_free(&b);
}

/* Each window begins at coordinates and in a box of its own, with molecules made whole in that box. */
static void test_starts(void **state)
{
    struct system *two = toy_water(6);
    struct settings set = state_settings(INTEGRATOR_LANGEVIN_MIDDLE);
    double lambda[2][LAMBDA_COUNT] = {{0}, {[LAMBDA_VDW] = 1}};
    struct err e = {0};
    int n = two->natoms;
    set.alchemy.nwindows = two->nstarts = 2;
    set.alchemy.lambda = lambda;
    two->starts = xcalloc(2, sizeof *two->starts);
    for (int w = 0; w < 2; w++) {
        struct start *from = &two->starts[w];
        from->x = xcalloc((size_t)n, sizeof *from->x);
        memcpy(from->box, two->box, sizeof from->box);
        for (int d = 0; d < 3; d++)
            from->box[d] *= w ? 1.02 : 1;
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++)
                from->x[i][d] = two->x[i][d] + 0.01 * w;
        from->x[1][0] += from->box[0]; /* a hydrogen, of a molecule that is whole otherwise */
    }
    two->starts[1].v = xcalloc((size_t)n, sizeof *two->starts[1].v);
    two->starts[1].v[0][2] = 0.25;
    double(*x)[3] = xcalloc((size_t)n, sizeof *x), box[BOX_SIZE];
    for (int w = 0; w < 2; w++) {
        struct toy t = toy_open(two, &set, w);
        assert_int_equal(sim_get(t.sim, x, NULL, box, &e), 0);
        assert_memory_equal(box, two->starts[w].box, sizeof box);
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++)
                assert_true(fabs(x[i][d] - two->x[i][d] - 0.01 * w) < 1e-12);
        double delta_u[2];
        struct sample s = toy_sample(t.sim, delta_u);
        assert_true(w ? s.kinetic > 0 : s.kinetic == 0);
        toy_close(&t);
    }
    free(x);
    toy_system_free(two);
}

/* What a replica of another model goes on from: the same positions and the velocities of that moment, whichever
 * timestep they came by, and no minimization under way. */
static void test_part(void **state)
{
    struct settings set = state_settings(INTEGRATOR_VELOCITY_VERLET), other = set;
    struct err e = {0};
    struct buf blob = {0};
    double du;
    other.integrator.timestep = 0.0005;
    struct toy t = state_start(&set);
    state_march(t.sim, 0, 20, 10, false);
    struct sample before = toy_sample(t.sim, &du);
    assert_int_equal(sim_part(t.sim, &e), 0);
    struct sample after = toy_sample(t.sim, &du);
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    sim_seal(&blob);
    toy_close(&t);
    t = toy_open(state_water, &other, 0);
    assert_int_equal(sim_load(t.sim, blob.data, blob.len, &e), 0);
    assert_int_equal(sim_step_number(t.sim), 20);
    struct sample there = toy_sample(t.sim, &du);
    assert_true(there.potential == before.potential);
    assert_true(fabs(after.kinetic / before.kinetic - 1) < 1e-12);
    assert_true(fabs(there.kinetic / before.kinetic - 1) < 1e-12);
    state_march(t.sim, 0, 40, 10, false);
    struct sample later = toy_sample(t.sim, &du);
    assert_true(fabs(later.potential + later.kinetic - before.potential - before.kinetic) < 0.01 * before.kinetic);

    sim_minimize_setup(t.sim, 100);
    toy_run(t.sim, SIM_MINIMIZE, 5);
    assert_int_equal(sim_part(t.sim, &e), 0);
    double force, potential;
    assert_false(sim_minimized(t.sim, &force, &potential));
    blob.len = 0;
    assert_int_equal(sim_save(t.sim, &blob, &e), 0);
    toy_close(&t);
    buf_free(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_older),
        cmocka_unit_test(test_bad_blobs),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_part),
    };
    return cmocka_run_group_tests(tests, state_set_up, state_tear_down);
}
