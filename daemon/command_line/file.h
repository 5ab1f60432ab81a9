/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a table (args.h) as a YAML file, or as a mapping in one: each is a key of the same name. The schema of
 * such a file is made from the table and from a JSON Schema with the keys that are no options.
 */
#ifndef SHOAL_DAEMON_COMMAND_LINE_FILE_H
#define SHOAL_DAEMON_COMMAND_LINE_FILE_H

#include <jansson.h>

#include "daemon/command_line/args.h"
#include "daemon/spec/document/node.h"

/* Puts the rows that a file may have before the properties of a mapping's schema. */
void args_schema(json_t *mapping, const struct arg *rows, size_t n);
/* Reads and checks a file; *out is the caller's. NULL: the file is empty, or (not `must`) there is none. ERR_IO,
 * ERR_SPEC with file, line and key. */
int args_file_read(struct node **out, const json_t *schema, const char *path, bool must, struct err *e);
/* Sets the fields of the options that a mapping of it gives. Their texts are the tree's. ERR_USAGE with file and line.
 */
int args_file_take(const struct node *mapping, const char *path, const struct arg *rows, size_t n, void *fields,
                   struct err *e);

#endif
