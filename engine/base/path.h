/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of files, and the folders above them.
 */
#ifndef SHOAL_ENGINE_BASE_PATH_H
#define SHOAL_ENGINE_BASE_PATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/base/err.h"

/* Whether a name stays below the folder it is looked up in, and has one spelling: relative, no part of it empty, "." or "..". */
bool path_is_below(const char *name);
/* Makes every folder of a path up to its last slash. */
int path_make_parents(const char *path, mode_t mode, struct err *e);
/* Makes the entry of a file or folder in the folder above it durable. 0; -1: errno. */
int path_sync_parent(const char *path);

#endif
