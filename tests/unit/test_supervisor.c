/* SPDX-License-Identifier: Apache-2.0
 *
 * Supervision of worker processes that are shell scripts: what a device's name says is what its worker does.
 */
#undef NDEBUG
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/processes/supervisor.h"
#include "engine/base/buf.h"
#include "engine/base/log.h"
#include "tests/lib/moves.h"

#define HELLO "printf '\\020\\0\\0\\0{\"type\":\"hello\"}' >&3\n"

static const char script[] =
    "#!/bin/sh\n"
    "case $3 in\n"
    "dies) exit 3;;\n"
    "speaks) " HELLO
    "exit 4;;\n"
    "tells) printf '\\041\\0\\0\\0{\"type\":\"ending\",\"message\":\"why\"}' >&3; exit 5;;\n"
    "nonsense) printf 'garbage and more' >&3; sleep 100;;\n"
    "mute) sleep 100;;\n"
    "lives) " HELLO
    "exec cat <&3 >/dev/null;;\n"
    "drains) " HELLO
    "head -c 20 <&3 >/dev/null; exit 0;;\n"
    "orphans) " HELLO
    "sleep 5 & exit 6;;\n"
    "leaves) " HELLO
    "exec 3>&-; sleep 100;;\n"
    "esac\n";

static char folder[64], program[80];

struct watch {
    uv_loop_t loop;
    struct supervisor *s;
    int frames, downs, frames_at_down;
    bool in_order;
    char how[256];
    bool refuse; /* frames */
    uv_timer_t limit;
};

static int on_frame(void *arg, int worker, const json_t *message, struct err *e)
{
    struct watch *w = arg;
    w->frames++;
    return w->refuse ? err_set(e, ERR_PROTOCOL, "not a word of it is true") : 0;
}

static void on_down(void *arg, int worker, bool in_order, const char *how)
{
    struct watch *w = arg;
    w->downs++;
    w->frames_at_down = w->frames;
    w->in_order = in_order;
    snprintf(w->how, sizeof w->how, "%s", how);
}

static void begin(struct watch *w, const char *device, uint64_t hello_ms)
{
    static const struct supervisor_ops ops = {on_frame, on_down};
    static const char *devices[1];
    devices[0] = device;
    *w = (struct watch){0};
    struct supervisor_config c = {program, 1, devices, 0, hello_ms};
    assert_int_equal(uv_loop_init(&w->loop), 0);
    w->s = supervisor_new(&w->loop, &c, &ops, w);
    supervisor_start(w->s);
}

static void on_limit(uv_timer_t *t)
{
    fail_msg("nothing happened in 20 s");
}

/* Until that many workers have ended. */
static void until_down(struct watch *w, int n)
{
    uv_timer_init(&w->loop, &w->limit);
    uv_timer_start(&w->limit, on_limit, 20000, 0);
    while (w->downs < n)
        uv_run(&w->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&w->limit, NULL);
}

static void until_heard(struct watch *w)
{
    while (!w->frames)
        uv_run(&w->loop, UV_RUN_ONCE);
}

static void end(struct watch *w)
{
    supervisor_close(w->s);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
}

static void its_states_are_those(void **state)
{
    assert_table(&supervisor_process_states,
                 "resting>started resting>reaped started>speaking started>closed "
                 "started>reaped speaking>closed speaking>reaped closed>over reaped>over "
                 "over>resting");
}

/* The states that a worker process went through until it was down. */
static void assert_went(const char *device, uint64_t hello_ms, const char *one, const char *other)
{
    struct watch w;
    char moves[200];
    moves_begin();
    begin(&w, device, hello_ms);
    until_down(&w, 1);
    moves_end("worker process", moves, sizeof moves);
    if (strcmp(moves, other) != 0)
        assert_string_equal(moves, one);
    end(&w);
}

/* Of one that closes its socket by its death, either may be noticed first. */
static void it_goes_through_its_states(void **state)
{
    assert_went("dies", 10000, "started closed over resting", "started reaped over resting");
    assert_went("speaks", 10000, "started speaking closed over resting", "started speaking reaped over resting");
    assert_went("mute", 100, "started closed over resting", "started reaped over resting");
    assert_went("leaves", 10000, "started speaking closed over resting", "");
    assert_went("orphans", 10000, "started speaking reaped over resting", "");
    assert_went("nonsense", 10000, "started closed over resting", "");
}

static void one_that_dies_is_started_again(void **state)
{
    struct watch w;
    begin(&w, "dies", 10000);
    uint64_t start = uv_hrtime();
    until_down(&w, 3);
    assert_true(uv_hrtime() - start > UINT64_C(550000000)); /* 200 and 400 ms of pauses */
    assert_false(w.in_order);
    assert_string_equal(w.how, "worker exited with status 3");
    end(&w);
}

static void what_it_said_before_it_died_counts(void **state)
{
    struct watch w;
    begin(&w, "speaks", 10000);
    until_down(&w, 1);
    assert_int_equal(w.frames_at_down, 1);
    assert_string_equal(w.how, "worker exited with status 4");
    end(&w);
}

static void why_it_ends_is_passed_on(void **state)
{
    struct watch w;
    begin(&w, "tells", 10000);
    until_down(&w, 1);
    assert_int_equal(w.frames, 0);
    assert_string_equal(w.how, "worker exited with status 5: why");
    end(&w);
}

static void nonsense_ends_it(void **state)
{
    struct watch w;
    begin(&w, "nonsense", 10000);
    until_down(&w, 1);
    assert_non_null(strstr(w.how, "worker killed: frame of "));
    assert_int_equal(w.frames, 0);
    end(&w);
    begin(&w, "lives", 10000);
    w.refuse = true;
    until_down(&w, 1);
    assert_string_equal(w.how, "worker killed: not a word of it is true");
    end(&w);
}

static void one_that_never_speaks_is_killed(void **state)
{
    struct watch w;
    begin(&w, "mute", 100);
    until_down(&w, 1);
    assert_string_equal(w.how, "worker killed: it said no hello");
    end(&w);
}

static void one_that_spoke_may_be_silent(void **state)
{
    struct watch w;
    begin(&w, "lives", 3000);
    until_heard(&w);
    uint64_t start = uv_hrtime();
    while (uv_hrtime() - start < UINT64_C(3500000000)) {
        uv_run(&w.loop, UV_RUN_NOWAIT);
        uv_sleep(10);
    }
    assert_int_equal(w.downs, 0);
    supervisor_end(w.s, 0, "window 3 has made no step");
    until_down(&w, 1);
    assert_string_equal(w.how, "worker killed: window 3 has made no step");
    end(&w);
}

static void one_that_closes_its_socket_is_killed(void **state)
{
    struct watch w;
    begin(&w, "leaves", 10000);
    until_down(&w, 1);
    assert_string_equal(w.how, "worker killed: it closed its socket");
    end(&w);
}

/* What a worker started and left behind, with its socket, is not waited for. */
static void one_that_leaves_orphans_is_down(void **state)
{
    struct watch w;
    begin(&w, "orphans", 10000);
    uint64_t start = uv_hrtime();
    until_down(&w, 1);
    assert_true(uv_hrtime() - start < UINT64_C(4000000000));
    assert_string_equal(w.how, "worker exited with status 6");
    end(&w);
}

static void a_drain_is_in_order_and_the_last(void **state)
{
    struct watch w;
    json_t *drain = json_pack("{s:s}", "type", "drain");
    begin(&w, "drains", 10000);
    until_heard(&w);
    supervisor_send(w.s, 0, drain);
    supervisor_drain(w.s);
    until_down(&w, 1);
    assert_true(w.in_order);
    assert_int_equal(supervisor_alive(w.s), 0);
    json_decref(drain);
    end(&w);
}

static int descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

/* No descriptors are left: it is tried again, and nothing has leaked. */
static void a_lack_of_descriptors_passes(void **state)
{
    static const struct supervisor_ops ops = {on_frame, on_down};
    static const char *devices[] = {"speaks"};
    struct supervisor_config c = {program, 1, devices, 0, 10000};
    struct watch w = {0};
    int taken[1024], n = 0;
    assert_int_equal(uv_loop_init(&w.loop), 0);
    w.s = supervisor_new(&w.loop, &c, &ops, &w);
    int before = descriptors();
    struct rlimit old, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = old;
    few.rlim_cur = 64;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (n < 64 && (taken[n] = dup(2)) >= 0)
        n++;
    assert_in_range(n, 1, 63);
    close(taken[--n]); /* one is free, a pair needs two */
    supervisor_start(w.s);
    uint64_t start = uv_hrtime();
    while (uv_hrtime() - start < UINT64_C(900000000)) {
        uv_run(&w.loop, UV_RUN_NOWAIT);
        uv_sleep(10);
    }
    assert_int_equal(w.downs, 0);
    while (n)
        close(taken[--n]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(descriptors(), before);
    until_down(&w, 2);
    end(&w);
}

static int setup(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/test_supervisor.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof program, "%s/worker", folder);
    struct err e = {0};
    assert_int_equal(buf_write_file(program, script, sizeof script - 1, &e), 0);
    return chmod(program, 0700);
}

static int teardown(void **state)
{
    unlink(program);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_states_are_those),
        cmocka_unit_test(it_goes_through_its_states),
        cmocka_unit_test(one_that_dies_is_started_again),
        cmocka_unit_test(what_it_said_before_it_died_counts),
        cmocka_unit_test(why_it_ends_is_passed_on),
        cmocka_unit_test(nonsense_ends_it),
        cmocka_unit_test(one_that_never_speaks_is_killed),
        cmocka_unit_test(one_that_spoke_may_be_silent),
        cmocka_unit_test(one_that_closes_its_socket_is_killed),
        cmocka_unit_test(one_that_leaves_orphans_is_down),
        cmocka_unit_test(a_drain_is_in_order_and_the_last),
        cmocka_unit_test(a_lack_of_descriptors_passes),
    };
    log_setup("test", LOG_ERROR);
    return cmocka_run_group_tests(tests, setup, teardown);
}
