/* SPDX-License-Identifier: Apache-2.0
 *
 * Cut-offs and switches that no device can compute are refused.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/prepare/cutoffs.h"

static const struct nonbonded_settings good = {
    .coulomb_cutoff = 0.9, .vdw_cutoff = 1, .vdw_switch = 0.8, .vdw_modifier = VDW_FORCE_SWITCH};

static void refused(const struct nonbonded_settings *set, double limit, const char *message)
{
    struct err e = {0};
    assert_int_equal(cutoffs_check(set, limit, "in this box, on a GPU", &e), -ERR_SPEC);
    assert_string_equal(e.msg, message);
}

static void test_cutoffs(void **state)
{
    struct err e = {0};
    struct nonbonded_settings set = good;
    assert_int_equal(cutoffs_check(&good, 1.1, "", &e), 0);
    refused(&good, 1, "nonbonded: cut-off 1 nm: must be less than 1 nm in this box, on a GPU");
    refused(&good, NAN, "nonbonded: cut-off 1 nm: must be less than nan nm in this box, on a GPU");
    set.coulomb_cutoff = 0;
    refused(&set, 1.1, "nonbonded: cut-offs 0 and 1 nm: positive ones are needed");
    set = good;
    set.coulomb_cutoff = 1.2;
    refused(&set, 1.1, "nonbonded: cut-off 1.2 nm: must be less than 1.1 nm in this box, on a GPU");
}

static void test_switch(void **state)
{
    struct err e = {0};
    struct nonbonded_settings set = good;
    set.vdw_switch = 1;
    refused(&set, 1.1, "nonbonded: vdw: switch-start 1 nm: expected between 0 and the cut-off 1 nm");
    set.vdw_modifier = VDW_POTENTIAL_SHIFT;
    assert_int_equal(cutoffs_check(&set, 1.1, "", &e), 0);
    set.vdw_modifier = VDW_POTENTIAL_SWITCH;
    set.vdw_switch = 0;
    refused(&set, 1.1, "nonbonded: vdw: switch-start 0 nm: expected between 0 and the cut-off 1 nm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cutoffs), cmocka_unit_test(test_switch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
