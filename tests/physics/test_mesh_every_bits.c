/* SPDX-License-Identifier: Apache-2.0
 *
 * Timesteps of which most leave out the mesh (integrator.mesh-every): what must not change any bit of them.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/physics/mesh_every_play.h"

static struct settings noisy(int every)
{
    struct settings set = mesh_every_settings(every, 0.001);
    set.integrator.friction = 5;
    set.integrator.com_every = 7;
    return set;
}

/* Left out or 1: the same. */
static void test_every_step(void **state)
{
    struct system *sys = mesh_every_salt();
    struct mesh_state got[2];
    for (int every = 0; every < 2; every++) {
        const struct settings set = noisy(every);
        struct toy t = mesh_every_moving(sys, &set);
        toy_run(t.sim, SIM_STEP, 25);
        mesh_every_get(t.sim, &got[every]);
        toy_close(&t);
    }
    assert_memory_equal(got[0].x, got[1].x, MESH_IONS * sizeof *got[0].x);
    toy_system_free(sys);
}

/* A sample is of all forces, once each, however long cycles are: the same as with the mesh in every step. */
static void test_samples(void **state)
{
    struct system *sys = mesh_every_salt();
    struct mesh_state at;
    struct sample sample[2];
    double du[2], f[2][MESH_IONS][3];
    struct err e = {0};
    for (int k = 0; k < 2; k++) {
        const struct settings set = noisy(k ? 1 : MESH_MOST);
        struct toy t = mesh_every_moving(sys, &set);
        if (k)
            mesh_every_put(sys, t.sim, &at);
        else
            toy_run(t.sim, SIM_STEP, 2 * MESH_MOST);
        sample[k] = toy_sample(t.sim, &du[k]);
        assert_int_equal(sim_forces(t.sim, f[k], &e), 0);
        mesh_every_get(t.sim, &at);
        toy_close(&t);
    }
    assert_memory_equal(f[0], f[1], sizeof f[0]);
    assert_memory_equal(sample[0].energy, sample[1].energy, sizeof sample[0].energy);
    assert_memory_equal(sample[0].virial, sample[1].virial, sizeof sample[0].virial);
    assert_true(sample[0].energy[TERM_COULOMB_RECIPROCAL] != 0);
    toy_system_free(sys);
}

static struct mesh_state undisturbed(const struct system *sys, const struct settings *set, uint32_t steps)
{
    struct toy t = mesh_every_moving(sys, set);
    struct mesh_state out;
    toy_run(t.sim, SIM_STEP, steps);
    mesh_every_get(t.sim, &out);
    toy_close(&t);
    return out;
}

/* In pieces, with samples and volume moves that change nothing in between, from bytes that were saved: the same. */
static void test_interrupted(void **state)
{
    struct system *sys = mesh_every_salt();
    for (int every = 2; every <= MESH_MOST; every++) {
        const struct settings set = noisy(every);
        const uint32_t cycle = (uint32_t)every;
        const struct mesh_state wanted = undisturbed(sys, &set, 12 * cycle);
        struct toy t = mesh_every_moving(sys, &set);
        struct buf saved = {0};
        struct err e = {0};
        struct mesh_state got;
        double du;
        toy_run(t.sim, SIM_STEP, cycle);
        toy_sample(t.sim, &du);
        toy_run(t.sim, SIM_STEP, 4 * cycle);
        assert_int_equal(sim_save(t.sim, &saved, &e), 0);
        sim_seal(&saved);
        struct sim *other = toy_replica(&t, 0, 0);
        assert_int_equal(sim_load(other, saved.data, saved.len, &e), 0);
        toy_run(other, SIM_STEP, 7 * cycle);
        mesh_every_get(other, &got);
        assert_memory_equal(got.x, wanted.x, MESH_IONS * sizeof *got.x);
        assert_int_equal(sim_submit(other, SIM_STEP, cycle + 1, &e), -ERR_INTERNAL);
        sim_free(other);
        buf_free(&saved);
        toy_close(&t);
    }
    toy_system_free(sys);
}

/* Over the card or in one block, where a device has two ways: the same. */
static void test_forms(void **state)
{
    struct system *sys = mesh_every_salt();
    struct settings set = noisy(1);
    set.nonbonded.pme_form = PME_BLOCK;
    const bool one_way = toy_refuses(sys, &set);
    for (int every = 2; every <= MESH_MOST && !one_way; every++) {
        set = noisy(every);
        set.nonbonded.pme_form = PME_BLOCK;
        const struct mesh_state block = undisturbed(sys, &set, 4 * (uint32_t)every);
        set.nonbonded.pme_form = PME_CARD;
        const struct mesh_state card = undisturbed(sys, &set, 4 * (uint32_t)every);
        assert_memory_equal(block.x, card.x, MESH_IONS * sizeof *block.x);
    }
    toy_system_free(sys);
}

/* Entries of the list at the start, as a list that is too short says. */
static uint32_t entries_at_start(const struct system *sys, const struct settings *set)
{
    struct toy t = toy_open(sys, set, 0);
    struct err e = {0};
    t.sim->caps.entries = 1;
    assert_int_equal(sim_submit(t.sim, SIM_STEP, MESH_MOST, &e), 0);
    assert_int_equal(sim_wait(t.sim, &e), 0);
    const double needed = sim_heard(t.sim)->ctl.value;
    assert_int_equal(sim_outcome(t.sim, &e), SIM_GROW);
    toy_close(&t);
    return (uint32_t)needed;
}

static struct mesh_state marched(const struct toy *t, uint32_t replica, uint32_t entries, int *within)
{
    const uint32_t steps = 20 * MESH_MOST;
    struct sim *s = toy_replica(t, 0, replica);
    struct err e = {0};
    struct mesh_state out;
    if (entries)
        s->caps.entries = entries;
    assert_int_equal(sim_thermalize(s, &e), 0);
    for (uint32_t done = 0; done < steps;) {
        assert_int_equal(sim_submit(s, SIM_STEP, steps - done, &e), 0);
        assert_int_equal(sim_wait(s, &e), 0);
        const int rc = sim_outcome(s, &e);
        done += sim_steps_done(s);
        assert_true(rc == SIM_GROW || (rc == SIM_OK && done == steps));
        *within += done % MESH_MOST != 0;
    }
    mesh_every_get(s, &out);
    sim_free(s);
    return out;
}

/* A list becomes too short in the middle of a cycle: what is left of that goes on where it was. */
static void test_grown(void **state)
{
    enum { REPLICAS = 6 };
    struct system *sys = mesh_every_salt();
    struct settings set = noisy(MESH_MOST);
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = 0.55; /* searches reach nearly to the second neighbours */
    set.nonbonded.vdw_switch = 0.45;
    set.nonbonded.list_buffer = 0.01; /* lists that are soon made anew */
    const uint32_t entries = entries_at_start(sys, &set);
    struct toy t = toy_open(sys, &set, 0);
    int within = 0, never = 0;
    for (uint32_t r = 0; r < REPLICAS; r++) {
        const struct mesh_state wanted = marched(&t, r, 0, &never), got = marched(&t, r, entries, &within);
        assert_memory_equal(got.x, wanted.x, MESH_IONS * sizeof *got.x);
        assert_memory_equal(got.v, wanted.v, MESH_IONS * sizeof *got.v);
    }
    print_message("grown within a cycle: %d of %d\n", within, REPLICAS);
    assert_int_equal(never, 0);
    assert_true(within > 0);
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_step), cmocka_unit_test(test_interrupted), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_samples),    cmocka_unit_test(test_grown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
