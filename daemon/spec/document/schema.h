/* SPDX-License-Identifier: Apache-2.0
 *
 * The ensemble schema (schemas/ensemble.schema.json, embedded) held against a node tree, and typed reading of a checked
 * tree with the schema's defaults. The interpreter knows the part of draft-07 that the schema uses, and the x- keywords
 * that the schema's own comment explains; tests/unit/check_schema.py holds the schema to them.
 */
#ifndef SHOAL_DAEMON_SPEC_DOCUMENT_SCHEMA_H
#define SHOAL_DAEMON_SPEC_DOCUMENT_SCHEMA_H

#include <jansson.h>

#include "daemon/spec/document/node.h"
#include "daemon/spec/document/value.h"

/* A new reference to the embedded schema; NULL and ERR_INTERNAL when it is broken. */
json_t *schema_load(struct err *e);
/* The same of another embedded schema. */
json_t *schema_read(const char *text, size_t len, struct err *e);
/* Checks the whole tree. ERR_SPEC or ERR_UNSUPPORTED: "file:line: key: value: what was expected". */
int schema_check(const json_t *schema, const char *file, const struct node *root, struct err *e);

/* ---- view.c ---- */
/* A place in the spec: its schema, and its node where the spec gives one (else the default counts). Borrowed. */
struct view {
    const json_t *schema;
    const struct node *node;
};

struct view view_key(struct view v, const char *key); /* of a mapping; the key must be in the schema */
struct view view_item(struct view v, int i);          /* of a list that is given */
bool view_given(struct view v);
int view_count(struct view v); /* of a list; 0 when absent */
/* The value or the default; NULL, 0 or false where there is neither. */
const char *view_text(struct view v);
double view_number(struct view v);
int64_t view_integer(struct view v);
bool view_boolean(struct view v);
const char *view_unit(struct view v);         /* that its quantity is in */
struct quantity view_quantity(struct view v); /* x-none words are 0 steps */
int view_choice(struct view v);               /* index into the enum of the schema; -1 */

#endif
