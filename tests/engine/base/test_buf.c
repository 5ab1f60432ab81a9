/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that several processes write at once.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/base/buf.h"

enum { TIMES = 300, LONGEST = 1 << 16 };

/* Whole files of one letter, as many as its place in the alphabet says, times 100. What is read in between is whole
 * too. */
static int write_letters(const char *path, char letter)
{
    char text[LONGEST];
    const size_t length = 100 * (size_t)(letter - 'a' + 1);
    memset(text, letter, length);
    for (int i = 0; i < TIMES; i++) {
        struct err e = {0};
        struct buf read = {0};
        if (buf_write_file(path, text, length, &e) || buf_read_file(&read, path, &e)) {
            fprintf(stderr, "%s\n", e.msg);
            return 1;
        }
        if (!read.len || read.len != 100 * (size_t)(read.data[0] - 'a' + 1)) {
            fprintf(stderr, "%zu bytes\n", read.len);
            return 1;
        }
        buf_free(&read);
    }
    return 0;
}

/* As a process does that outlives the one that started it for a moment, beside the next one. */
static void test_writers_at_once(void **state)
{
    char folder[] = "/tmp/shoal-test-XXXXXX", path[64], tmp[80];
    int status, ended = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    for (char letter = 'a'; letter < 'e'; letter++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            _exit(write_letters(path, letter));
    }
    while (wait(&status) > 0) {
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        ended++;
    }
    assert_int_equal(ended, 4);
    assert_int_equal(unlink(path), 0);
    assert_int_not_equal(access(tmp, F_OK), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Nothing is left of what could not be written. */
static void test_nowhere(void **state)
{
    struct err e = {0};
    assert_int_not_equal(buf_write_file("/tmp/shoal-no-such-folder/file", "a", 1, &e), 0);
    assert_string_equal(e.msg, "write /tmp/shoal-no-such-folder/file: No such file or directory");
}

/* Words as people list them. */
static void test_words(void **state)
{
    static const char *const words[] = {"none", "energy", "all"};
    static const char *const listed[] = {NULL, "none", "none or energy", "none, energy or all"};
    for (int n = 1; n <= 3; n++) {
        struct buf b = {0};
        buf_words(&b, words, n, "or");
        assert_string_equal(b.data, listed[n]);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writers_at_once),
        cmocka_unit_test(test_nowhere),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
