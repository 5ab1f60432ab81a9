/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of shoald.
 */
#ifndef SHOAL_DAEMON_OPTIONS_H
#define SHOAL_DAEMON_OPTIONS_H

#include "daemon/host/devices.h"
#include "daemon/quota/quota.h"

struct options {
    const char *socket, *state, *worker; /* NULL: by the rules of host/paths.h */
    const char *user, *group;            /* NULL: by the rules of host/privileges.h */
    const char *devices[DEVICES_MAX];
    bool portable, idle; /* service/service.h */
    bool verbose, version, help;
    int ndevices, slots, drain_seconds, slice_seconds, stall_seconds;
    int64_t each[QUOTA_COUNT];            /* limits of one user */
    int64_t connections;                  /* of all users; -1: the default */
    int estimate_seconds, estimate_mib;   /* estimating one ensemble: processor time, memory */
    int live_seconds;                     /* at least between two estimates of an ensemble that runs; 0: none */
    int check_seconds, check_mib, checks; /* reading one submission: processor time, memory; at once */
};

/* ERR_USAGE. What is not given is as --help has it. `argv` must live as long as the options. */
int options_parse(struct options *o, int argc, char **argv, struct err *e);
/* Prints what --help or --version asks for, `build` beside the version; true: that was all there was to do. */
bool options_answered(const struct options *o, const char *build);
/* The limits, fitted to what the process may open. */
void options_limit(const struct options *o, struct quota *q, int64_t connections_possible);

#endif
