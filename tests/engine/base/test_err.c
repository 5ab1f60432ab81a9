/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages that are longer than there is room for.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/err.h"
#include "engine/base/fit.h"

/* Place and expectation stay, whatever stands between them. */
static void test_long_message(void **state)
{
    static char value[5000];
    static const char begin[] = "a.yaml:3: nonbonded.cutoff: 111", end[] = "111: expected a length";
    struct err e = {0};
    memset(value, '1', sizeof value - 1);
    assert_int_equal(err_set(&e, ERR_SPEC, "nonbonded.cutoff: %s: expected a length", value), -ERR_SPEC);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    err_prefix(&e, "a.yaml:%d", 3);
    assert_int_equal(strlen(e.msg), sizeof e.msg - 1);
    assert_memory_equal(e.msg, begin, sizeof begin - 1);
    assert_string_equal(e.msg + sizeof e.msg - sizeof end, end);
    assert_non_null(strstr(e.msg, "1 ... 1"));
}

static void test_fit(void **state)
{
    char out[20];
    fit_text(out, sizeof out, "nineteen letters ok");
    assert_string_equal(out, "nineteen letters ok");
    fit_text(out, sizeof out, "twenty letters it is");
    assert_string_equal(out, "twenty  ... s it is");
    fit_text(out, sizeof out,
             "seve: \xC3\xA4, characters that stay whole, \xC3\xA4"
             "at end");
    assert_string_equal(out, "seve:  ... at end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
