/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reader of submissions and the estimator cannot do any more, should what they read take them over; and what
 * they still can.
 */
#undef NDEBUG
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/worker/children/confine.h"
#include "daemon/worker/threads/sanitizers.h"

static int refused(long rc)
{
    return rc < 0 && errno == EACCES;
}

static int in_child(void)
{
    char byte;
    int ends[2];
    if (pipe(ends))
        return 1;
    confine();
    if (!refused(open("/etc/passwd", O_RDONLY)) || !refused(open(".", O_RDONLY | O_DIRECTORY)) ||
        !refused(open("/tmp/shoal-test-confine", O_WRONLY | O_CREAT, 0600)))
        return 2;
    if (!refused(execl("/bin/true", "true", (char *)NULL)))
        return 3;
    if (!refused(socket(AF_UNIX, SOCK_STREAM, 0)) || !refused(kill(getppid(), 0)))
        return 4;
    char *memory = malloc(100 << 20);
    if (!memory || getrandom(&byte, 1, 0) != 1 || write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
        return 5;
    free(memory);
    return 0;
}

static char folder[] = "/tmp/shoal-test-confine-XXXXXX";

static int in_child_with_folder(void)
{
    char in[80], out[80];
    snprintf(in, sizeof in, "%s/a", folder);
    snprintf(out, sizeof out, "%s/b", folder);
    if (symlink("/etc/passwd", out))
        return 2;
    confine_to(folder);
    if (!refused(open(out, O_RDONLY)) || !refused(open("/etc/passwd", O_RDONLY)) ||
        !refused(open("/tmp/shoal-test-confine", O_WRONLY | O_CREAT, 0600)) || !refused(mkdir(in, 0700)))
        return 3;
    int fd = open(in, O_RDWR | O_CREAT, 0600), dir = open(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || dir < 0 || fsync(dir) || rename(in, out) || open(out, O_RDONLY) < 0 || unlink(out))
        return 4;
    if (open("/proc/self/status", O_RDONLY) < 0 || open("/proc/meminfo", O_RDONLY) < 0)
        return 5;
    return refused(rmdir(folder)) && refused(socket(AF_UNIX, SOCK_STREAM, 0)) ? 0 : 6;
}

static int in_child_with_tree(void)
{
    char in[80], file[80], out[] = "/tmp/shoal-test-confine-out";
    snprintf(in, sizeof in, "%s/a", folder);
    snprintf(file, sizeof file, "%s/a/b", folder);
    confine_to_tree(folder);
    if (mkdir(in, 0700) || open(file, O_RDWR | O_CREAT, 0600) < 0 || unlink(file))
        return 3;
    return refused(mkdir(out, 0700)) && refused(symlink(out, file)) ? 0 : 4;
}

/* Skips where the kernel or the build has no such limits. */
static void expect_limits(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1)
        skip();
}

static void expect_confined(int (*in_child_of)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(in_child_of());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_confined(void **state)
{
    (void)state;
    expect_limits();
    expect_confined(in_child);
}

static void test_confined_to_a_folder(void **state)
{
    (void)state;
    expect_limits();
    assert_non_null(mkdtemp(folder));
    expect_confined(in_child_with_folder);
    expect_confined(in_child_with_tree);
    char in[80];
    snprintf(in, sizeof in, "%s/a", folder);
    assert_int_equal(rmdir(in), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing is in it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_confined), cmocka_unit_test(test_confined_to_a_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
