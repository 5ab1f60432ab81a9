/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/top_text.h"

int top_read_with(struct source *src, const char *text, const struct define *d, int n, struct system *s, struct err *e)
{
    assert_int_equal(source_memory_add(src, "x.top", text, strlen(text), e), 0);
    return top_read(s, src, "x.top", d, n, e);
}

struct system top_read_ok(const char *text)
{
    struct source *src = source_memory_new();
    struct system s;
    struct err e = {0};
    if (top_read_with(src, text, NULL, 0, &s, &e))
        fail_msg("%s", e.msg);
    source_free(src);
    return s;
}

void top_refused(const char *text, enum err_code code, const char *message)
{
    struct source *src = source_memory_new();
    struct system s;
    struct err e = {0};
    if (!top_read_with(src, text, NULL, 0, &s, &e))
        fail_msg("accepted: %s", text);
    assert_string_equal(e.msg, message);
    assert_int_equal(e.code, code);
    assert_int_equal(s.natoms, 0);
    source_free(src);
}

void top_near(double a, double b)
{
    if (fabs(a - b) > 1e-12 * fmax(1, fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

void top_refuse_all(const struct top_bad *bad, size_t n)
{
    for (size_t i = 0; i < n; i++)
        top_refused(bad[i].text, bad[i].code, bad[i].message);
}
