/* SPDX-License-Identifier: Apache-2.0
 *
 * A spec that this program makes, and the pieces of its text.
 */
#ifndef SHOAL_CLIENT_SPECS_SPEC_FILE_H
#define SHOAL_CLIENT_SPECS_SPEC_FILE_H

#include "client/command/client.h"

/* Text as a YAML scalar, plain where it can be; appended. */
void spec_text(struct buf *out, const char *text);
/* The name of a file as a spec has it, from the spec's folder (`spec`: its file, NULL: here), or its path where the two
 * share no folder; appended. ERR_MISSING_FILE. */
int spec_path(const char *path, const char *spec, struct buf *out, struct err *e);
/* A name that an ensemble can have, made of a text; appended. `otherwise`: where nothing of the text is left. */
void spec_name(struct buf *out, const char *text, const char *otherwise);
/* A spec that was made, into --output, which must be a new file, else onto standard output unless --json wants
 * something there. ERR_CONFLICT, ERR_IO. */
int spec_file_write(const struct client *c, const struct buf *spec, struct err *e);

#endif
