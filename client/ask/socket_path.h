/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the service's socket is.
 */
#ifndef SHOAL_CLIENT_ASK_SOCKET_PATH_H
#define SHOAL_CLIENT_ASK_SOCKET_PATH_H

#include "engine/base/buf.h"

#define SOCKET_PATH_SYSTEM "/run/shoald/api.sock"

/* `given` (may be NULL), SHOAL_SOCKET, else the first that is there of the user's own service and the system's. *tried
 * names all that were looked at, for messages. Both are appended to. */
void socket_path_find(const char *given, struct buf *path, struct buf *tried);

#endif
