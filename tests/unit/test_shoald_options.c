/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of shoald: every option that --help names is taken, has its default, and refuses what it cannot be.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/command_line/args.h"
#include "daemon/options.h"

enum { WORDS = 8 };

/* Of words with single spaces between. */
static int parse(const char *line, struct options *o, struct err *e)
{
    static char text[200], *argv[WORDS + 2];
    int argc = 1;
    snprintf(text, sizeof text, "%s", line);
    argv[0] = "shoald";
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return options_parse(o, argc, argv, e);
}

static void taken(const char *line, struct options *o)
{
    struct err e = {0};
    if (parse(line, o, &e))
        fail_msg("%s: %s", line, e.msg);
}

static void refused(const char *line, const char *message)
{
    struct options o;
    struct err e = {0};
    assert_int_equal(parse(line, &o, &e), -ERR_USAGE);
    assert_string_equal(e.msg, message);
}

static void test_defaults(void **state)
{
    struct options o;
    struct quota *q = quota_new();
    taken("", &o);
    assert_true(!o.socket && !o.state && !o.worker && !o.user && !o.group && !o.ndevices && !o.slots);
    assert_true(!o.portable && !o.idle && !o.verbose && !o.version && !o.help);
    assert_int_equal(o.drain_seconds, 120);
    assert_int_equal(o.live_seconds, 10);
    assert_int_equal(o.connections, -1);
    for (int kind = 0; kind < QUOTA_COUNT; kind++)
        assert_int_equal(o.each[kind], quota_limit_each(q, kind));
    assert_false(options_answered(&o, ""));
    quota_free(q);
}

static void test_values(void **state)
{
    struct options o;
    taken("--socket s --state=d --device cpu --device=cuda:0 --slots 3", &o);
    assert_string_equal(o.socket, "s");
    assert_string_equal(o.state, "d");
    assert_int_equal(o.ndevices, 2);
    assert_string_equal(o.devices[1], "cuda:0");
    assert_int_equal(o.slots, 3);
    taken("--user-stored-bytes 100G --connections 4k --live-seconds 0 --portable --verbose", &o);
    assert_int_equal(o.each[QUOTA_STORED_BYTES], 100000000000);
    assert_int_equal(o.connections, 4000);
    assert_int_equal(o.live_seconds, 0);
    assert_true(o.portable && o.verbose && !o.idle);
    taken("--slots 1 --slots 2 -h", &o);
    assert_int_equal(o.slots, 2);
    assert_true(o.help);
}

static void test_refused(void **state)
{
    refused("--stat x", "no option --stat; did you mean --state?");
    refused("--frobnicate", "no option --frobnicate; --help lists them");
    refused("--slots", "--slots needs a value, N");
    refused("--idle=yes", "--idle takes no value, got \"yes\"");
    refused("--slots 0", "--slots 0: expected a whole number from 1 to 1000000");
    refused("--live-seconds -1", "--live-seconds -1: expected a whole number from 0 to 1000000");
    refused("--connections 4x", "--connections 4x: expected a whole number, as in 20 or 100G");
    refused("--device cuda:0 --device cuda:0:eager",
            "--device cuda:0:eager: that GPU is cuda:0 already: expected each once");
    refused("run", "unexpected argument \"run\"; see shoald --help");
    refused("-- --slots", "unexpected argument \"--slots\"; see shoald --help");
}

/* Words and repeated options, as commands of the worker have them. */
static void test_list(void **state)
{
    static const struct arg row = {.name = "include", .argument = "DIR", .kind = ARG_LIST};
    struct args_list list = {.n = 0};
    struct err e = {0};
    char *argv[] = {"x", "a", "--include", "b", "-", "--include=c", "--", "--include", NULL},
         *many[2 * ARGS_LISTED + 4] = {"x"};
    int words = -1;
    assert_int_equal(args_read(&row, 1, &list, 8, argv, &words, &e), 0);
    assert_true(list.n == 2 && !strcmp(list.items[0], "b") && !strcmp(list.items[1], "c"));
    assert_true(words == 3 && !strcmp(argv[1], "a") && !strcmp(argv[2], "-") && !strcmp(argv[3], "--include"));
    for (int i = 1; i < 2 * ARGS_LISTED + 3; i++)
        many[i] = i % 2 ? "--include" : "b";
    list.n = 0;
    assert_int_equal(args_read(&row, 1, &list, 2 * ARGS_LISTED + 3, many, &words, &e), -ERR_USAGE);
    assert_string_equal(e.msg, "--include: at most 32 of them");
    assert_true(list.n == ARGS_LISTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
