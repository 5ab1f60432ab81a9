/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders and what is in them. Symbolic links are never followed. For the thread pool.
 */
#ifndef SHOAL_DAEMON_HOST_FOLDER_H
#define SHOAL_DAEMON_HOST_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"

/* Bytes on disk of everything below a folder; of inputs that several ensembles of their owner share its part, and what
 * the database has of them; 0 where there is none. */
int64_t folder_bytes(const char *path);
/* Removes it with everything below; adds to *bytes what was freed, also on failure. That there is none is fine. */
int folder_remove(const char *path, int64_t *bytes, struct err *e);
/* Removes the files in a folder, and `below` it, that no other folder has a name of. */
void folder_remove_lone(const char *path, bool below);

#endif
