/* SPDX-License-Identifier: Apache-2.0
 *
 * Several replicas share a device whose memory comes in slabs, as a GPU's does, and the lists of one become too short
 * while all are at work: the device is asked for nothing, and none of them, the one that grows included, has other bits
 * than without. On the CPU device and by the CUDA program, run on the CPU.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/sim_parts.h"
#include "graphs/pool.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"

enum { REPLICAS = 4, GROWS = 1, STEPS = 20 };

static double lambda_table[REPLICAS][LAMBDA_COUNT] = {
    {0}, {[LAMBDA_VDW] = 0.3}, {[LAMBDA_VDW] = 0.7}, {[LAMBDA_VDW] = 1}};

/* ---- slabs as short as can be: what a replica has never fits what another left over by chance ---- */

static struct pool_source heap;
static unsigned slabs; /* made or given back so far */

static int slab_new(void *ctx, size_t bytes, void **device, void **host, struct err *e)
{
    slabs++;
    return heap.slab_new(ctx, bytes, device, host, e);
}

static void slab_free(void *ctx, void *device, void *host)
{
    slabs++;
    heap.slab_free(ctx, device, host);
}

struct pool *__real_pool_new(const struct pool_source *source);
struct pool *__wrap_pool_new(const struct pool_source *source);

struct pool *__wrap_pool_new(const struct pool_source *source)
{
    heap = *source;
    return __real_pool_new(&(struct pool_source){
        .ctx = source->ctx, .slab_new = slab_new, .slab_free = slab_free, .slab_bytes = POOL_ALIGN, .growth = 1.3});
}

/* ---- replicas ---- */

static struct program program; /* of the device, but for what it guesses */
static void (*guess)(const struct nonbonded *nb, struct list_caps *caps);

/* What is too short: the lists, or on a GPU the near ones alone. */
static enum shortage { LISTS, NEAR_LISTS } shortage;

static void guess_short(const struct nonbonded *nb, struct list_caps *caps)
{
    guess(nb, caps);
    caps->entries /= shortage == LISTS ? 3 : 1;
    caps->near /= shortage == NEAR_LISTS ? 16 : 1;
}

static void open_replicas(const struct toy *t, struct sim **sim, bool grows)
{
    struct err e = {0};
    program = *t->model->program;
    guess = program.caps_guess;
    t->model->program = &program;
    for (int i = 0; i < REPLICAS; i++) {
        program.caps_guess = grows && i == GROWS ? guess_short : guess;
        sim[i] = toy_replica(t, i, (uint32_t)i);
        if (sim_thermalize(sim[i], &e))
            fail_msg("%s", e.msg);
    }
}

/* Through growing, which the others do not wait for; how often that was. */
static int carry_out(const struct toy *t, struct sim *const *sim)
{
    struct err e = {0};
    int grown = 0;
    for (int i = 0; i < REPLICAS; i++)
        assert_int_equal(sim_submit(sim[i], SIM_STEP, STEPS, &e), 0);
    for (int busy = REPLICAS; busy;) {
        engine_flush(t->dev);
        assert_int_equal(t->dev->ops->poll(t->dev, 100, &e), 0);
        for (int i = 0; i < REPLICAS; i++) {
            if (sim_heard(sim[i])->ctl.done == STEPS || !sim_done(sim[i]))
                continue;
            int rc = sim_outcome(sim[i], &e);
            if (rc < 0)
                fail_msg("%s", e.msg);
            grown += rc == SIM_GROW;
            busy -= rc == SIM_OK;
            if (rc == SIM_GROW)
                assert_int_equal(sim_submit(sim[i], SIM_STEP, STEPS - sim_steps_done(sim[i]), &e), 0);
        }
    }
    return grown;
}

static void run(struct kernel_table kernels, const struct system *sys, bool grows, struct snapshot *shots)
{
    struct settings set = toy_settings();
    struct sim *sim[REPLICAS];
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.friction = 1;
    set.alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, REPLICAS, lambda_table);
    struct toy t = {0};
    struct err e = {0};
    if (emulate_open(&t.dev, "cpu:2", NULL, kernels, &e) || model_new(&t.model, t.dev, sys, &set, &e))
        fail_msg("%s", e.msg);
    open_replicas(&t, sim, grows);
    const size_t before = sim_device_bytes(sim[GROWS]);
    const unsigned given = slabs;
    assert_int_equal(carry_out(&t, sim) > 0, grows);
    if (shortage != NEAR_LISTS) /* which are a share of each row's room */
        assert_int_equal(sim_device_bytes(sim[GROWS]) > before, grows);
    assert_int_equal(slabs, given);
    for (int i = 0; i < REPLICAS; i++) {
        shots[i] = snapshot_of(sim[i], sys->natoms);
        assert_int_equal(shots[i].step, STEPS);
        sim_free(sim[i]);
    }
    toy_close(&t);
}

static void check(struct kernel_table kernels, enum shortage of)
{
    struct system *sys = mixture(2);
    struct snapshot quiet[REPLICAS], grown[REPLICAS];
    shortage = of;
    run(kernels, sys, false, quiet);
    run(kernels, sys, true, grown);
    for (int i = 0; i < REPLICAS; i++) {
        assert_memory_equal(quiet[i].x, grown[i].x, 2 * (size_t)sys->natoms * sizeof *quiet[i].x);
        assert_memory_not_equal(quiet[i].x, quiet[(i + 1) % REPLICAS].x, sizeof *quiet[i].x);
        free(grown[i].x);
    }
    for (int i = 0; i < REPLICAS; i++)
        free(quiet[i].x);
    toy_system_free(sys);
}

static void test_growth(void **state)
{
    check(*cpu_program.kernels, LISTS);
}

static void test_growth_cuda(void **state)
{
    check(*cuda_program.kernels, LISTS);
    check(*cuda_program.kernels, NEAR_LISTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth), cmocka_unit_test(test_growth_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
