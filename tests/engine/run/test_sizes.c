/* SPDX-License-Identifier: Apache-2.0
 *
 * What a model and its replicas would take of a device, found without one, against what they take: new ones as much,
 * and ones that have run and whose lists have grown not much more. On the CPU device and by the CUDA program on every
 * kind of card, run on the CPU.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/run/program.h"
#include "tests/lib/emulate/toy.h"
#include "tests/lib/mixture.h"

enum { WINDOWS = 12, STEPS = 20 };
#define ROUNDING                                                                                                       \
    2048 /* bytes: blocks are whole units of the pool, and an echo's ring is counted by the device alone               \
          */
#define GROWN 1.2

static double lambda_table[WINDOWS][LAMBDA_COUNT];

static struct settings settings(bool alchemical)
{
    struct settings set = toy_settings();
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.friction = 1;
    set.replicas = alchemical ? WINDOWS : 1;
    for (int w = 0; w < WINDOWS; w++)
        lambda_table[w][LAMBDA_VDW] = w / (WINDOWS - 1.0);
    if (alchemical)
        set.alchemy = mixture_alchemy(ALCHEMY_DECOUPLE, WINDOWS, lambda_table);
    return set;
}

/* Tables of the model are all that a device has before it has a replica. */
static void check(const char *device, struct kernel_table kernels, const char *card, const struct system *sys,
                  bool alchemical)
{
    const struct settings set = settings(alchemical);
    struct toy t = {0};
    struct err e = {0};
    struct dev_usage use;
    struct model_sizes sizes;
    assert_int_equal(emulate_open(&t.dev, "cpu:1", card, kernels, &e), 0);
    assert_int_equal(model_new(&t.model, t.dev, sys, &set, &e), 0);
    assert_int_equal(model_sizes(device, &t.dev->limits, sys, &set, &sizes, &e), 0);
    t.dev->ops->usage(t.dev, NULL, &use);
    assert_in_range(use.used, sizes.tables, sizes.tables + ROUNDING);
    assert_int_equal(sim_new(&t.sim, t.model, 0, 0, &e), 0);
    assert_in_range(sim_device_bytes(t.sim), sizes.replica, sizes.replica + ROUNDING);
    assert_int_equal(sim_thermalize(t.sim, &e), 0);
    toy_run(t.sim, SIM_STEP, STEPS);
    assert_in_range(sim_device_bytes(t.sim), sizes.replica, (size_t)(GROWN * (double)sizes.replica) + ROUNDING);
    toy_close(&t);
}

static void check_all(const char *device, struct kernel_table kernels, const char *card)
{
    struct system *mixed = mixture(2), *water = toy_water(9);
    check(device, kernels, card, mixed, true);
    check(device, kernels, card, mixed, false);
    check(device, kernels, card, water, false);
    toy_system_free(mixed);
    toy_system_free(water);
}

static void test_cpu(void **state)
{
    check_all("cpu", *cpu_program.kernels, NULL);
}

static void test_cuda(void **state)
{
    for (const struct emulated_card *c = emulated_cards; c->name; c++)
        check_all("cuda:0", *cuda_program.kernels, c->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
