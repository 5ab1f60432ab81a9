/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/options.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/suggest.h"

/* What an option's argument is, and what its field: a text (const char *), a whole number (int), a number such as 100G (int64_t), none
 * (bool), or one more device. */
enum kind { TEXT, WHOLE, AMOUNT, FLAG, DEVICE };

/* `usual`: where it is not given, which --help adds to its text where there is one; `least`: of whole numbers. */
struct row {
    const char *name, *argument;
    enum kind kind;
    size_t field;
    int64_t least, usual;
    const char *help;
};

#define AT(field) offsetof(struct options, field)
static const struct row rows[] = {
    {"socket", "PATH", TEXT, AT(socket), 0, 0,
     "Unix socket of the API [$XDG_RUNTIME_DIR/shoald/api.sock; root: /run/shoald/api.sock]"},
    {"state", "DIR", TEXT, AT(state), 0, 0, "database and outputs [$XDG_STATE_HOME/shoald; root: /var/lib/shoald]"},
    {"device", "DEVICE", DEVICE, AT(devices), 0, 0,
     "cpu, cuda:0, ...; may be repeated [every usable CUDA device, else cpu]; with :eager behind it without graphs"},
    {"slots", "N", WHOLE, AT(slots), 1, 0,
     "replicas at once on each device [the worker's choice: a GPU's is measured]"},
    {"portable", NULL, FLAG, AT(portable), 0, 0,
     "the state folder may be on a network filesystem and may come from another machine or user: no other process can "
     "open its database, and all ensembles in it become the service's own"},
    {"idle", NULL, FLAG, AT(idle), 0, 0, "answer requests and run nothing"},
    {"worker", "PROGRAM", TEXT, AT(worker), 0, 0, "the worker program [$SHOAL_WORKER, or shoal-worker beside shoald]"},
    {"drain-seconds", "N", WHOLE, AT(drain_seconds), 1, 120, "how long workers may take to checkpoint at a stop"},
    {"slice-seconds", "N", WHOLE, AT(slice_seconds), 1, 60,
     "how long a replica runs while other users or ensembles wait for its slot"},
    {"stall-seconds", "N", WHOLE, AT(stall_seconds), 1, 600,
     "a replica that makes no step for so long is stuck and starts again"},
    {"user", "NAME", TEXT, AT(user), 0, 0, "started by root: become this user [shoal]; \"root\" stays root"},
    {"group", "NAME", TEXT, AT(group), 0, 0,
     "its members may connect [started by root: shoal-users; else nobody but the user]"},
    {"check-seconds", "N", WHOLE, AT(check_seconds), 1, 60, "processor time for reading one submission"},
    {"check-mib", "N", WHOLE, AT(check_mib), 1, 2048, "memory for reading one submission"},
    {"checks", "N", WHOLE, AT(checks), 1, 3, "submissions read at once"},
    {"estimate-seconds", "N", WHOLE, AT(estimate_seconds), 1, 3600, "processor time for estimating one ensemble"},
    {"estimate-mib", "N", WHOLE, AT(estimate_mib), 1, 8192, "memory for estimating one ensemble"},
    {"live-seconds", "N", WHOLE, AT(live_seconds), 0, 10,
     "the least time between two estimates of an ensemble that runs; 0: none is made unasked, but for stop-when"},
    {"connections", "N", AMOUNT, AT(connections), 0, -1,
     "of all users together [8192, or what the limit of open files allows]"},
    {"verbose", NULL, FLAG, AT(verbose), 0, 0, "debug messages"},
    {"version", NULL, FLAG, AT(version), 0, 0, "print the version"},
    {"help", NULL, FLAG, AT(help), 0, 0, "print this; so does -h"},
#define X(name, one, text, option, of_one, of_all) {option, "N", AMOUNT, AT(each[QUOTA_##name]), 0, of_one, text},
    QUOTA_KINDS(X)
#undef X
};
#undef AT

#define ROWS (sizeof rows / sizeof *rows)
#define LIMITS (ROWS - QUOTA_COUNT) /* the first of them; they are the last rows */

static const char usage[] =
    "usage: shoald [--socket PATH] [--state DIR] [--device DEVICE]... [--slots N]\n"
    "\n"
    "  shoald                             the devices of this machine, folders by the XDG rules\n"
    "  shoald --device cpu --slots 2      two replicas at once on the CPU\n"
    "\n";

static void print_usage(void)
{
    fputs(usage, stdout);
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        char name[40], usual[40] = "";
        if (i == LIMITS)
            fputs("\nLimits of one user (k, M, G, T after a number: thousands, millions, ...):\n", stdout);
        snprintf(name, sizeof name, "%s%s%s", r->name, r->argument ? " " : "", r->argument ? r->argument : "");
        if (r->usual > 0)
            snprintf(usual, sizeof usual, " [%" PRId64 "]", r->usual);
        printf("  --%-20s %s%s\n", name, r->help, usual);
    }
}

bool options_answered(const struct options *o)
{
    if (o->help)
        print_usage();
    else if (o->version)
        printf("shoald %s\n", SHOAL_VERSION);
    return o->help || o->version;
}

static int whole(const struct row *r, const char *text, int *out, struct err *e)
{
    char what[64];
    int64_t n;
    snprintf(what, sizeof what, "--%s ", r->name);
    int rc = number_whole(&n, what, text, r->least, 1000000, e);
    if (!rc)
        *out = (int)n;
    return rc;
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

static int take(struct options *o, const struct row *r, const char *value, struct err *e)
{
    char *field = (char *)o + r->field;
    switch (r->kind) {
    case TEXT:
        *(const char **)field = value;
        return 0;
    case WHOLE:
        return whole(r, value, (int *)field, e);
    case AMOUNT:
        return amount(r->name, value, (int64_t *)field, e);
    case FLAG:
        *(bool *)field = true;
        return 0;
    case DEVICE:
        return add_device(o, value, e);
    }
    return 0;
}

static int unknown(const char *name, struct err *e)
{
    const char *names[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        names[i] = rows[i].name;
    const char *near = suggest_nearest(name, names, ROWS);
    return err_set(e, ERR_USAGE, "no option --%s; %s%s%s", name, near ? "did you mean --" : "see shoald --help",
                   near ? near : "", near ? "?" : "");
}

/* Names are taken whole: --stat is not --state. */
static const struct row *find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* "--name VALUE", "--name=VALUE" or a flag; *used words of the line. */
static int take_word(struct options *o, char **words, int *used, struct err *e)
{
    char name[64];
    const char *is = strchr(words[0], '='), *value = is ? is + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(words[0] + 2, "="), words[0] + 2);
    const struct row *r = find(name);
    if (!r)
        return unknown(name, e);
    if (value && !r->argument)
        return err_set(e, ERR_USAGE, "--%s takes no value, got \"%s\"", r->name, value);
    if (!value && r->argument) {
        value = words[1];
        *used = 2;
    }
    if (!value && r->argument)
        return err_set(e, ERR_USAGE, "--%s needs a value, %s", r->name, r->argument);
    return take(o, r, value, e);
}

static void set_usual(struct options *o)
{
    *o = (struct options){0};
    for (size_t i = 0; i < ROWS; i++) {
        char *field = (char *)o + rows[i].field;
        if (rows[i].kind == WHOLE)
            *(int *)field = (int)rows[i].usual;
        else if (rows[i].kind == AMOUNT)
            *(int64_t *)field = rows[i].usual;
    }
}

int options_parse(struct options *o, int argc, char **argv, struct err *e)
{
    int rc = 0;
    set_usual(o);
    for (int i = 1, used = 1; i < argc && !rc; i += used) {
        used = 1;
        if (!strcmp(argv[i], "-h"))
            o->help = true;
        else if (!strncmp(argv[i], "--", 2))
            rc = take_word(o, argv + i, &used, e);
        else
            rc = err_set(e, ERR_USAGE, "unexpected argument \"%s\"; see shoald --help", argv[i]);
    }
    return rc;
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
