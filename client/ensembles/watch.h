/* SPDX-License-Identifier: Apache-2.0
 *
 * Following an ensemble until it ends.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_WATCH_H
#define SHOAL_CLIENT_ENSEMBLES_WATCH_H

#include "client/command/client.h"

/* Follows an ensemble until it ends, showing progress on stderr; on stdout the events as JSON lines if wanted. *state
 * (may be NULL) is its state at the end. EXIT_OK, EXIT_FAILED, EXIT_TIMEOUT or an error's code. */
struct watch_end {
    char state[16];
};
int watch_ensemble(const struct client *c, const char *id, double deadline, bool lines, struct watch_end *end);
/* From here on an interrupt says that the ensemble goes on. */
void watch_interruptible(const char *id);
/* The same of a campaign that is run by a service that goes on. */
void watch_interruptible_run(const char *file);

#endif
