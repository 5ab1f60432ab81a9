/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the service keeps things. A system service (root, or started with STATE_DIRECTORY/RUNTIME_DIRECTORY):
 * /var/lib/shoald and /run/shoald; a user's: the XDG base directories.
 */
#ifndef SHOAL_DAEMON_HOST_PATHS_H
#define SHOAL_DAEMON_HOST_PATHS_H

#include "daemon/host/privileges.h"

/* The state folder, absolute, made for the service's user if need be. `given` may be NULL. The caller frees *out. */
int paths_state(char **out, const char *given, const struct identity *who, struct err *e);
/* As the service's user: the state folder is that user's and nobody else's (mode 0700). One that others could look into
 * is closed to them; ERR_FORBIDDEN for somebody else's. */
int paths_private(const char *state, struct err *e);
/* ERR_DATABASE where STATE/shoald.db is missing or empty though STATE/ensembles has something: it would start afresh,
 * and give old folders to new ensembles. */
int paths_database(const char *state, struct err *e);
/* The socket's path; its folder is made if need be, for the service's user. The caller frees *out. */
int paths_socket(char **out, const char *given, const struct identity *who, struct err *e);
/* The worker program: `given`, or $SHOAL_WORKER, or beside this program, or in the libexec folder beside it. The caller
 * frees *out. */
int paths_worker(char **out, const char *given, struct err *e);
/* Where the configuration file of this process is; NULL: nowhere, for HOME is not set. The caller frees it. */
char *paths_config(void);
/* Locks the state folder; ERR_CONFLICT when another service has it, and keeps it for two seconds. *fd is kept open as
 * long as the lock is wanted. */
int paths_lock(int *fd, const char *state, struct err *e);
/* Binds and listens, for the service's user and the members of its access group. A socket file that nobody answers on
 * is replaced; ERR_CONFLICT when somebody does for two seconds, or when it is no socket. */
int paths_listen(int *fd, const char *path, const struct identity *who, struct err *e);

#endif
