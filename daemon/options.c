/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/log.h"
#include "engine/base/number.h"
#include "engine/base/suggest.h"

#define DRAIN_SECONDS 120
#define SLICE_SECONDS 60
#define STALL_SECONDS 600
#define CHECK_SECONDS 60
#define CHECK_MIB 2048
#define CHECKS 3
#define ESTIMATE_SECONDS 3600
#define ESTIMATE_MIB 8192
#define LIVE_SECONDS 10
#define LIMIT_OPTION 1000 /* of the first quota kind; the others follow */

static const char usage[] =
    "usage: shoald [--socket PATH] [--state DIR] [--device DEVICE]... [--slots N]\n"
    "\n"
    "  shoald                             the devices of this machine, folders by the XDG rules\n"
    "  shoald --device cpu --slots 2      two replicas at once on the CPU\n"
    "\n"
    "  --socket PATH        Unix socket of the API [$XDG_RUNTIME_DIR/shoald/api.sock; root: /run/shoald/api.sock]\n"
    "  --state DIR          database and outputs [$XDG_STATE_HOME/shoald; root: /var/lib/shoald]\n"
    "  --device DEVICE      cpu, cuda:0, ...; may be repeated [every usable CUDA device, else cpu]; with :eager behind "
    "it "
    "without graphs\n"
    "  --slots N            replicas at once on each device [the worker's choice: a GPU's is measured]\n"
    "  --portable           the state folder may be on a network filesystem and may come from another machine or user: "
    "no\n"
    "                       other process can open its database, and all ensembles in it become the service's own\n"
    "  --idle               answer requests and run nothing\n"
    "  --worker PROGRAM     the worker program [$SHOAL_WORKER, or shoal-worker beside shoald]\n"
    "  --drain-seconds N    how long workers may take to checkpoint at a stop [120]\n"
    "  --slice-seconds N    how long a replica runs while other users or ensembles wait for its slot [60]\n"
    "  --stall-seconds N    a replica that makes no step for so long is stuck and starts again [600]\n"
    "  --user NAME          started by root: become this user [shoal]; \"root\" stays root\n"
    "  --group NAME         its members may connect [started by root: shoal-users; else nobody but the user]\n"
    "  --check-seconds N    processor time for reading one submission [60]\n"
    "  --check-mib N        memory for reading one submission [2048]\n"
    "  --checks N           submissions read at once [3]\n"
    "  --estimate-seconds N processor time for estimating one ensemble [3600]\n"
    "  --estimate-mib N     memory for estimating one ensemble [8192]\n"
    "  --live-seconds N     at least, between two estimates of an ensemble that runs; 0: none is made unasked, but for "
    "stop-when [10]\n"
    "  --connections N      of all users together [8192, or what the limit of open files allows]\n"
    "  --verbose            debug messages\n"
    "  --version, --help\n"
    "\n"
    "Limits of one user (k, M, G, T after a number: thousands, millions, ...):\n";

static void print_usage(void)
{
    fputs(usage, stdout);
#define X(name, one, text, option, each, all)                                                                          \
    printf("  --%-18s %s [%" PRId64 "]\n", option " N", text, (int64_t)(each));
    QUOTA_KINDS(X)
#undef X
}

static int whole_from(int64_t least, const char *name, const char *text, int *out, struct err *e)
{
    char what[64];
    int64_t n;
    snprintf(what, sizeof what, "--%s ", name);
    int rc = number_whole(&n, what, text, least, 1000000, e);
    if (!rc)
        *out = (int)n;
    return rc;
}

static int whole(const char *name, const char *text, int *out, struct err *e)
{
    return whole_from(1, name, text, out, e);
}

/* "20", "100G" */
static int amount(const char *name, const char *text, int64_t *out, struct err *e)
{
    static const char suffixes[] = "kMGT";
    char *end = NULL;
    long long n = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1, unit = 1;
    const char *suffix = end && *end ? strchr(suffixes, *end) : NULL;
    for (const char *s = suffixes; suffix && s <= suffix; s++)
        unit *= 1000;
    if (suffix)
        end++;
    if (n < 0 || *end || __builtin_mul_overflow(n, unit, &n) || n == INT64_MAX)
        return err_set(e, ERR_USAGE, "--%s %s: expected a whole number, as in 20 or 100G", name, text);
    *out = n;
    return 0;
}

static int take_limit(struct options *o, int c, const char *value, struct err *e)
{
    static const char *const names[QUOTA_COUNT] = {
#define X(name, one, text, option, each, all) [QUOTA_##name] = option,
        QUOTA_KINDS(X)
#undef X
    };
    int kind = c - LIMIT_OPTION;
    if (kind < 0 || kind >= QUOTA_COUNT)
        return err_set(e, ERR_USAGE, "see shoald --help");
    return amount(names[kind], value, &o->each[kind], e);
}

/* One may be "cuda:0" and the other "cuda:0:eager". */
static bool same_gpu(const char *a, const char *b)
{
    static const char prefix[] = "cuda:";
    const size_t n = sizeof prefix - 1;
    return !strncmp(a, prefix, n) && !strncmp(b, prefix, n) && strtoul(a + n, NULL, 10) == strtoul(b + n, NULL, 10);
}

static int add_device(struct options *o, const char *name, struct err *e)
{
    if (o->ndevices == DEVICES_MAX)
        return err_set(e, ERR_USAGE, "--device: at most %d", DEVICES_MAX);
    for (int i = 0; i < o->ndevices; i++)
        if (same_gpu(o->devices[i], name))
            return err_set(e, ERR_USAGE, "--device %s: that GPU is %s already: expected each once", name,
                           o->devices[i]);
    o->devices[o->ndevices++] = name;
    return 0;
}

static int take_option(struct options *o, int c, const char *value, struct err *e)
{
    switch (c) {
    case 's':
        o->socket = value;
        return 0;
    case 'd':
        o->state = value;
        return 0;
    case 'w':
        o->worker = value;
        return 0;
    case 'u':
        o->user = value;
        return 0;
    case 'g':
        o->group = value;
        return 0;
    case 'D':
        return add_device(o, value, e);
    case 'n':
        return whole("slots", value, &o->slots, e);
    case 't':
        return whole("drain-seconds", value, &o->drain_seconds, e);
    case 'l':
        return whole("slice-seconds", value, &o->slice_seconds, e);
    case 'p':
        return whole("stall-seconds", value, &o->stall_seconds, e);
    case 'S':
        return whole("check-seconds", value, &o->check_seconds, e);
    case 'M':
        return whole("check-mib", value, &o->check_mib, e);
    case 'E':
        return whole("estimate-seconds", value, &o->estimate_seconds, e);
    case 'F':
        return whole("estimate-mib", value, &o->estimate_mib, e);
    case 'L':
        return whole_from(0, "live-seconds", value, &o->live_seconds, e);
    case 'C':
        return whole("checks", value, &o->checks, e);
    case 'c':
        return amount("connections", value, &o->connections, e);
    case 'P':
        o->portable = true;
        return 0;
    case 'I':
        o->idle = true;
        return 0;
    case 'v':
        log_setup("shoald", LOG_DEBUG);
        return 0;
    case 'V':
        printf("shoald %s\n", SHOAL_VERSION);
        exit(0);
    case 'h':
        print_usage();
        exit(0);
    }
    return take_limit(o, c, value, e);
}

/* Names are taken whole, where getopt would take any beginning: --stat is not --state. */
static int check_names(const struct option *known, int argc, char **argv, struct err *e)
{
    const char *names[64];
    size_t n = 0;
    for (const struct option *k = known; k->name && n < sizeof names / sizeof *names; k++)
        names[n++] = k->name;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t length = strcspn(argv[i], "=");
        const struct option *k = known;
        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        while (k->name && (strlen(k->name) != length - 2 || strncmp(k->name, argv[i] + 2, length - 2) != 0))
            k++;
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)length - 2, argv[i] + 2);
        const char *near = suggest_nearest(word, names, n);
        if (!k->name)
            return err_set(e, ERR_USAGE, "no option --%s; %s%s%s", word, near ? "did you mean --" : "see shoald --help",
                           near ? near : "", near ? "?" : "");
        i += k->has_arg && !argv[i][length]; /* its value */
    }
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
    static const struct option known[] = {{"socket", required_argument, NULL, 's'},
                                          {"state", required_argument, NULL, 'd'},
                                          {"worker", required_argument, NULL, 'w'},
                                          {"user", required_argument, NULL, 'u'},
                                          {"group", required_argument, NULL, 'g'},
                                          {"device", required_argument, NULL, 'D'},
                                          {"slots", required_argument, NULL, 'n'},
                                          {"portable", no_argument, NULL, 'P'},
                                          {"idle", no_argument, NULL, 'I'},
                                          {"drain-seconds", required_argument, NULL, 't'},
                                          {"slice-seconds", required_argument, NULL, 'l'},
                                          {"stall-seconds", required_argument, NULL, 'p'},
                                          {"check-seconds", required_argument, NULL, 'S'},
                                          {"check-mib", required_argument, NULL, 'M'},
                                          {"estimate-seconds", required_argument, NULL, 'E'},
                                          {"estimate-mib", required_argument, NULL, 'F'},
                                          {"live-seconds", required_argument, NULL, 'L'},
                                          {"checks", required_argument, NULL, 'C'},
                                          {"connections", required_argument, NULL, 'c'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"help", no_argument, NULL, 'h'},
#define X(name, one, text, option, each, all) {option, required_argument, NULL, LIMIT_OPTION + QUOTA_##name},
                                          QUOTA_KINDS(X)
#undef X
                                              {NULL, 0, NULL, 0}};
    int c, rc = check_names(known, argc, argv, e);
    if (rc)
        return rc;
    *o = (struct options){.drain_seconds = DRAIN_SECONDS,
                          .slice_seconds = SLICE_SECONDS,
                          .stall_seconds = STALL_SECONDS,
                          .check_seconds = CHECK_SECONDS,
                          .check_mib = CHECK_MIB,
                          .checks = CHECKS,
                          .estimate_seconds = ESTIMATE_SECONDS,
                          .estimate_mib = ESTIMATE_MIB,
                          .live_seconds = LIVE_SECONDS,
                          .connections = -1};
    for (int i = 0; i < QUOTA_COUNT; i++)
        o->each[i] = -1;
    while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1)
        if (take_option(o, c, optarg, e))
            return -(int)e->code;
    if (optind < argc)
        return err_set(e, ERR_USAGE, "unexpected argument \"%s\"; see shoald --help", argv[optind]);
    return 0;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void options_limit(const struct options *o, struct quota *q, int64_t connections_possible)
{
    for (int kind = 0; kind < QUOTA_COUNT; kind++)
        quota_limit(q, kind, o->each[kind] < 0 ? quota_limit_each(q, kind) : o->each[kind], quota_limit_all(q, kind));
    int64_t all = o->connections < 0 ? quota_limit_all(q, QUOTA_CONNECTIONS) : o->connections;
    all = smaller(all, connections_possible);
    /* One user alone does not fill the service. */
    quota_limit(q, QUOTA_CONNECTIONS, smaller(quota_limit_each(q, QUOTA_CONNECTIONS), all - all / 4), all);
}
