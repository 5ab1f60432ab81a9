/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of a spec that are rows of a table, and the schema's.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/spec/document/schema.h"
#include "tests/lib/spec_read.h"

static void hold_words(const json_t *choices, const char *const *words, size_t n)
{
    assert_int_equal(json_array_size(choices), n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(json_string_value(json_array_get(choices, i)), words[i]);
}

/* The schema has the words of the tables, in the order of the constants. */
static void test_tables(void **state)
{
    static const char *const of_integrators[] = {
#define INTEGRATOR(name, word, ...) [INTEGRATOR_##name] = word,
#include "engine/system/integrators.def"
    };
    static const char *const of_modifiers[] = {
#define VDW(name, word, ...) [VDW_##name] = word,
#include "engine/math/vdw_modifiers.def"
    };
    struct err e = {0};
    json_t *schema = schema_load(&e), *methods = NULL, *modifiers = NULL;
    assert_int_equal(json_unpack(schema, "{s{s{s{s{so}}} s{s{s{s{s{so}}}}}}}", "properties", "integrator", "properties",
                                 "method", "enum", &methods, "nonbonded", "properties", "vdw", "properties", "modifier",
                                 "enum", &modifiers),
                     0);
    hold_words(methods, of_integrators, sizeof of_integrators / sizeof *of_integrators);
    hold_words(modifiers, of_modifiers, sizeof of_modifiers / sizeof *of_modifiers);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
