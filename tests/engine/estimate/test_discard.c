/* SPDX-License-Identifier: Apache-2.0
 *
 * What leaving out the start of windows does to the result, and that it is known for states whose energies are far
 * apart, too.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/ensembles.h"

static void test_far_states(void **state)
{
    (void)state;
    struct known_ensemble m = {
        .windows = 33, .rows = 400, .variance = 400, .slow = 1, .tau = 1, .relax = 12, .relax_share = 0.02};
    double moved[2], error[2], value[2];
    for (int large = 0; large < 2; large++) {
        struct ladder l;
        struct result r;
        int hopped;
        m.mean = large ? 2000 : -2.8;
        known_estimate(&m, 1, &l, &r, &hopped);
        const struct range *x = &r.estimators[ESTIMATOR_MBAR].total;
        assert_true(x->ok && r.windows[4].drifted);
        moved[large] = r.moved;
        error[large] = x->error;
        value[large] = x->value - m.mean;
        result_close(&r);
        ladder_close(&l);
    }
    assert_true(moved[0] > 0.1);
    assert_true(fabs(moved[1] / moved[0] - 1) < 1e-4);
    assert_true(fabs(error[1] / error[0] - 1) < 1e-4);
    assert_true(fabs(value[1] - value[0]) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_far_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
