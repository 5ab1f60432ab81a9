/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble's files.
 */
#ifndef SHOAL_CLIENT_ASK_FILES_H
#define SHOAL_CLIENT_ASK_FILES_H

#include "client/command/client.h"

/* Makes a folder that is new or empty an ensemble's own. ERR_CONFLICT: something else is in it. */
int files_claim(const char *folder, const char *id, struct err *e);
/* All files of an ensemble but its checkpoints, into its own folder. */
int files_download(const struct client *c, const json_t *ensemble, const char *folder, struct err *e);

#endif
