/* SPDX-License-Identifier: Apache-2.0
 *
 * What a log line looks like in a file and in the journal.
 */
#undef NDEBUG
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/log.h"

/* What `level` and `text` write to a file that the journal gave, or that it did not. */
static void written(enum log_level level, const char *text, int from_journal, char *out, size_t size)
{
    char stream[64];
    struct stat st;
    FILE *f = tmpfile();
    int was = dup(2);
    assert_non_null(f);
    dup2(fileno(f), 2);
    fstat(2, &st);
    snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino + !from_journal);
    setenv("JOURNAL_STREAM", stream, 1);
    log_line(level, "%s", text);
    fflush(stderr);
    dup2(was, 2);
    close(was);
    rewind(f);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
}

static void test_file(void **state)
{
    char text[200];
    int year, month, day, hour, minute, second, ms, used = 0;
    written(LOG_WARNING, "down device=cpu", 0, text, sizeof text);
    assert_int_equal(
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour, &minute, &second, &ms, &used), 7);
    assert_int_equal(used, 24);
    assert_string_equal(text + used, " warning shoald: down device=cpu\n");
}

static void test_journal(void **state)
{
    char text[200];
    written(LOG_ERROR, "gone", 1, text, sizeof text);
    assert_string_equal(text, "<3>shoald: gone\n");
}

/* What a message quotes begins no line of its own, and no command of a terminal. */
static void test_quotes(void **state)
{
    char text[200];
    written(LOG_ERROR, "found \"a\n<0>shoald: \033[2J\"", 1, text, sizeof text);
    assert_string_equal(text, "<3>shoald: found \"a\\x0a<0>shoald: \\x1b[2J\"\n");
}

static void test_level(void **state)
{
    char text[200];
    written(LOG_DEBUG, "much", 0, text, sizeof text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_file), cmocka_unit_test(test_journal),
                                       cmocka_unit_test(test_quotes), cmocka_unit_test(test_level)};
    log_setup("shoald", LOG_INFO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
