/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker, asked.
 */
#ifndef SHOAL_CLIENT_PROGRAMS_WORKER_H
#define SHOAL_CLIENT_PROGRAMS_WORKER_H

#include "client/command/client.h"

/* Runs shoal-worker with these words, NULL at the end; what it prints into `text`. Returns its exit code. */
int ask_worker(const struct client *c, char **words, struct buf *text);
/* The same with what it prints on standard error, also why it does not start. */
int hear_worker(const struct client *c, char **words, struct buf *text);

#endif
