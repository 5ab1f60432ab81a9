/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the service keeps things, in a folder that somebody else may write to: what the service has made has become
 * another file by the time it is to be given away.
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
#include <unistd.h>

#include <cmocka.h>

#include "daemon/host/paths.h"

static char folder[] = "/tmp/test_places.XXXXXX", path[64], victim[64];
static enum { NOTHING, A_LINK, A_NAME } becomes;

static void replace(void)
{
    if (becomes == NOTHING)
        return;
    char aside[80];
    snprintf(aside, sizeof aside, "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(becomes == A_LINK ? symlink(victim, path) : link(victim, path), 0);
}

int __real_bind(int fd, const struct sockaddr *a, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *a, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *a, socklen_t len)
{
    int rc = __real_bind(fd, a, len);
    replace();
    return rc;
}

int __real_mkdir(const char *name, mode_t mode);
int __wrap_mkdir(const char *name, mode_t mode);
int __wrap_mkdir(const char *name, mode_t mode)
{
    int rc = __real_mkdir(name, mode);
    if (!strcmp(name, path))
        replace();
    return rc;
}

static void make_victim(mode_t kind)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s && mkdir -m 0755 %s", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/made", folder);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    assert_int_equal(S_ISDIR(kind) ? __real_mkdir(victim, 0700) : mknod(victim, kind | 0600, 0), 0);
}

static void assert_untouched(const struct err *e)
{
    struct stat st;
    assert_int_equal(stat(victim, &st), 0);
    assert_int_equal(st.st_uid, geteuid());
    assert_int_equal(st.st_mode & 0777, S_ISDIR(st.st_mode) ? 0700 : 0600);
    assert_non_null(strstr(e->msg, path));
}

static void test_socket(void **state)
{
    static const mode_t kinds[] = {S_IFREG, S_IFSOCK};
    struct identity who = {.uid = geteuid(), .gid = getegid(), .access = getegid(), .has_access = true};
    (void)state;
    for (int root = 0; root <= (geteuid() == 0); root++)
        for (int k = 0; k < 2; k++)
            for (becomes = NOTHING; becomes <= A_NAME; becomes++) {
                struct err e = {0};
                int fd = -1;
                make_victim(kinds[k]);
                if (root)
                    who = (struct identity){.uid = 12345, .gid = 12345, .change = true};
                int rc = paths_listen(&fd, path, &who, &e);
                assert_int_equal(rc == 0, becomes == NOTHING);
                if (rc) {
                    assert_untouched(&e);
                    continue;
                }
                struct stat st;
                assert_int_equal(stat(path, &st), 0);
                assert_int_equal(st.st_mode & 0777, root ? 0600 : 0660);
                assert_int_equal(st.st_uid, who.uid);
                close(fd);
            }
}

static void test_folder(void **state)
{
    const struct identity who = {.uid = 12345, .gid = 12345, .change = true};
    (void)state;
    if (geteuid() != 0)
        skip(); /* nobody else can give a folder away */
    for (becomes = NOTHING; becomes <= A_LINK; becomes++) {
        struct err e = {0};
        char *state_folder = NULL;
        make_victim(S_IFDIR);
        int rc = paths_state(&state_folder, path, &who, &e);
        assert_int_equal(rc == 0, becomes == NOTHING);
        if (rc)
            assert_untouched(&e);
        free(state_folder);
    }
}

static int setup(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_socket), cmocka_unit_test(test_folder)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
