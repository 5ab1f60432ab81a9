/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of files, and the folders above them.
 */
#ifndef SHOAL_ENGINE_BASE_PATH_H
#define SHOAL_ENGINE_BASE_PATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/base/err.h"

/* Whether a name stays below the folder it is looked up in, and has one spelling: relative, no part of it empty, "." or
 * "..". */
bool path_is_below(const char *name);
/* `name` as seen from the folder of the file `from` (NULL: the base), without ".", "x/.." and doubled slashes; leading
 * ".." parts are kept. The caller frees it. */
char *path_join(const char *from, const char *name);
/* Whether a name is spelled as path_join spells it and can be that of a file. */
bool path_is_normal(const char *name);
/* Where the file of a normalised name is kept in a folder that nothing may leave: a name that is below as it is,
 * "../../a" as
 * "@up2/a", "/x/a" as "@root/x/a". The caller frees it. */
char *path_kept(const char *name);
/* Makes every folder of a path up to its last slash. */
int path_make_parents(const char *path, mode_t mode, struct err *e);
/* Makes the entry of a file or folder in the folder above it durable. 0; -1: errno. */
int path_sync_parent(const char *path);

#endif
