/* SPDX-License-Identifier: Apache-2.0
 *
 * What the process may do, and what others may do to its files. Everything it writes is for its own user alone; who
 * may connect is another question, answered by the socket's group.
 *
 * Started by root it becomes an ordinary user before it reads anything: "shoal", or the one that --user names ("root"
 * stays).
 */
#ifndef SHOAL_DAEMON_HOST_PRIVILEGES_H
#define SHOAL_DAEMON_HOST_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/base/err.h"

struct identity {
    uid_t uid; /* the service's */
    gid_t gid;
    gid_t access;    /* group whose members may connect */
    bool has_access; /* else nobody but the service's user and root */
    bool change;     /* the process is not that user yet */
};

/* Before anything is opened: descriptors 0 to 2 are something, files are private, as many descriptors as can be had. */
void privileges_begin(void);
/* Who the service is to be. `user`, `group` may be NULL. ERR_USAGE when there is no such user or group. */
int privileges_identity(struct identity *who, const char *user, const char *group, struct err *e);
/* Becomes that user for good, with no other groups. */
int privileges_drop(const struct identity *who, struct err *e);

#endif
