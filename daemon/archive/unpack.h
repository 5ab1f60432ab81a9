/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads an archive of any origin into a folder. For a process of its own: whatever an archive does to its reader, the
 * service goes on.
 */
#ifndef SHOAL_DAEMON_ARCHIVE_UNPACK_H
#define SHOAL_DAEMON_ARCHIVE_UNPACK_H

#include <jansson.h>
#include <stdint.h>

#include "engine/base/err.h"

/* All files go below `folder`, which is there and empty, and are on disk when this returns 0; *head is a new reference
 * then. They may have `most` bytes together. ERR_ARCHIVE: it is none, is damaged, cut short or hostile;
 * ERR_UNSUPPORTED: a newer program wrote it; ERR_LIMIT: it is larger; ERR_IO, ERR_NO_SPACE. What was written before an
 * error stays. */
int archive_unpack(int fd, const char *folder, int64_t most, json_t **head, struct err *e);

#endif
