/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of shoald: of its command line, then of its file, then as --help has them. options.c declares each once.
 */
#ifndef SHOAL_DAEMON_OPTIONS_H
#define SHOAL_DAEMON_OPTIONS_H

#include "daemon/host/devices.h"
#include "daemon/spec/document/node.h"
#include "daemon/limits.h"

struct options {
    const char *socket, *state, *worker; /* NULL: by the rules of host/paths.h */
    const char *user, *group;            /* NULL: by the rules of host/privileges.h */
    const char *log;                     /* "json"; else lines are text */
    const char *on_end;                  /* NULL: none */
    const char *devices[DEVICES_MAX];
    bool portable, idle; /* service/service.h */
    bool verbose, version, help;
    const char *config; /* the file that the command line names; NULL: none */
    bool check_config, schema;
    char *path; /* of the file, which there need not be; NULL: it has no place */
    struct limits limits;
    const char *metrics_file; /* for the node exporter; NULL: none is written */
    int metrics_every;        /* seconds */
    struct node *file;        /* texts above may be its; NULL: there is none */
    int ndevices, slots, drain_seconds, slice_seconds, stall_seconds, half_life_hours, accounting_days;
    int64_t each[QUOTA_COUNT];            /* limits of one user */
    int64_t connections;                  /* of all users; -1: the default */
    int estimate_seconds, estimate_mib;   /* estimating one ensemble: processor time, memory */
    int live_seconds;                     /* at least between two estimates of an ensemble that runs; 0: none */
    int check_seconds, check_mib, checks; /* reading one submission: processor time, memory; at once */
};

/* Reads the command line and the file, which is `path` unless the command line names one; NULL: by the rules of
 * host/paths.h. `argv` must live as long as the options. ERR_USAGE, ERR_IO, ERR_SPEC; else the caller frees them. */
int options_parse(struct options *o, const char *path, int argc, char **argv, struct err *e);
void options_free(struct options *o);
/* Reads both again: what may change while the service runs is changed, and the log says what is another now. On an
 * error nothing is. */
int options_reload(struct options *o, int argc, char **argv, struct err *e);
/* Prints what --help, --version (`build` beside it) or --schema asks for; true: that, or --check-config, was all there
 * was to do. */
bool options_answered(const struct options *o, const char *build);
/* The limits, fitted to what the process may open. The quota has the rules then. */
void options_limit(struct options *o, struct quota *q, int64_t connections_possible);

#endif
