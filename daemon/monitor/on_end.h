/* SPDX-License-Identifier: Apache-2.0
 *
 * A command that is run when an ensemble has ended, as the user that the service runs as, and only for ensembles of
 * that user: nobody has a command run as somebody else.
 *
 * The happy path: the end is committed, the command is started by sh, its end is logged if it failed. A few run at
 * once, the others wait for their turn. When the service stops, those that run are left alone and those that wait are
 * dropped.
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
/* The loop must then run once. */
void on_end_close(struct on_end *o);

#endif
