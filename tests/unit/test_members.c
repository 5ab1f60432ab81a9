/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/ask/members.h"

static const char *const wanted[] = {"a", "b", NULL};

static void check(const char *text, const char *expected)
{
    json_t *got = members_load(text, strlen(text), wanted), *all = expected ? json_loads(expected, 0, NULL) : NULL;
    if (expected && (!got || !json_equal(got, all)))
        fail_msg("%s", text);
    if (!expected && got)
        fail_msg("taken: %s", text);
    json_decref(got);
    json_decref(all);
}

static void test_members(void **state)
{
    check("{}", "{}");
    check(" { } ", "{}");
    check("{\"x\": [1, {\"a\": 2}], \"a\": {\"c\": [\"}\\\"]\"]}, \"b\":null}",
          "{\"a\": {\"c\": [\"}\\\"]\"]}, \"b\": null}");
    check("{\"x\" : \"a\\\\\", \"b\" : -1.5e3 }", "{\"b\": -1500.0}");
    check("{\"aa\": 1, \"b\": \"a\", \"\\u0061\": 2}", "{\"b\": \"a\"}");
    /* What comes behind all that is wanted is not looked at. */
    check("{\"a\": 1, \"b\": 2, what", "{\"a\": 1, \"b\": 2}");
}

static void test_no_object(void **state)
{
    static const char *const texts[] = {
        "",           "[]",         "{",          "{\"a\"",         "{\"a\": ", "{\"a\": 1",
        "{\"a\": 1,", "{\"a\": x}", "{\"x\": \"", "{\"x\": [1, 2}", "{a: 1}",   "{\"a\": \"\\"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_members), cmocka_unit_test(test_no_object)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
