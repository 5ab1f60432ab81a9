/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kernel that timesteps may launch belongs to a family, on each kind of device.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#include <string.h>

#include "daemon/worker/offline/bench_families.h"
#include "engine/run/program.h"

/* How names of kernels begin that no timestep launches. */
static const char *const others[] = {"place",   "velocities", "thermalize", "half_kick", "volume_", "waters_",
                                     "descend", "report",     "digest",     "observe_",  "saxs_"};

static bool is_of_timesteps(const char *kernel)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strncmp(kernel, others[i], strlen(others[i])))
            return false;
    return true;
}

static void assert_all_named(const struct kernel_table *t)
{
    unsigned named = 0;
    for (uint32_t k = 0; k < t->count; k++) {
        const char *name = t->kernels[k].name;
        if (!is_of_timesteps(name))
            continue;
        if (family_of(sim_work_label(SIM_STEP), name) == FAMILY_OTHER)
            fail_msg("%s: bench_families.c has no row for it", name);
        named++;
    }
    assert_true(named > 15);
}

static void test_kernels(void **state)
{
    assert_all_named(cpu_program.kernels);
    assert_all_named(cuda_program.kernels);
}

static void test_families(void **state)
{
    const uint32_t step = sim_work_label(SIM_STEP);
    assert_int_equal(family_of(step, "pairs_perturbed"), FAMILY_PERTURBED);
    assert_int_equal(family_of(step, "pairs_apart"), FAMILY_TERMS);
    assert_int_equal(family_of(step, "pairs_regions_triclinic"), FAMILY_PAIRS);
    assert_int_equal(family_of(step, "order_coordinations"), FAMILY_BIASES);
    assert_int_equal(family_of(step, "langevin"), FAMILY_MOTION);
    assert_int_equal(family_of(sim_work_label(SIM_INNER), "pairs"), FAMILY_PAIRS);
    assert_int_equal(family_of(step, "what is it"), FAMILY_OTHER);
    assert_int_equal(family_of(sim_work_label(SIM_SAMPLE), "mesh_block"), FAMILY_SAMPLES);
    assert_int_equal(family_of(sim_work_label(SIM_BAROSTAT), "pairs"), FAMILY_VOLUME_MOVES);
    assert_int_equal(family_of(sim_work_label(SIM_WATERS), "waters_try"), FAMILY_WATER_MOVES);
    assert_int_equal(family_of(sim_work_label(SIM_OBSERVE), "observe_rdf"), FAMILY_OBSERVABLES);
    assert_int_equal(family_of(0, "digest"), FAMILY_REPORTS);
    for (int family = 0; family < FAMILY_COUNT; family++)
        assert_non_null(family_names[family]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_families)};
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
