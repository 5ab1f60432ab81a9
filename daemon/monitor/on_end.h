/* SPDX-License-Identifier: Apache-2.0
 *
 * A command that is run when an ensemble has ended, as the user that the service runs as, and only for ensembles of
 * that user: nobody has a command run as somebody else.
 *
 * The happy path: the end is committed, the command is started by sh, its end is logged if it failed. A few run at
 * once, the others wait for their turn. When the service stops, those that run are left alone. Those that wait, and
 * ends that are committed while it stops, are run by the next start: the database knows until a command was started
 * that it was not. Where the service is killed in the moment between, it is started again.
 */
#ifndef SHOAL_DAEMON_MONITOR_ON_END_H
#define SHOAL_DAEMON_MONITOR_ON_END_H

#include "daemon/service/service.h"

struct end_command; /* one that runs or waits */

struct on_end {
    struct service *service;
    const char *command;          /* NULL: none */
    const char *socket;           /* path; NULL: not known */
    struct end_command *commands; /* in their order */
    int running;
};

/* Both texts must outlive it. `command` NULL: nothing is run. */
void on_end_open(struct on_end *o, struct service *sv, const char *command, const char *socket);
/* At a start, once ensembles are loaded: what the service before was stopped or killed before. An ensemble that goes on
 * since, or a command that is not asked for any more, is forgotten. */
void on_end_go_on(struct on_end *o);
/* The loop must then run once. */
void on_end_close(struct on_end *o);

#endif
