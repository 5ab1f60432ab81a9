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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/log.h"

/* What was sent to the journal's socket, which takes it or not. */
static char sent[600];
static bool takes;

ssize_t __wrap_sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len);
ssize_t __wrap_sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len)
{
    assert_string_equal(((const struct sockaddr_un *)to)->sun_path, "/run/systemd/journal/socket");
    assert_true(flags & MSG_DONTWAIT);
    snprintf(sent, sizeof sent, "%.*s", (int)len, (const char *)data);
    return takes ? (ssize_t)len : -1;
}

/* What `level` and `text`, or fields, write to a file that the journal gave, or that it did not. */
static void written(enum log_level level, const char *text, const struct log_fields *fields, int from_journal,
                    char *out, size_t size)
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
    if (fields)
        log_put(level, fields);
    else
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
    written(LOG_WARNING, "down device=cpu", NULL, 0, text, sizeof text);
    assert_int_equal(
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour, &minute, &second, &ms, &used), 7);
    assert_int_equal(used, 24);
    assert_string_equal(text + used, " warning shoald: down device=cpu\n");
}

static void test_journal(void **state)
{
    char text[200];
    written(LOG_ERROR, "gone", NULL, 1, text, sizeof text);
    assert_string_equal(text, "<3>shoald: gone\n");
}

/* What a message quotes begins no line of its own, and no command of a terminal. */
static void test_quotes(void **state)
{
    char text[200];
    written(LOG_ERROR, "found \"a\n<0>shoald: \033[2J\"", NULL, 1, text, sizeof text);
    assert_string_equal(text, "<3>shoald: found \"a\\x0a<0>shoald: \\x1b[2J\"\n");
}

static void test_level(void **state)
{
    char text[200];
    written(LOG_DEBUG, "much", NULL, 0, text, sizeof text);
    assert_string_equal(text, "");
}

static struct log_fields example(void)
{
    struct log_fields f = {0};
    log_add(&f, "act", "extend");
    log_add_number(&f, "uid", 1000);
    log_add(&f, "key", NULL);
    log_add(&f, "until", "2 ns");
    log_add(&f, "reason", "\"a\"=\n\xff");
    log_add(&f, "empty", "");
    return f;
}

static void test_logfmt(void **state)
{
    char text[400];
    struct log_fields f = example();
    written(LOG_INFO, NULL, &f, 0, text, sizeof text);
    assert_string_equal(
        text + 24, " info shoald: act=extend uid=1000 until=\"2 ns\" reason=\"\\\"a\\\"=\\u000a\\u00ff\" empty=\"\"\n");
    written(LOG_DEBUG, NULL, &f, 0, text, sizeof text);
    assert_string_equal(text, "");
    log_fields_free(&f);
}

static void test_journal_fields(void **state)
{
    char text[400];
    struct log_fields f = example();
    takes = true;
    written(LOG_INFO, NULL, &f, 1, text, sizeof text);
    assert_string_equal(text, "");
    assert_string_equal(sent,
                        "PRIORITY=6\nSYSLOG_IDENTIFIER=shoald\n"
                        "MESSAGE=act=extend uid=1000 until=\"2 ns\" reason=\"\\\"a\\\"=\\u000a\\u00ff\" empty=\"\"\n"
                        "SHOAL_ACT=extend\nSHOAL_UID=1000\nSHOAL_UNTIL=2 ns\n"
                        "SHOAL_REASON=\"a\"=\\x0a\\xff\nSHOAL_EMPTY=\n");
    takes = false; /* then the line goes where all lines go */
    written(LOG_INFO, NULL, &f, 1, text, sizeof text);
    assert_int_equal(strncmp(text, "<6>shoald: act=extend uid=1000 ", 31), 0);
    log_fields_free(&f);
}

static void test_json(void **state)
{
    char text[400];
    struct log_fields f = example();
    log_as(LOG_JSON);
    written(LOG_INFO, NULL, &f, 0, text, sizeof text);
    assert_int_equal(strncmp(text, "{\"time\":\"20", 11), 0);
    assert_string_equal(strchr(text, ','),
                        ",\"level\":\"info\",\"program\":\"shoald\",\"act\":\"extend\",\"uid\":1000,"
                        "\"until\":\"2 ns\",\"reason\":\"\\\"a\\\"=\\u000a\\u00ff\",\"empty\":\"\"}\n");
    written(LOG_ERROR, "a \"quote\"", NULL, 1, text, sizeof text);
    assert_int_equal(strncmp(text, "<3>{\"time\":", 11), 0);
    assert_non_null(strstr(text, "\"level\":\"error\",\"program\":\"shoald\",\"message\":\"a \\\"quote\\\"\"}\n"));
    log_as(LOG_TEXT);
    log_fields_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_file),   cmocka_unit_test(test_journal),
                                       cmocka_unit_test(test_quotes), cmocka_unit_test(test_level),
                                       cmocka_unit_test(test_logfmt), cmocka_unit_test(test_journal_fields),
                                       cmocka_unit_test(test_json)};
    log_setup("shoald", LOG_INFO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
