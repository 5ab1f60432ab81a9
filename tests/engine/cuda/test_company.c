/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of a gang, by the CUDA program run on the CPU (tests/lib/emulate): what one computes does not depend on its
 * company, nor on how large their blocks are; its row is what was written for it; whichever call of the device fails,
 * nobody is told what is not so.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cuda/nonbonded.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/dev_fault.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"

#define WINDOWS 3

static double lambda_table[WINDOWS][LAMBDA_COUNT] = {
    {[LAMBDA_COULOMB] = 0}, {[LAMBDA_COULOMB] = 0.4, [LAMBDA_VDW] = 0.3}, {[LAMBDA_COULOMB] = 1, [LAMBDA_VDW] = 0.7}};

static struct settings settings_of(enum alchemy kind)
{
    struct settings set = toy_settings();
    set.nonbonded.pme_spacing = 0.25; /* waves take the emulator long */
    set.integrator = (struct integrator_settings){
        .kind = INTEGRATOR_LANGEVIN_MIDDLE, .timestep = 1e-3, .temperature = 300, .seed = 7};
    set.alchemy = mixture_alchemy(kind, WINDOWS, lambda_table);
    return set;
}

enum { SMALL = 66, LARGE = 2, COMPANY = SMALL + LARGE }; /* more than one launch takes, of two models */

struct company {
    struct dev *dev;
    struct model *model[2];
    struct sim *sim[COMPANY]; /* the small ones first */
    uint32_t steps[COMPANY];
};

static void open_company(struct company *c, struct system *const sys[2], const struct settings *set)
{
    struct err e = {0};
    *c = (struct company){0};
    if (emulate_open(&c->dev, "cpu:2", NULL, *cuda_program.kernels, &e))
        fail_msg("%s", e.msg);
    for (int k = 0; k < 2; k++)
        if (model_new(&c->model[k], c->dev, sys[k], set, &e))
            fail_msg("%s", e.msg);
    for (int i = 0; i < COMPANY; i++) {
        c->steps[i] = 1 + (uint32_t)i % 3;
        if (sim_new(&c->sim[i], c->model[i >= SMALL], i % WINDOWS, (uint32_t)i, &e) || sim_thermalize(c->sim[i], &e))
            fail_msg("%s", e.msg);
    }
}

static void close_company(struct company *c)
{
    for (int i = 0; i < COMPANY; i++)
        sim_free(c->sim[i]);
    assert_null(c->dev->collector);
    for (int k = 0; k < 2; k++)
        model_free(c->model[k]);
    dev_close(c->dev);
}

/* Each alone, all at once, or some of them given up before they are launched and others while they run. */
static void test_company(void **state)
{
    struct system *sys[2] = {mixture_first(6), mixture_first(36)};
    struct settings set = settings_of(ALCHEMY_B_STATES);
    struct company c;
    struct snapshot alone[COMPANY], among[COMPANY];
    struct err e = {0};
    set.integrator.friction = 5;
    for (int together = 0; together < 2; together++) {
        struct snapshot *shots = together ? among : alone;
        open_company(&c, sys, &set);
        c.dev->limits.processors = together ? 1 : COMPANY; /* so blocks are smaller where all want one */
        for (int i = 0; i < COMPANY; i++)
            if (!together)
                toy_run(c.sim[i], SIM_STEP, c.steps[i]);
            else if (sim_submit(c.sim[i], SIM_STEP, c.steps[i], &e))
                fail_msg("%s", e.msg);
        if (together) {
            sim_free(c.sim[1]);
            engine_flush(c.dev);
            sim_free(c.sim[2]);
            c.sim[1] = c.sim[2] = NULL;
        }
        for (int i = 0; i < COMPANY; i++)
            if (c.sim[i])
                shots[i] = snapshot_of(c.sim[i], sys[i >= SMALL]->natoms);
        close_company(&c);
    }
    for (int i = 0; i < COMPANY; i++) {
        const size_t natoms = (size_t)sys[i >= SMALL]->natoms;
        if (i != 1 && i != 2) {
            assert_int_equal(among[i].step, c.steps[i]);
            assert_memory_equal(alone[i].x, among[i].x, 2 * natoms * sizeof *alone[i].x);
            free(among[i].x);
        }
        free(alone[i].x);
    }
    toy_system_free(sys[0]);
    toy_system_free(sys[1]);
}

/* What a block says that it has read is not what was written for it; what would be written is not what was. */
static void test_rows(void **state)
{
    struct system *sys = mixture_first(6);
    struct settings set = settings_of(ALCHEMY_NONE);
    struct err e = {0};
    struct buf blob = {0};
    for (int plant = 0; plant < 3; plant++) {
        struct toy t = toy_emulated(*cuda_program.kernels, NULL, sys, &set, 0);
        toy_run(t.sim, SIM_STEP, 2);
        assert_int_equal(sim_submit(t.sim, SIM_STEP, 2, &e), 0);
        assert_int_equal(sim_get(t.sim, NULL, NULL, NULL, &e), 0); /* waits */
        if (plant == 0) {
            ((struct tiny_row *)(uintptr_t)t.sim->gang.heard)->steps = 3;
            assert_int_equal(sim_outcome(t.sim, &e), -ERR_DRIFT);
            assert_string_equal(e.msg, "what ran is not what was launched: member of a gang (tiny); steps was 2, is 3");
        } else {
            set.integrator.timestep *= 2;
            assert_int_equal(sim_outcome(t.sim, &e), SIM_OK);
            assert_int_equal(plant == 1 ? sim_save(t.sim, &blob, &e) : sim_submit(t.sim, SIM_STEP, 1, &e), -ERR_DRIFT);
            assert_non_null(strstr(e.msg, "member of a gang (tiny); timestep was 0.001"));
            set.integrator.timestep /= 2;
        }
        assert_int_equal(sim_submit(t.sim, SIM_STEP, 1, &e), -ERR_DRIFT);
        toy_close(&t);
    }
    buf_free(&blob);
    toy_system_free(sys);
}

/* Two replicas want steps while call number `call` of the device fails. How many could do them. */
static int steps_with_fault(const struct system *sys, const struct settings *set, uint64_t call, bool *fired)
{
    struct dev *inner, *d;
    struct model *model;
    struct sim *sim[2];
    struct err e = {0};
    int done = 0;
    if (emulate_open(&inner, "cpu:1", NULL, *cuda_program.kernels, &e))
        fail_msg("%s", e.msg);
    d = dev_fault_new(inner);
    if (model_new(&model, d, sys, set, &e) || sim_new(&sim[0], model, 0, 0, &e) || sim_new(&sim[1], model, 0, 1, &e))
        fail_msg("%s", e.msg);
    dev_fault_fail(d, call);
    bool submitted[2];
    for (int i = 0; i < 2; i++)
        submitted[i] = !sim_submit(sim[i], SIM_STEP, 3, &e);
    for (int i = 0; i < 2; i++)
        if (submitted[i] && !sim_get(sim[i], NULL, NULL, NULL, &e) && sim_outcome(sim[i], &e) == SIM_OK)
            done += sim_step_number(sim[i]) == 3;
        else
            assert_non_null(strstr(e.msg, "planted fault"));
    *fired = dev_fault_fired(d);
    for (int i = 0; i < 2; i++)
        sim_free(sim[i]);
    model_free(model);
    assert_int_equal(dev_fault_alive(d), 0);
    dev_close(d);
    dev_close(inner);
    return done;
}

/* Whichever call fails, nobody waits for ever, nobody is told of steps that were not done, and nothing is left behind.
 */
static void test_faults(void **state)
{
    struct system *sys = mixture_first(6);
    struct settings set = settings_of(ALCHEMY_NONE);
    int failed = 0;
    bool fired = true;
    for (uint64_t call = 0; fired; call++) {
        const int done = steps_with_fault(sys, &set, call, &fired);
        failed += done < 2;
        assert_true(fired || done == 2);
    }
    assert_true(failed >= 4); /* lane, table, launch, waiting */
    toy_system_free(sys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_company), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
