/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of input files: normalised relative paths (io.h).
 */
#ifndef SHOAL_ENGINE_IO_PATH_H
#define SHOAL_ENGINE_IO_PATH_H

#include <stdbool.h>

/* `name` as seen from the folder of the file `from` (NULL: the base), without ".", "x/.." and doubled slashes; leading
 * ".." parts are kept. The caller frees it. */
char *path_join(const char *from, const char *name);

#endif
