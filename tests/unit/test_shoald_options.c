/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of shoald: every one that --help names is taken, has its default, and refuses what it cannot be; on the
 * command line and in its file, which is read again.
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
#include "engine/base/buf.h"

enum { WORDS = 8 };

#define FILE_PATH "test_shoald_options.yaml" /* in the folder that the test runs in */

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
    return options_parse(o, FILE_PATH, argc, argv, e);
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
        assert_int_equal(o.each[kind], quota_limit_of(q, 1000, kind));
    assert_false(options_answered(&o, ""));
    options_free(&o);
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
    options_free(&o);
    taken("--user-stored-bytes 100G --connections 4k --live-seconds 0 --portable --verbose", &o);
    assert_int_equal(o.each[QUOTA_STORED_BYTES], 100000000000);
    assert_int_equal(o.connections, 4000);
    assert_int_equal(o.live_seconds, 0);
    assert_true(o.portable && o.verbose && !o.idle);
    options_free(&o);
    taken("--device cuda:0+cuda:1 --device cuda:2 --device cpu:1+cpu:1", &o);
    assert_int_equal(o.ndevices, 3);
    assert_string_equal(o.devices[0], "cuda:0+cuda:1");
    options_free(&o);
    taken("--device cuda:GPU-3f6b --device cuda:GPU-8c1d --device cuda:MIG-3f6b", &o);
    assert_int_equal(o.ndevices, 3);
    assert_string_equal(o.devices[2], "cuda:MIG-3f6b");
    options_free(&o);
    taken("--slots 1 --slots 2", &o);
    assert_int_equal(o.slots, 2);
    options_free(&o);
    taken("--slots 1 -h", &o);
    assert_true(o.help);
}

static void test_refused(void **state)
{
    refused("--stat x", "no option --stat; did you mean --state?");
    refused("--frobnicate", "no option --frobnicate; --help lists them");
    refused("--slots", "--slots needs a value, N");
    refused("--idle=yes", "--idle takes no value, got \"yes\"");
    refused("--slots 0", "--slots 0: expected a whole number from 1 to 1000000");
    refused("--log xml", "--log xml: expected text or json");
    refused("--live-seconds -1", "--live-seconds -1: expected a whole number from 0 to 1000000");
    refused("--connections 4x", "--connections 4x: expected a whole number, as in 20 or 100G");
    refused("--device cuda:GPU-3f6b --device cuda:GPU-3f:eager",
            "--device cuda:GPU-3f:eager: that GPU is cuda:GPU-3f6b already: expected each once");
    refused("--device cuda:0 --device cuda:GPU-3f6b",
            "--device cuda:GPU-3f6b: it may be cuda:0: expected all GPUs by their numbers, or all by their ids");
    refused("--device cuda:GPU-xyz",
            "--device cuda:GPU-xyz: expected a number, as in cuda:0, or an id as nvidia-smi -L lists it, as in "
            "cuda:GPU-3f6b or "
            "cuda:MIG-8c1d");
    refused("--device cuda:0 --device cuda:0:eager",
            "--device cuda:0:eager: that GPU is cuda:0 already: expected each once");
    refused("--device cuda:2 --device cuda:0+cuda:1+cuda:2",
            "--device cuda:2: that GPU is cuda:2 already: expected each once");
    refused("--device cuda:0+cuda:1 --device cuda:1",
            "--device cuda:1: that GPU is cuda:1 already: expected each once");
    refused("--device cuda:1+cuda:1", "--device cuda:1: that GPU is cuda:1 already: expected each once");
    refused("--device cuda:0+cuda:GPU-3f6b",
            "--device cuda:0+cuda:GPU-3f6b: expected numbers of the GPUs that are joined, as in cuda:0+cuda:1");
    refused("--device cuda:0+cpu", "--device cuda:0+cpu: expected devices of one kind, as in cuda:0+cuda:1");
    refused("--device cuda:0+", "--device cuda:0+: expected devices of one kind, as in cuda:0+cuda:1");
    refused("run", "unexpected argument \"run\"; see shoald --help");
    refused("-- --slots", "unexpected argument \"--slots\"; see shoald --help");
}

static void write_file(const char *text)
{
    struct err e = {0};
    assert_int_equal(buf_write_file(FILE_PATH, text, strlen(text), &e), 0);
}

/* The command line comes before the file, the file before what is usual. */
static void test_file(void **state)
{
    struct options o;
    write_file(
        "slots: 3\ndevice: [cpu, cuda:1]\nslice-seconds: 20\nportable: yes\nidle: no\nuser-replicas: 4k\n"
        "user-ensembles: 7\nstate: /here\n");
    taken("--slice-seconds 30", &o);
    assert_int_equal(o.slots, 3);
    assert_int_equal(o.slice_seconds, 30);
    assert_int_equal(o.stall_seconds, 600);
    assert_true(o.portable && !o.idle);
    assert_int_equal(o.each[QUOTA_REPLICAS], 4000);
    assert_int_equal(o.each[QUOTA_ENSEMBLES], 7);
    assert_string_equal(o.state, "/here");
    assert_int_equal(o.ndevices, 2);
    assert_string_equal(o.devices[1], "cuda:1");
    options_free(&o);
    taken("--device cuda:0 --state there", &o);
    assert_int_equal(o.ndevices, 1);
    assert_string_equal(o.devices[0], "cuda:0");
    assert_string_equal(o.state, "there");
    options_free(&o);
    write_file("limits:\n  - {user: daemon, weight: 2.5, running: 4k}\n  - {ensembles: 3, stored-bytes: 2G}\n");
    taken("", &o);
    assert_string_equal(o.limits.text,
                        "user daemon weight 2.5 running 4000; weight 1 ensembles 3 stored-bytes 2000000000");
    struct quota *q = quota_new();
    options_limit(&o, q, 8192);
    assert_true(quota_weight(q, 1) == 2.5 && quota_weight(q, 2) == 1);
    assert_int_equal(quota_limit_of(q, 1, QUOTA_RUNNING), 4000);
    assert_int_equal(quota_limit_of(q, 1, QUOTA_ENSEMBLES), 20000);
    assert_int_equal(quota_limit_of(q, 2, QUOTA_STORED_BYTES), 2000000000);
    quota_free(q);
    options_free(&o);
    write_file("admins: {group: daemon}\n");
    taken("", &o);
    assert_string_equal(o.limits.admins, "daemon");
    options_free(&o);
    write_file("# nothing yet\n\n");
    taken("", &o);
    assert_null(o.file);
    options_free(&o);
    write_file("device: cpu\n");
    taken("--config=" FILE_PATH, &o);
    assert_int_equal(o.ndevices, 1);
    options_free(&o);
}

static void test_bad_file(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"slots: 3\nslot: 4\n", ":2: slot: unknown key; did you mean slots?"},
        {"slots: 0\n", ":1: slots: 0: out of range; expected a whole number from 1 to 1000000"},
        {"slots: 3\n\nidle: perhaps\n", ":3: idle: perhaps: expected yes or no"},
        {"log: xml\n", ":1: log: xml: expected text or json"},
        {"version: yes\n", ":1: version: unknown key; expected socket, "},
        {"user-replicas: 4x\n",
         ":1: user-replicas: 4x: expected text of 1 to 20 bytes like ^[0-9]+[kMGT]?$, such as 400"},
        {"idle: yes\nuser-replicas: 99999999999T\n",
         ":2: --user-replicas 99999999999T: expected a whole number, as in 20 or 100G"},
        {"device: [cuda:0, cuda:0]\n", ":1: --device cuda:0: that GPU is cuda:0 already: expected each once"},
        {"limits:\n  - {user: ann}\n  - {weight: 0}\n", ":3: limits[1].weight: 0: out of range; expected a number"},
        {"limits:\n  - user: ann\n    runing: 4\n", ":3: limits[0].runing: unknown key; did you mean running?"},
        {"admins: {user: ann}\n", ":1: admins.user: unknown key; expected group"},
        {"slots: 3\nslots: 4\n", ":2: slots: duplicate key; the first is in line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options o;
        struct err e = {0};
        write_file(cases[i].text);
        assert_true(parse("", &o, &e) < 0);
        assert_memory_equal(e.msg, FILE_PATH, strlen(FILE_PATH));
        assert_memory_equal(e.msg + strlen(FILE_PATH), cases[i].message, strlen(cases[i].message));
    }
    remove(FILE_PATH);
    refused("--config " FILE_PATH " --version x", "unexpected argument \"x\"; see shoald --help");
}

/* What may change is changed, what may not stays, and a bad file changes nothing. */
static void test_reload(void **state)
{
    char *argv[] = {"shoald", "--checks", "5", NULL};
    struct options o;
    struct err e = {0};
    write_file("slots: 3\nslice-seconds: 20\nstate: /here\nverbose: yes\nuser-ensembles: 7\n");
    assert_int_equal(options_parse(&o, FILE_PATH, 3, argv, &e), 0);
    write_file("slots: 4\nslice-seconds: 25\nstate: /there\nchecks: 6\nuser-ensembles: 8\n");
    assert_int_equal(options_reload(&o, 3, argv, &e), 0);
    assert_int_equal(o.slots, 3);
    assert_string_equal(o.state, "/here");
    assert_int_equal(o.slice_seconds, 25);
    assert_int_equal(o.checks, 5);
    assert_int_equal(o.each[QUOTA_ENSEMBLES], 8);
    assert_false(o.verbose);
    write_file("slice-seconds: 35\nslots: many\n");
    assert_int_equal(options_reload(&o, 3, argv, &e), -ERR_SPEC);
    assert_int_equal(o.slice_seconds, 25);
    remove(FILE_PATH);
    assert_int_equal(options_reload(&o, 3, argv, &e), 0);
    assert_int_equal(o.slice_seconds, 60);
    options_free(&o);
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
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_file),     cmocka_unit_test(test_bad_file), cmocka_unit_test(test_reload),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
