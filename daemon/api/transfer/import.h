/* SPDX-License-Identifier: Apache-2.0
 *
 * Ensembles that come from other nodes, as archives (daemon/archive/archive.h).
 */
#ifndef SHOAL_DAEMON_API_TRANSFER_IMPORT_H
#define SHOAL_DAEMON_API_TRANSFER_IMPORT_H

#include <stdbool.h>

struct import;

struct imports {
    struct import *all; /* that are on their way */
    int n;
    long long count; /* of all that were begun: a name for each one's folder */
    bool stopping;   /* no more are taken */
};

/* Ends all that are not stored yet; each is answered with ERR_BUSY. */
void import_stop(struct imports *all);

#endif
