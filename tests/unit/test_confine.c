/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reader of submissions cannot do any more, should what it reads take it over; and what it still can.
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/worker/confine.h"
#include "daemon/worker/sanitizers.h"

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

static void test_confined(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1)
        skip(); /* this kernel has no such limits */
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(in_child());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_confined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
