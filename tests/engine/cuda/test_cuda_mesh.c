/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh of the CUDA program, in one block and over the card, with its kernels run on the CPU (tests/lib/emulate):
 * the same bits.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cuda/mesh/mesh.h"
#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/both_devices.h"
#include "tests/lib/emulate/toy.h"

static struct outcome outcome_in_form(const struct system *sys, struct settings set, enum pme_form form)
{
    set.nonbonded.pme_form = form;
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 1);
    struct outcome o = outcome_of(&t, sys->natoms);
    toy_close(&t);
    return o;
}

static void same_bits(const struct system *sys, const struct settings *set)
{
    struct outcome card = outcome_in_form(sys, *set, PME_CARD), block = outcome_in_form(sys, *set, PME_BLOCK);
    assert_true(card.sample.energy[TERM_COULOMB_RECIPROCAL] != 0);
    same_outcome(card, block, sys, set);
}

/* One block gives the mesh's forces, energies and virial to the last bit; lengths of every factor, an odd number of
 * rows, no pair of rows; a net charge. */
static void test_mesh_forms(void **state)
{
    static const int grids[][4] = {{32, 32, 32, 4}, {30, 32, 36, 4}, {25, 25, 25, 5}, {28, 14, 18, 6},
                                   {36, 25, 24, 6}, {12, 20, 16, 4}, {24, 30, 28, 5}};
    struct system *sys = mixture(2);
    for (int k = 0; k < 7; k++) {
        struct settings set = settings_of(VDW_CUTOFF, k % 2 ? ALCHEMY_DECOUPLE : ALCHEMY_B_STATES);
        for (int d = 0; d < 3; d++)
            set.nonbonded.pme_grid[d] = grids[k][d];
        set.nonbonded.pme_order = grids[k][3];
        sys->atoms[100].charge[0] = sys->atoms[100].charge[1] = 0.3 * k;
        same_bits(sys, &set);
    }
    toy_system_free(sys);
}

/* The mesh in one block there: its waves are across the axes, and those in the middle of the third have no other half.
 */
static void test_triclinic_mesh_forms(void **state)
{
    static const int grids[3][4] = {{36, 36, 36, 4}, {25, 28, 25, 5}, {24, 25, 30, 6}};
    for (int k = 0; k < 3; k++) {
        struct system *sys = mixture(2);
        struct settings set = settings_of(VDW_CUTOFF, k ? ALCHEMY_B_STATES : ALCHEMY_DECOUPLE);
        reshape(sys, shapes[k], false);
        set.nonbonded.coulomb_cutoff = set.nonbonded.vdw_cutoff = 0.5;
        for (int d = 0; d < 3; d++)
            set.nonbonded.pme_grid[d] = grids[k][d];
        set.nonbonded.pme_order = grids[k][3];
        same_bits(sys, &set);
        toy_system_free(sys);
    }
}

/* Where most atoms are in one corner of the box, most are strays that their brick has no room for. */
static void test_mesh_strays(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    for (int d = 0; d < 3; d++) {
        sys->box[d] *= 4;
        set.nonbonded.pme_grid[d] = 32;
    }
    same_bits(sys, &set);
    toy_system_free(sys);
}

/* Charges of one sign in one half of the box: waves with energies that are rounded one by one. */
static void test_mesh_large_modes(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    for (int i = 0; i < sys->natoms; i++)
        sys->atoms[i].charge[0] = sys->atoms[i].charge[1] = sys->x[i][0] < sys->box[0] / 2 ? 0.5 : -0.5;
    for (int d = 0; d < 3; d++)
        set.nonbonded.pme_grid[d] = 32;
    struct outcome o = outcome_in_form(sys, set, PME_BLOCK);
    assert_true(o.sample.energy[TERM_COULOMB_RECIPROCAL] > 2 * 16384.0);
    free(o.f);
    same_bits(sys, &set);
    compare(sys, &set, 1);
    toy_system_free(sys);
}

/* Planes that are too large for shared memory give the same bits from global memory. */
static void test_mesh_planes(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    set.nonbonded.pme_grid[0] = set.nonbonded.pme_grid[1] = 25;
    set.nonbonded.pme_grid[2] = 36;
    struct outcome block = outcome_in_form(sys, set, PME_BLOCK);
    emulate_room(0, 800);
    struct outcome card = outcome_in_form(sys, set, PME_CARD);
    emulate_shared(0, 0);
    same_outcome(card, block, sys, &set);
    toy_system_free(sys);
}

/* Transforms in one, two and three passes, of every radix and of primes that have none. */
static void test_mesh_lengths(void **state)
{
    static const int grids[][4] = {{90, 10, 49, 4}, {22, 96, 54, 5},  {13, 80, 33, 6},
                                   {52, 34, 12, 4}, {19, 104, 20, 4}, {20, 14, 108, 4}};
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        for (int d = 0; d < 3; d++)
            set.nonbonded.pme_grid[d] = grids[k][d];
        set.nonbonded.pme_order = grids[k][3];
        compare(sys, &set, 1);
    }
    toy_system_free(sys);
}

/* A replica among many has its mesh done by one block, and the same bits. */
static void test_mesh_choice(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    struct err e = {0};
    uint32_t nodes[2];
    for (int k = 0; k < 2; k++) {
        set.replicas = k ? 8 : 7;
        struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
        toy_run(t.sim, SIM_STEP, 4);
        nodes[k] = sim_nodes_per_step(t.sim);
        toy_close(&t);
    }
    assert_int_equal(nodes[1], nodes[0] - 5);
    set.nonbonded.pme_form = PME_BLOCK;
    set.nonbonded.pme_grid[2] = 64;
    struct toy t = {0};
    assert_int_equal(emulate_open(&t.dev, "cpu:1", NULL, *cuda_program.kernels, &e), 0);
    assert_int_equal(model_new(&t.model, t.dev, sys, &set, &e), -(int)ERR_UNSUPPORTED);
    assert_non_null(strstr(e.msg, "x 64: one block cannot do it"));
    dev_close(t.dev);
    toy_system_free(sys);
}

struct ways {
    double x[2][400][3]; /* and velocities */
    double delta_u[MOST_WINDOWS];
    struct sample sample;
};

/* Steps, samples and volume moves; where `changing`, the mesh goes another way before each round. */
static struct ways go(const struct system *sys, const struct settings *set, bool changing)
{
    static const enum pme_form forms[] = {PME_BLOCK, PME_CARD, PME_CARD, PME_BLOCK, PME_CARD};
    struct ways w = {0};
    struct err e = {0};
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, set, 1);
    assert_in_range(sys->natoms, 1, 400);
    assert_int_equal(model_forms(t.model).pme, PME_CARD);
    if (sim_thermalize(t.sim, &e))
        fail_msg("%s", e.msg);
    for (int round = 0; round < 5; round++) {
        if (changing)
            model_set_pme(t.model, forms[round]);
        toy_run(t.sim, SIM_STEP, 7);
        assert_int_equal(t.sim->pme, changing ? forms[round] : PME_CARD);
        if (round == 1 || round == 4)
            w.sample = toy_sample(t.sim, w.delta_u);
        if (round == 2)
            toy_run(t.sim, SIM_BAROSTAT, 1);
    }
    if (sim_get(t.sim, w.x[0], w.x[1], NULL, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
    return w;
}

/* From one way of the mesh to the other and back, the same bits. */
static void test_mesh_change(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    set.barostat = (struct barostat_settings){.on = true, .pressure = 1, .every = 25};
    struct ways kept = go(sys, &set, false), changed = go(sys, &set, true);
    assert_memory_equal(kept.x, changed.x, sizeof kept.x);
    assert_memory_equal(kept.delta_u, changed.delta_u, sizeof kept.delta_u);
    assert_memory_equal(kept.sample.energy, changed.sample.energy, sizeof kept.sample.energy);
    toy_system_free(sys);
}

/* What is in flight goes its way to the end, and nothing more is queued behind it; without a new epoch another way is
 * drift. */
static void test_mesh_change_waits(void **state)
{
    struct system *sys = mixture(2);
    struct settings set = settings_of(VDW_CUTOFF, ALCHEMY_B_STATES);
    struct err e = {0};
    enum pme_form guess;
    struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
    assert_true(model_pme_guess(t.model, 8, &guess));
    assert_int_equal(guess, PME_BLOCK);
    toy_run(t.sim, SIM_STEP, 3);
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 2, &e), 0);
    assert_true(sim_room(t.sim));
    model_set_pme(t.model, PME_BLOCK);
    assert_false(sim_room(t.sim));
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), 0);
    assert_int_equal(t.sim->pme, PME_CARD);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sim_wait(t.sim, &e), 0);
        assert_int_equal(sim_outcome(t.sim, &e), SIM_OK);
    }
    toy_run(t.sim, SIM_STEP, 3);
    assert_int_equal(t.sim->pme, PME_BLOCK);
    assert_int_equal(sim_step_number(t.sim), 9);
    assert_int_equal(sim_check(t.sim, &e), 0);
    t.sim->pme = t.model->pme = PME_CARD;
    assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), 0); /* the graph that is there */
    assert_int_equal(sim_wait(t.sim, &e), 0);
    assert_int_equal(sim_check(t.sim, &e), -ERR_DRIFT);
    toy_close(&t);
    set.nonbonded.pme_form = PME_BLOCK;
    t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
    assert_false(model_pme_guess(t.model, 1, &guess));
    assert_int_equal(guess, PME_BLOCK);
    toy_close(&t);
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mesh_forms),        cmocka_unit_test(test_triclinic_mesh_forms),
        cmocka_unit_test(test_mesh_strays),       cmocka_unit_test(test_mesh_large_modes),
        cmocka_unit_test(test_mesh_planes),       cmocka_unit_test(test_mesh_lengths),
        cmocka_unit_test(test_mesh_choice),       cmocka_unit_test(test_mesh_change),
        cmocka_unit_test(test_mesh_change_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
