/* SPDX-License-Identifier: Apache-2.0
 *
 * A number that is not known is null, and stays unknown on the way there and back.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/json/number_json.h"

static void test_there_and_back(void **state)
{
    static const double x[] = {0, -1.25, 6.02214076e23, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        json_t *v = number_json(x[i]);
        assert_int_equal(json_is_null(v), !isfinite(x[i]));
        assert_true(isfinite(x[i]) ? number_from_json(v) == x[i] : isnan(number_from_json(v)));
        json_decref(v);
    }
}

static void test_others(void **state)
{
    json_t *whole = json_integer(3), *text = json_string("3");
    assert_true(number_from_json(whole) == 3);
    assert_true(isnan(number_from_json(text)) && isnan(number_from_json(NULL)));
    json_decref(whole);
    json_decref(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
