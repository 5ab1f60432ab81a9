/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command_line/args.h"

#define MOST 1000000 /* of seconds, MiB and the like */

/* One may be "cuda:0" and the other "cuda:0:eager". */
static bool same_gpu(const char *a, const char *b)
{
    static const char prefix[] = "cuda:";
    const size_t n = sizeof prefix - 1;
    return !strncmp(a, prefix, n) && !strncmp(b, prefix, n) && strtoul(a + n, NULL, 10) == strtoul(b + n, NULL, 10);
}

static int add_device(void *options, const char *name, struct err *e)
{
    struct options *o = options;
    if (o->ndevices == DEVICES_MAX)
        return err_set(e, ERR_USAGE, "--device: at most %d", DEVICES_MAX);
    for (int i = 0; i < o->ndevices; i++)
        if (same_gpu(o->devices[i], name))
            return err_set(e, ERR_USAGE, "--device %s: that GPU is %s already: expected each once", name,
                           o->devices[i]);
    o->devices[o->ndevices++] = name;
    return 0;
}

static const struct arg rows[] = {
    ARG(TEXT, "socket", "PATH", struct options, socket,
        .help = "Unix socket of the API [$XDG_RUNTIME_DIR/shoald/api.sock; root: /run/shoald/api.sock]"),
    ARG(TEXT, "state", "DIR", struct options, state,
        .help = "database and outputs [$XDG_STATE_HOME/shoald; root: /var/lib/shoald]"),
    ARG_CALL("device", "DEVICE", .take = add_device,
             .help = "cpu, cuda:0, ...; may be repeated [every usable CUDA device, else cpu]; with :eager behind it "
                     "without graphs"),
    ARG(WHOLE, "slots", "N", struct options, slots, .least = 1, .most = MOST,
        .help = "replicas at once on each device [the worker's choice: a GPU's is measured]"),
    ARG(FLAG, "portable", NULL, struct options, portable,
        .help = "the state folder may be on a network filesystem and may come from another machine or user: no other "
                "process can open its database, and all ensembles in it become the service's own"),
    ARG(FLAG, "idle", NULL, struct options, idle, .help = "answer requests and run nothing"),
    ARG(TEXT, "worker", "PROGRAM", struct options, worker,
        .help = "the worker program [$SHOAL_WORKER, or shoal-worker beside shoald]"),
    ARG(WHOLE, "drain-seconds", "N", struct options, drain_seconds, .least = 1, .most = MOST, .usual = 120,
        .help = "how long workers may take to checkpoint at a stop"),
    ARG(WHOLE, "slice-seconds", "N", struct options, slice_seconds, .least = 1, .most = MOST, .usual = 60,
        .help = "how long a replica runs while other users or ensembles wait for its slot"),
    ARG(WHOLE, "stall-seconds", "N", struct options, stall_seconds, .least = 1, .most = MOST, .usual = 600,
        .help = "a replica that makes no step for so long is stuck and starts again"),
    ARG(TEXT, "user", "NAME", struct options, user,
        .help = "started by root: become this user [shoal]; \"root\" stays root"),
    ARG(TEXT, "group", "NAME", struct options, group,
        .help = "its members may connect [started by root: shoal-users; else nobody but the user]"),
    ARG(WHOLE, "check-seconds", "N", struct options, check_seconds, .least = 1, .most = MOST, .usual = 60,
        .help = "processor time for reading one submission"),
    ARG(WHOLE, "check-mib", "N", struct options, check_mib, .least = 1, .most = MOST, .usual = 2048,
        .help = "memory for reading one submission"),
    ARG(WHOLE, "checks", "N", struct options, checks, .least = 1, .most = MOST, .usual = 3,
        .help = "submissions read at once"),
    ARG(WHOLE, "estimate-seconds", "N", struct options, estimate_seconds, .least = 1, .most = MOST, .usual = 3600,
        .help = "processor time for estimating one ensemble"),
    ARG(WHOLE, "estimate-mib", "N", struct options, estimate_mib, .least = 1, .most = MOST, .usual = 8192,
        .help = "memory for estimating one ensemble"),
    ARG(WHOLE, "live-seconds", "N", struct options, live_seconds, .least = 0, .most = MOST, .usual = 10,
        .help = "the least time between two estimates of an ensemble that runs; 0: none is made unasked, but for "
                "stop-when"),
    ARG(AMOUNT, "connections", "N", struct options, connections, .usual = -1,
        .help = "of all users together [8192, or what the limit of open files allows]"),
    ARG(FLAG, "verbose", NULL, struct options, verbose, .help = "debug messages"),
    ARG(FLAG, "version", NULL, struct options, version, .help = "print the version"),
#define X(name, one, text, option, of_one, of_all)                                                                     \
    ARG(AMOUNT, option, "N", struct options, each[QUOTA_##name], .usual = (of_one), .help = text),
    QUOTA_KINDS(X)
#undef X
};

#define ROWS (sizeof rows / sizeof *rows)
#define OPTIONS (ROWS - QUOTA_COUNT) /* limits of one user are the last rows */

static const char usage[] =
    "usage: shoald [--socket PATH] [--state DIR] [--device DEVICE]... [--slots N]\n"
    "\n"
    "  shoald                             the devices of this machine, folders by the XDG rules\n"
    "  shoald --device cpu --slots 2      two replicas at once on the CPU\n"
    "\n";

static void print_usage(void)
{
    fputs(usage, stdout);
    args_print(rows, OPTIONS);
    fputs(
        "  --help                 print this\n"
        "\nLimits of one user (k, M, G, T after a number: thousands, millions, ...):\n",
        stdout);
    args_print(rows + OPTIONS, QUOTA_COUNT);
}

bool options_answered(const struct options *o, const char *build)
{
    if (o->help)
        print_usage();
    else if (o->version)
        printf("shoald %s, %s\n", SHOAL_VERSION, build);
    return o->help || o->version;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
    int words;
    *o = (struct options){0};
    args_usual(rows, ROWS, o);
    int rc = args_read(rows, ROWS, o, argc, argv, &words, e);
    o->help = rc == ARGS_HELP;
    if (!rc && words)
        return err_set(e, ERR_USAGE, "unexpected argument \"%s\"; see shoald --help", argv[1]);
    return rc < 0 ? rc : 0;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void options_limit(const struct options *o, struct quota *q, int64_t connections_possible)
{
    for (int kind = 0; kind < QUOTA_COUNT; kind++)
        quota_limit(q, kind, o->each[kind], quota_limit_all(q, kind));
    int64_t all = o->connections < 0 ? quota_limit_all(q, QUOTA_CONNECTIONS) : o->connections;
    all = smaller(all, connections_possible);
    /* One user alone does not fill the service. */
    quota_limit(q, QUOTA_CONNECTIONS, smaller(quota_limit_each(q, QUOTA_CONNECTIONS), all - all / 4), all);
}
