/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "daemon/worker/threads/co.h"

#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct counter {
    int turns, seen;
    uint64_t sum;
};

static void CO_FN count(void *arg)
{
    struct counter *c = arg;
    char local[4096]; /* survives every switch */
    memset(local, c->turns, sizeof local);
    for (int i = 0; i < c->turns; i++) {
        c->seen++;
        c->sum += (unsigned char)local[(i * 37) % 4096];
        co_pause();
    }
}

static void many_interleaved(void **state)
{
    (void)state;
    enum { N = 200 };
    struct counter counters[N] = {0};
    struct co *cos[N];
    struct err e = {0};
    for (int i = 0; i < N; i++) {
        counters[i].turns = i % 23;
        assert_int_equal(co_new(&cos[i], count, &counters[i], CO_STACK, &e), 0);
    }
    for (int left = N; left;) {
        left = 0;
        for (int i = 0; i < N; i++)
            if (!co_ended(cos[i])) {
                co_resume(cos[i]);
                left += !co_ended(cos[i]);
            }
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(counters[i].seen, i % 23);
        assert_int_equal(counters[i].sum, (uint64_t)(i % 23) * (uint64_t)(i % 23));
        co_free(cos[i]);
    }
}

static void never_started(void **state)
{
    (void)state;
    struct co *c;
    struct err e = {0};
    struct counter counter = {1, 0, 0};
    assert_int_equal(co_new(&c, count, &counter, 1, &e), 0);
    co_free(c);
    co_free(NULL);
    assert_int_equal(counter.seen, 0);
}

static void suspended_is_freed(void **state)
{
    (void)state;
    struct co *c;
    struct err e = {0};
    struct counter counter = {5, 0, 0};
    assert_int_equal(co_new(&c, count, &counter, CO_STACK, &e), 0);
    co_resume(c);
    co_resume(c);
    co_free(c);
    assert_int_equal(counter.seen, 2);
}

static void many_switches(void **state)
{
    (void)state;
    struct co *c;
    struct err e = {0};
    struct counter counter = {100000, 0, 0};
    assert_int_equal(co_new(&c, count, &counter, CO_STACK, &e), 0);
    while (!co_ended(c))
        co_resume(c);
    assert_int_equal(counter.seen, 100000);
    co_free(c);
}

/* Runs `fn` in a coroutine of a child process and returns the signal that ended the child, or 0. */
static int signal_of(void (*fn)(void *arg))
{
    fflush(NULL);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        struct rlimit none = {0, 0};
        struct co *c;
        struct err e = {0};
        setrlimit(RLIMIT_CORE, &none);
        close(2);
        signal(SIGSEGV, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        if (co_new(&c, fn, NULL, 65536, &e))
            _exit(9);
        while (!co_ended(c))
            co_resume(c);
        _exit(0);
    }
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static volatile int depth_wanted = 1 << 20;

static int deeper(int depth)
{
    volatile char frame[512];
    frame[0] = (char)depth;
    return depth < depth_wanted ? deeper(depth + 1) + frame[0] : 0;
}

static void CO_FN overflow(void *arg)
{
    (void)arg;
    deeper(0);
}

static void CO_FN harmless(void *arg)
{
    (void)arg;
    co_hold(CO_BORROW);
    co_release(CO_BORROW);
    co_pause();
}

static void CO_FN yields_while_borrowing(void *arg)
{
    (void)arg;
    co_hold(CO_BORROW);
    co_hold(CO_BORROW);
    co_release(CO_BORROW);
    co_pause();
}

static void CO_FN yields_in_a_capture(void *arg)
{
    (void)arg;
    co_hold(CO_CAPTURE);
    co_pause();
}

static void CO_FN ends_in_a_capture(void *arg)
{
    (void)arg;
    co_hold(CO_CAPTURE);
}

static void CO_FN releases_too_much(void *arg)
{
    (void)arg;
    co_release(CO_CAPTURE);
}

static void guard_page(void **state)
{
    (void)state;
    assert_int_equal(signal_of(overflow), SIGSEGV);
}

static void open_holds_are_caught(void **state)
{
    (void)state;
    assert_int_equal(signal_of(harmless), 0);
    assert_int_equal(signal_of(yields_while_borrowing), SIGABRT);
    assert_int_equal(signal_of(yields_in_a_capture), SIGABRT);
    assert_int_equal(signal_of(ends_in_a_capture), SIGABRT);
    assert_int_equal(signal_of(releases_too_much), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_interleaved), cmocka_unit_test(never_started), cmocka_unit_test(suspended_is_freed),
        cmocka_unit_test(many_switches),    cmocka_unit_test(guard_page),    cmocka_unit_test(open_holds_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
