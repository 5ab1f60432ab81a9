/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables for readers that know of no comments, and labels without Grace's marks.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/series/xvg.h"

static void check_plain(const char *text, const char *expected)
{
    struct buf out = {0};
    xvg_plain(&out, text);
    assert_string_equal(out.data, expected);
    buf_free(&out);
}

static void labels(void **state)
{
    (void)state;
    check_plain("", "");
    check_plain("MSD (nm\\S2\\N)", "MSD (nm^2)");
    check_plain("dH/d\\xl\\f{} vdw-lambda = 0.2500", "dH/dlambda vdw-lambda = 0.2500");
    check_plain("\\xD\\f{}H \\xl\\f{} to 1.0000", "Delta H lambda to 1.0000");
    check_plain("C:\\x", "C:\\x");
}

static void check_csv(const char *text, const char *expected)
{
    struct buf out = {0};
    buf_add(&out, "", 0);
    xvg_csv(&out, text, strlen(text));
    assert_string_equal(out.data, expected);
    buf_free(&out);
}

static void tables(void **state)
{
    (void)state;
    check_csv(
        "# a.xvg\n@    title \"g(r), of \\\"OW\\\"\"\n@    xaxis  label \"r (nm)\"\n@    yaxis  label \"g\"\n@TYPE xy\n"
        "@ s0 legend \"g(r)\"\n@ s1 legend \"error, \"of\" it\"\n0.1 2e-3  nan\n\t0.2\t4 5 \r\n",
        "\"r (nm)\",\"g(r)\",\"error, \"\"of\"\" it\"\n0.1,2e-3,nan\n0.2,4,5\n");
    check_csv("1 2\n", "\"x\"\n1,2\n"); /* nothing says what they are */
    check_csv("@ s0 legend \"a\"\n1 2\n@ s0 legend \"a\"\n# again\n\n2 3\n3 4 cut", "\"x\",\"a\"\n1,2\n2,3\n");
    check_csv("@ s0 legend \"a\"\n", ""); /* no rows yet */
    check_csv("", "");
    struct buf zeros = {0}; /* where a disk lost what was written, files have zeros */
    xvg_csv(&zeros, "1 2\n\0\0 \0\n", 9);
    assert_int_equal(zeros.len, 4 + 4 + 5);
    buf_free(&zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(labels), cmocka_unit_test(tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
