/* SPDX-License-Identifier: Apache-2.0
 *
 * Known answers: FIPS 180-4's examples, as NIST publishes them (one block, two blocks, a million letters), and the empty text.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/sha256.h"

static void is(const char *text, size_t times, const char *want)
{
    struct sha256 s;
    char hex[65];
    sha256_init(&s);
    for (size_t i = 0; i < times; i++)
        sha256_add(&s, text, strlen(text));
    sha256_hex(&s, hex);
    assert_string_equal(hex, want);
}

static void known_answers(void **state)
{
    is("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    is("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    is("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    is("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    is("aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
