/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the service keeps things. A system service (root, or started with STATE_DIRECTORY/RUNTIME_DIRECTORY): /var/lib/shoald
 * and /run/shoald; a user's: the XDG base directories.
 */
#ifndef SHOAL_DAEMON_PATHS_H
#define SHOAL_DAEMON_PATHS_H

#include "engine/base/err.h"

/* The state folder, absolute, made if need be (mode 0750). `given` may be NULL. The caller frees *out. */
int paths_state(char **out, const char *given, struct err *e);
/* The socket's path; its folder is made if need be. The caller frees *out. */
int paths_socket(char **out, const char *given, struct err *e);
/* The worker program: `given`, or $SHOAL_WORKER, or beside this program, or in the libexec folder beside it. The caller frees *out. */
int paths_worker(char **out, const char *given, struct err *e);
/* Locks STATE/lock; ERR_CONFLICT when another service has it. *fd is kept open as long as the lock is wanted. */
int paths_lock(int *fd, const char *state, struct err *e);
/* Binds and listens, mode 0660. A socket file that nobody answers on is replaced; ERR_CONFLICT when somebody does. */
int paths_listen(int *fd, const char *path, struct err *e);

#endif
