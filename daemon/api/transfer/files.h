/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of an ensemble's folder. Symbolic links are never followed, and what is hidden or temporary is not seen. For
 * the thread pool.
 */
#ifndef SHOAL_DAEMON_API_TRANSFER_FILES_H
#define SHOAL_DAEMON_API_TRANSFER_FILES_H

#include <jansson.h>
#include <sys/types.h>

/* All that are there, in the order of their paths: an array of {path, bytes}. New reference. */
json_t *files_in(const char *folder);
/* A descriptor of a file below the folder and the bytes that it has; -1: there is none of this path. */
int files_open(const char *folder, const char *path, off_t *bytes);

#endif
