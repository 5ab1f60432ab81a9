/* SPDX-License-Identifier: Apache-2.0
 *
 * What a terminal would obey, and what would mislead its reader, is shown as an escape; all else stays.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/printable.h"

static const struct {
    const char *text, *shown; /* NULL: as it is */
} cases[] = {{"", NULL},
             {"plain ~ text", NULL},
             {"\xc3\xa5 \xce\xb1 \xe2\x82\xac \xd7\x90 \xf0\x9f\x90\x9f", NULL}, /* a ring, alpha, euro, alef, a fish */
             {"a\033]0;x\a", "a\\x1b]0;x\\x07"},
             {"a\rb\x7f", "a\\x0db\\x7f"},
             {"\xc2\x9b"
              "2J",
              "\\u009b2J"},
             {"\xc2\x80 \xc2\x9f \xc2\xa0", "\\u0080 \\u009f \xc2\xa0"},
             {"\xe2\x80\xae"
              "abc",
              "\\u202eabc"},
             {"\xe2\x80\x8e \xe2\x80\x8f \xd8\x9c", "\\u200e \\u200f \\u061c"},
             {"\xe2\x80\xaa \xe2\x81\xa6 \xe2\x81\xa9", "\\u202a \\u2066 \\u2069"},
             {"\xe2\x80\xa8 \xe2\x80\xa9", "\\u2028 \\u2029"},
             {"\x9b"
              "2J",
              "\\x9b2J"}, /* what a terminal takes that is not set to UTF-8 */
             {"\xc3", "\\xc3"},
             {"\xc0\x9b \xe0\x82\x9b", "\\xc0\\x9b \\xe0\\x82\\x9b"}, /* longer than they need be */
             {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                     /* a surrogate */
             {"\xf4\x90\x80\x80\xff", "\\xf4\\x90\\x80\\x80\\xff"}};  /* beyond the last */

static void test_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = {0};
        buf_add(&out, "", 0);
        printable_add(&out, cases[i].text, "");
        assert_string_equal(out.data, cases[i].shown ? cases[i].shown : cases[i].text);
        assert_int_equal(printable(cases[i].text), cases[i].shown == NULL);
        buf_free(&out);
    }
}

static void test_kept(void **state)
{
    (void)state;
    struct buf out = {0};
    printable_add(&out, "a\n\tb\033", "\n\t");
    assert_string_equal(out.data, "a\n\tb\\x1b");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shown), cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
