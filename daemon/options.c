/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command_line/args.h"
#include "daemon/command_line/file.h"
#include "daemon/host/paths.h"
#include "daemon/spec/document/schema.h"
#include "engine/base/buf.h"
#include "engine/base/log.h"
#include "engine/base/number.h"
#include "graphs/kinds.h"

#define MOST 1000000 /* of seconds, MiB and the like */

/* One may be "cuda:0" and the other "cuda:0:eager", or one the beginning of the other's id. Of a number and an id
 * nobody knows. */
static bool may_be_same_gpu(const char *a, const char *b)
{
    const size_t n = strcspn(a, ":") + 1;
    const char *x = device_id(a), *y = device_id(b);
    if (!device_is_gpu(a) || strncmp(a, b, n) != 0)
        return false;
    if (!x || !y)
        return x || y || strtoul(a + n, NULL, 10) == strtoul(b + n, NULL, 10);
    const size_t i = device_id_length(x), j = device_id_length(y);
    return !strncmp(x, y, i < j ? i : j);
}

static int refuse_twice(const char *name, const char *before, struct err *e)
{
    if (!device_id(name) != !device_id(before))
        return err_set(e, ERR_USAGE,
                       "--device %s: it may be %s: expected all GPUs by their numbers, or all by their ids", name,
                       before);
    return err_set(e, ERR_USAGE, "--device %s: that GPU is %s already: expected each once", name, before);
}

extern const char shoald_schema_text[];
extern const size_t shoald_schema_text_len;

static int check_name(const char *name, struct err *e)
{
    if (device_is_gpu(name) && !device_id(name) && !isdigit((unsigned char)name[strcspn(name, ":") + 1]))
        return err_set(e, ERR_USAGE,
                       "--device %s: expected a number, as in cuda:0, or an id as nvidia-smi -L lists it, as in "
                       "cuda:GPU-3f6b or cuda:MIG-8c1d",
                       name);
    return 0;
}

/* A part of a joined name: a process that opens a GPU by its id opens no other. */
static int check_part(const char *joined, const char *name, struct err *e)
{
    const size_t kind = strcspn(joined, ":+");
    if (device_id(name))
        return err_set(e, ERR_USAGE, "--device %s: expected numbers of the GPUs that are joined, as in cuda:0+cuda:1",
                       joined);
    if (kind != strcspn(name, ":") || strncmp(joined, name, kind) != 0)
        return err_set(e, ERR_USAGE, "--device %s: expected devices of one kind, as in cuda:0+cuda:1", joined);
    return 0;
}

/* Whether one of the first `n` parts of `before` may be the GPU `name`. */
static int refuse_among(const char *name, const char *before, int n, struct err *e)
{
    char part[DEVICES_NAME];
    for (int i = 0; i < n; i++) {
        device_part(before, i, part, sizeof part);
        if (may_be_same_gpu(part, name))
            return refuse_twice(name, part, e);
    }
    return 0;
}

static int add_device(void *options, const char *name, struct err *e)
{
    struct options *o = options;
    char part[DEVICES_NAME];
    const int parts = device_joined(name);
    int rc = 0;
    if (o->ndevices == DEVICES_MAX)
        return err_set(e, ERR_USAGE, "--device: at most %d", DEVICES_MAX);
    if (strlen(name) >= DEVICES_NAME)
        return err_set(e, ERR_USAGE, "--device %s: expected a name of at most %d bytes", name, DEVICES_NAME - 1);
    for (int i = 0; i < parts && !rc; i++) {
        device_part(name, i, part, sizeof part);
        rc = parts > 1 ? check_part(name, part, e) : 0;
        if (!rc)
            rc = check_name(part, e);
        if (!rc)
            rc = refuse_among(part, name, i, e);
        for (int k = 0; k < o->ndevices && !rc; k++)
            rc = refuse_among(part, o->devices[k], device_joined(o->devices[k]), e);
    }
    if (!rc)
        o->devices[o->ndevices++] = name;
    return rc;
}

static const struct arg rows[] = {
    ARG(TEXT, "config", "FILE", struct options, config, .line = true,
        .help = "a file with options, which those of the command line come before [/etc/shoal/shoald.yaml; of a user "
                "$XDG_CONFIG_HOME/shoal/shoald.yaml]"),
    ARG(TEXT, "socket", "PATH", struct options, socket, .fixed = true, .example = "/run/shoald/api.sock",
        .help = "Unix socket of the API [$XDG_RUNTIME_DIR/shoald/api.sock; root: /run/shoald/api.sock]"),
    ARG(TEXT, "state", "DIR", struct options, state, .fixed = true, .example = "/var/lib/shoald",
        .help = "database and outputs [$XDG_STATE_HOME/shoald; root: /var/lib/shoald]"),
    ARG_CALL(
        "device", "DEVICE", .take = add_device, .fixed = true, .example = "cuda:0",
        .help = "cpu, cuda:0, cuda:GPU-UUID, cuda:MIG-UUID (as nvidia-smi -L lists them, or their beginnings); "
                "may be repeated [every usable GPU, else cpu]; with :eager behind it without graphs; cuda:0+cuda:1 are "
                "one device, whose worker spreads replicas over both"),
    ARG(WHOLE, "slots", "N", struct options, slots, .least = 1, .most = MOST, .fixed = true, .example = "24",
        .help = "replicas at once on each device [the worker's choice: a GPU's is measured]"),
    ARG(FLAG, "portable", NULL, struct options, portable, .fixed = true,
        .help = "the state folder may be on a network filesystem and may come from another machine or user: no other "
                "process can open its database, and all ensembles in it become the service's own"),
    ARG(FLAG, "idle", NULL, struct options, idle, .fixed = true, .help = "answer requests and run nothing"),
    ARG(TEXT, "worker", "PROGRAM", struct options, worker, .fixed = true, .example = "/usr/local/bin/shoal-worker",
        .help = "the worker program [$SHOAL_WORKER, or shoal-worker beside shoald]"),
    ARG(WHOLE, "drain-seconds", "N", struct options, drain_seconds, .least = 1, .most = MOST, .usual = 120,
        .help = "how long workers may take to checkpoint at a stop"),
    ARG(WHOLE, "slice-seconds", "N", struct options, slice_seconds, .least = 1, .most = MOST, .usual = 60,
        .help = "how long a replica runs while other users or ensembles wait for its slot"),
    ARG(WHOLE, "stall-seconds", "N", struct options, stall_seconds, .least = 1, .most = MOST, .usual = 600,
        .help = "a replica that makes no step for so long is stuck and starts again"),
    ARG(WHOLE, "half-life-hours", "N", struct options, half_life_hours, .least = 1, .most = MOST, .usual = 168,
        .help = "after so long what a user has used counts half in the shares of users"),
    ARG(WHOLE, "accounting-days", "N", struct options, accounting_days, .least = 1, .most = MOST, .usual = 400,
        .help = "days that what users have used is kept, also of ensembles that were removed"),
    ARG(TEXT, "user", "NAME", struct options, user, .fixed = true, .example = "shoal",
        .help = "started by root: become this user [shoal]; \"root\" stays root"),
    ARG(TEXT, "group", "NAME", struct options, group, .fixed = true, .example = "shoal-users",
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
    ARG(AMOUNT, "connections", "N", struct options, connections, .usual = -1, .fixed = true, .example = "8192",
        .help = "of all users together [8192, or what the limit of open files allows]"),
    ARG(TEXT, "on-end", "COMMAND", struct options, on_end, .fixed = true,
        .example = "shoal results \"$SHOAL_ENSEMBLE\" | mail -s \"$SHOAL_NAME: $SHOAL_STATE\" ann",
        .help = "run this with sh when an ensemble is done, failed or cancelled, as the user that shoald runs as, and "
                "only for that user's own ensembles"),
    ARG(TEXT, "log", "FORM", struct options, log, .fixed = true, .choices = {"text", "json"}, .example = "json",
        .help = "how lines of the log are written: text, or json, an object a line [text]"),
    ARG(FLAG, "verbose", NULL, struct options, verbose, .help = "debug messages"),
    ARG(FLAG, "check-config", NULL, struct options, check_config, .line = true,
        .help = "read options and file, say what is wrong with them, and end"),
    ARG(FLAG, "schema", NULL, struct options, schema, .line = true, .help = "print the JSON Schema of the file"),
    ARG(FLAG, "version", NULL, struct options, version, .line = true, .help = "print the version"),
#define X(name, one, text, option, of_one, of_all)                                                                     \
    ARG(AMOUNT, option, "N", struct options, each[QUOTA_##name], .usual = (of_one), .about = "limit of one user",      \
        .help = text),
    QUOTA_KINDS(X)
#undef X
};

/* Of the mapping "metrics" in the file. */
static const struct arg metrics_rows[] = {
    ARG(TEXT, "file", "FILE", struct options, metrics_file, .fixed = true,
        .example = "/var/lib/prometheus/node-exporter/shoal.prom",
        .help = "the file, which is replaced as a whole and is readable to all; its name has to end in .prom. The user "
                "that shoald runs as must be able to make files in its folder"),
    ARG(WHOLE, "every", "SECONDS", struct options, metrics_every, .least = 1, .most = 86400, .usual = 15,
        .help = "seconds from one to the next"),
};

#define ROWS (sizeof rows / sizeof *rows)
#define METRICS_ROWS (sizeof metrics_rows / sizeof *metrics_rows)
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

static json_t *schema_of_file(struct err *e)
{
    json_t *schema = schema_read(shoald_schema_text, shoald_schema_text_len, e);
    if (!schema)
        return NULL;
    limits_schema(schema);
    args_schema(json_object_get(json_object_get(schema, "properties"), "metrics"), metrics_rows, METRICS_ROWS);
    args_schema(schema, rows, ROWS);
    return schema;
}

static void print_schema(void)
{
    struct err e = {0};
    json_t *schema = schema_of_file(&e);
    if (schema)
        json_dumpf(schema, stdout, JSON_INDENT(2));
    puts("");
    json_decref(schema);
}

bool options_answered(const struct options *o, const char *build)
{
    if (o->help)
        print_usage();
    else if (o->version)
        printf("shoald %s, %s\n", SHOAL_VERSION, build);
    else if (o->schema)
        print_schema();
    else if (o->check_config)
        printf("%s: %s\n", o->path ? o->path : "no file", o->file ? "it can be used" : "there is nothing in it");
    return o->help || o->version || o->schema || o->check_config;
}

/* The command line alone. */
static int read_line(struct options *o, int argc, char **argv, struct err *e)
{
    int words, rc = args_read(rows, ROWS, o, argc, argv, &words, e);
    o->help = rc == ARGS_HELP;
    if (!rc && words)
        return err_set(e, ERR_USAGE, "unexpected argument \"%s\"; see shoald --help", argv[1]);
    return rc < 0 ? rc : 0;
}

static int read_file(struct options *o, bool must, struct err *e)
{
    json_t *schema = schema_of_file(e);
    int rc = schema ? args_file_read(&o->file, schema, o->path, must, e) : -(int)e->code;
    if (rc == 0)
        rc = args_file_take(o->file, o->path, rows, ROWS, o, e);
    if (rc == 0)
        rc = args_file_take(node_get(o->file, "metrics"), o->path, metrics_rows, METRICS_ROWS, o, e);
    if (rc == 0)
        rc = limits_read(&o->limits, o->file, o->path, e);
    json_decref(schema);
    return rc;
}

/* The command line is read twice: for the name of the file, and over what the file says. */
int options_parse(struct options *o, const char *path, int argc, char **argv, struct err *e)
{
    struct options given = {0};
    *o = (struct options){0};
    args_usual(rows, ROWS, o);
    args_usual(metrics_rows, METRICS_ROWS, o);
    int rc = read_line(&given, argc, argv, e);
    o->help = given.help;
    if (rc || o->help)
        return rc;
    const char *named = given.config ? given.config : path;
    o->path = named ? xstrdup(named) : paths_config();
    if (o->path && !given.version && !given.schema)
        rc = read_file(o, given.config != NULL, e);
    if (rc == 0 && given.ndevices)
        o->ndevices = 0; /* those of the command line are instead of the file's */
    if (rc == 0)
        rc = read_line(o, argc, argv, e);
    if (rc)
        options_free(o);
    return rc;
}

void options_free(struct options *o)
{
    node_free(o->file);
    free(o->path);
    limits_free(&o->limits);
    o->file = NULL;
    o->path = NULL;
}

/* ---- reading the file again ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_devices(const struct options *a, const struct options *b)
{
    for (int i = 0; i < a->ndevices && i < b->ndevices; i++)
        if (strcmp(a->devices[i], b->devices[i]) != 0)
            return false;
    return a->ndevices == b->ndevices;
}

static void *field_of(const struct arg *r, const struct options *o)
{
    return (char *)o + r->field;
}

static bool same(const struct arg *r, const struct options *a, const struct options *b)
{
    const void *x = field_of(r, a), *y = field_of(r, b);
    switch (r->kind) {
    case ARG_TEXT:
        return same_text(*(const char *const *)x, *(const char *const *)y);
    case ARG_WHOLE:
        return *(const int *)x == *(const int *)y;
    case ARG_AMOUNT:
        return *(const int64_t *)x == *(const int64_t *)y;
    case ARG_FLAG:
        return *(const bool *)x == *(const bool *)y;
    case ARG_LIST:
    case ARG_OTHER:
        break;
    }
    return same_devices(a, b);
}

static void put_number(struct buf *b, int64_t n, int64_t least)
{
    if (n < least)
        buf_printf(b, "the default");
    else
        buf_printf(b, "%lld", (long long)n);
}

static void put_value(struct buf *b, const struct arg *r, const struct options *o)
{
    const void *x = field_of(r, o);
    switch (r->kind) {
    case ARG_TEXT:
        buf_printf(b, "%s", *(const char *const *)x ? *(const char *const *)x : "the default");
        return;
    case ARG_WHOLE:
        put_number(b, *(const int *)x, r->least);
        return;
    case ARG_AMOUNT:
        put_number(b, *(const int64_t *)x, 0);
        return;
    case ARG_FLAG:
        buf_printf(b, "%s", *(const bool *)x ? "yes" : "no");
        return;
    case ARG_LIST:
    case ARG_OTHER:
        break;
    }
    for (int i = 0; i < o->ndevices; i++)
        buf_printf(b, "%s%s", i ? ", " : "", o->devices[i]);
    if (!o->ndevices)
        buf_printf(b, "the default");
}

/* Takes one option over; texts are of options that are not, and stay those of *o. */
static void take_over(struct options *o, const struct options *fresh, const struct arg *r)
{
    if (r->kind == ARG_WHOLE)
        *(int *)field_of(r, o) = *(int *)field_of(r, fresh);
    else if (r->kind == ARG_AMOUNT)
        *(int64_t *)field_of(r, o) = *(int64_t *)field_of(r, fresh);
    else
        *(bool *)field_of(r, o) = *(bool *)field_of(r, fresh);
}

/* Whether it changed; NULL is "none". */
static bool tell_change(const char *what, const char *was, const char *is)
{
    was = was ? was : "none";
    is = is ? is : "none";
    if (same_text(was, is))
        return false;
    log_line(LOG_INFO, "%s were %s, are %s", what, was, is);
    return true;
}

/* Takes the rules over. How much of them is new. */
static int change_limits(struct options *o, struct options *fresh)
{
    const struct limits was = o->limits;
    o->limits = fresh->limits;
    fresh->limits = was;
    return tell_change("limits", was.text, o->limits.text) + tell_change("admins", was.admins, o->limits.admins);
}

/* Takes over what may change of these rows. How many are others; `of` is put before their names. */
static int change_rows(struct options *o, const struct options *fresh, const struct arg *first, size_t n,
                       const char *of)
{
    int changes = 0;
    for (const struct arg *r = first; r < first + n; r++) {
        struct buf was = {0}, is = {0};
        if (r->line || same(r, o, fresh))
            continue;
        put_value(&was, r, o);
        put_value(&is, r, fresh);
        if (r->fixed)
            log_line(LOG_WARNING, "%s%s stays %s; %s is used from the next start on", of, r->name, was.data, is.data);
        else
            log_line(LOG_INFO, "%s%s was %s, is %s", of, r->name, was.data, is.data);
        changes++;
        if (!r->fixed)
            take_over(o, fresh, r);
        buf_free(&was);
        buf_free(&is);
    }
    return changes;
}

int options_reload(struct options *o, int argc, char **argv, struct err *e)
{
    struct options fresh;
    int rc = options_parse(&fresh, o->path, argc, argv, e);
    if (rc)
        return rc;
    int changes = change_rows(o, &fresh, rows, ROWS, "");
    changes += change_rows(o, &fresh, metrics_rows, METRICS_ROWS, "metrics: ");
    changes += change_limits(o, &fresh);
    log_line(LOG_INFO, "%s was read again: %d %s", o->path ? o->path : "the command line", changes,
             number_word(changes, "change", "changes"));
    options_free(&fresh);
    return 0;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void options_limit(struct options *o, struct quota *q, int64_t connections_possible)
{
    for (int kind = 0; kind < QUOTA_COUNT; kind++)
        quota_limit(q, kind, o->each[kind], quota_limit_all(q, kind));
    quota_take_rules(q, o->limits.rules);
    o->limits.rules = NULL;
    int64_t all = o->connections < 0 ? quota_limit_all(q, QUOTA_CONNECTIONS) : o->connections;
    all = smaller(all, connections_possible);
    /* One user alone does not fill the service. */
    quota_limit(q, QUOTA_CONNECTIONS, smaller(o->each[QUOTA_CONNECTIONS], all - all / 4), all);
}
