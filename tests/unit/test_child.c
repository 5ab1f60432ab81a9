/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/processes/child.h"

static struct child_result last;
static int times;

static void on_done(void *arg, struct child_result *r)
{
    buf_free(&last.out);
    buf_free(&last.log);
    last = *r;
    r->out = r->log = (struct buf){0};
    times++;
}

static struct child *begin(uv_loop_t *loop, const char *script, const void *input, size_t len, size_t max, uint64_t ms)
{
    static const char *argv[] = {"/bin/sh", "-c", NULL, NULL};
    struct err e = {0};
    argv[2] = script;
    times = 0;
    struct child_run run = {.argv = argv, .input = input, .input_len = len, .output_max = max, .limit_ms = ms};
    struct child *c = child_start(loop, &run, on_done, NULL, &e);
    assert_non_null(c);
    return c;
}

/* Runs the loop until nothing is left on it: every handle is closed, `done` came once. */
static void run(const char *script, const void *input, size_t len, size_t max, uint64_t ms)
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    begin(&loop, script, input, len, max, ms);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(times, 1);
}

static void test_answers(void **state)
{
    size_t len = 3000000;
    char *much = calloc(len, 1);
    for (size_t i = 0; i < len; i++)
        much[i] = (char)(i * 2654435761u >> 7);
    run("cat", much, len, len, 10000);
    assert_int_equal(last.status, 0);
    assert_int_equal(last.out.len, len);
    assert_memory_equal(last.out.data, much, len);
    run("cat >/dev/null; echo answer; echo why >&2; exit 7", much, len, 100, 10000);
    assert_int_equal(last.status, 7);
    assert_string_equal(last.out.data, "answer\n");
    assert_string_equal(last.log.data, "why\n");
    free(much);
}

static void ends_with(const char *script, enum err_code code, const char *message)
{
    struct err e = {0};
    run(script, NULL, 0, 1000, 10000);
    child_error(&last, &e);
    assert_int_equal(e.code, code);
    assert_string_equal(e.msg, message);
}

/* The last line is the error of a child that failed; nothing else is. */
static void test_errors(void **state)
{
    ends_with("echo '{\"error\":{\"code\":\"IO\",\"message\":\"out of memory\"}}'; exit 73", ERR_IO, "out of memory");
    ends_with("printf '{\"half\n{\"error\":{\"code\":\"BUSY\",\"message\":\"x\"}}'; exit 75", ERR_BUSY, "x");
    ends_with("echo '{\"error\":{\"code\":\"NEW\",\"message\":\"x\"}}'; exit 1", ERR_PROTOCOL, "x");
    ends_with("echo '{\"error\":{\"code\":\"IO\",\"message\":\"x\"}}'", ERR_NONE, "");
    ends_with("echo out of memory; echo out of memory >&2; exit 1", ERR_NONE, "");
    ends_with("echo '{}'; exit 1", ERR_NONE, "");
    ends_with("exit 1", ERR_NONE, "");
}

static void test_no_reader(void **state)
{
    size_t len = 3000000;
    char *much = calloc(len, 1);
    run("exec <&-; echo early", much, len, 100, 10000);
    assert_string_equal(last.out.data, "early\n");
    run("echo nothing read", much, len, 100, 10000);
    assert_int_equal(last.status, 0);
    run("kill -SEGV $$", much, len, 100, 10000);
    assert_int_equal(last.signal, SIGSEGV);
    free(much);
}

static void test_limits(void **state)
{
    run("exec sleep 100", NULL, 0, 100, 50);
    assert_true(last.late);
    assert_int_equal(last.signal, SIGKILL);
    run("exec yes", NULL, 0, 100000, 10000);
    assert_true(last.too_much && last.out.len <= 100000);
    assert_int_equal(last.signal, SIGKILL);
}

/* Waiting is no work. A limit of the shell's own ends the busy loop, however fast the machine is. */
static void test_worked(void **state)
{
    run("exec sleep 1", NULL, 0, 100, 100000);
    assert_in_range(last.worked_ms, 0, 500);
    run("ulimit -t 1; while :; do :; done", NULL, 0, 100, 100000);
    assert_true(last.signal && !last.late);
    assert_in_range(last.worked_ms, 500, 10000);
}

static void test_killed(void **state)
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct child *c = begin(&loop, "exec sleep 100", NULL, 0, 100, 100000);
    child_kill(c);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(times, 1);
    assert_int_equal(last.signal, SIGKILL);
    assert_false(last.late);
}

static void test_no_program(void **state)
{
    const char *argv[] = {"/nonexistent/program", NULL};
    struct child_run run = {.argv = argv, .limit_ms = 1000};
    struct err e = {0};
    uv_loop_t loop;
    uv_loop_init(&loop);
    times = 0;
    assert_null(child_start(&loop, &run, on_done, NULL, &e));
    assert_int_equal(e.code, ERR_INTERNAL);
    assert_non_null(strstr(e.msg, "/nonexistent/program"));
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(times, 0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers),   cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_no_reader), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_worked),    cmocka_unit_test(test_killed),
                                       cmocka_unit_test(test_no_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
