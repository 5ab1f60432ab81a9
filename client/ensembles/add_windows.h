/* SPDX-License-Identifier: Apache-2.0
 *
 * What more windows cost an ensemble: rows between frames count no longer.
 */
#ifndef SHOAL_CLIENT_ENSEMBLES_ADD_WINDOWS_H
#define SHOAL_CLIENT_ENSEMBLES_ADD_WINDOWS_H

#include "client/ensembles/on_each.h"

/* Asks the service what the request at `path` would make of the ensemble, says so, and asks a terminal whether to go on
 * where rows are lost. 0: go on; 1: that was all, with --dry-run; ERR_CONFLICT: the answer was no; or what the service
 * refuses. */
int add_windows_agree(const struct client *c, const char *path, struct on_each *m, struct err *e);

#endif
