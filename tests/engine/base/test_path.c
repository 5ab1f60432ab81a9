/* SPDX-License-Identifier: Apache-2.0 */
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

#include "engine/base/path.h"

static void names_that_stay_below(void **state)
{
    (void)state;
    static const char *const below[] = {"a", "a/b", "..a", "a/b..", ".a", "...", "a/..b/c"};
    static const char *const other[] = {"",     "/",    "/a",     ".",    "..", "./a",
                                        "../a", "a/..", "a/../b", "a//b", "a/", "a/./b"};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        if (!path_is_below(below[i]))
            fail_msg("\"%s\" does", below[i]);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (path_is_below(other[i]))
            fail_msg("\"%s\" does not", other[i]);
}

static void parents(void **state)
{
    (void)state;
    char folder[] = "/tmp/shoal-path-XXXXXX", path[64], command[80];
    struct stat st;
    struct err e = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/b/file", folder);
    assert_int_equal(path_make_parents(path, 0700, &e), 0);
    assert_int_equal(path_make_parents(path, 0700, &e), 0); /* they are there */
    assert_int_equal(stat(path, &st), -1);
    path[strlen(path) - strlen("/file")] = '\0';
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(path_sync_parent(path), 0);
    fclose(fopen(strcat(path, "/file"), "w"));
    strcat(path, "/c/d"); /* below a file */
    assert_int_equal(path_make_parents(path, 0700, &e), -ERR_IO);
    assert_non_null(strstr(e.msg, "/a/b/file/c: Not a directory"));
    assert_int_equal(path_sync_parent(path), -1);
    assert_int_equal(path_make_parents("", 0700, &e), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_that_stay_below), cmocka_unit_test(parents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
