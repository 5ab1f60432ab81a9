/* SPDX-License-Identifier: Apache-2.0
 *
 * A YAML document as a small tree of mappings, lists and scalars, each with its line. A scalar is only text: what it
 * means (number, word, quantity) the schema says, so `no`, `on` and `1e-5` are no surprises. Refused: duplicate keys,
 * aliases, anchors, tags, several documents, too much text, depth or number of nodes, bytes that are not UTF-8.
 */
#ifndef SHOAL_DAEMON_SPEC_DOCUMENT_NODE_H
#define SHOAL_DAEMON_SPEC_DOCUMENT_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

enum { NODE_MAX_BYTES = 1 << 20, NODE_MAX_DEPTH = 16, NODE_MAX_COUNT = 20000, NODE_MAX_KEYS = 100 };

enum node_kind { NODE_SCALAR, NODE_MAP, NODE_LIST };

struct node;
struct node_item {
    char *key; /* NULL in lists */
    int line;  /* of the key, or of the value in lists */
    struct node *value;
};

struct node {
    enum node_kind kind;
    int line;
    char *text;  /* scalars */
    bool quoted; /* scalars: 'x', "x" or a block scalar */
    size_t at;   /* where it begins, in characters (not bytes) of the document */
    int n;       /* maps and lists */
    struct node_item *items;
};

/* `file` is only for messages. On success *out is owned by the caller. ERR_SPEC: "file:line: what, what was expected".
 */
int node_parse(struct node **out, const char *file, const char *text, size_t len, struct err *e);
void node_free(struct node *n);
/* The value of a key of a map, or NULL; n may be NULL. */
const struct node *node_get(const struct node *n, const char *key);
/* An unquoted nothing: empty, ~ or null. */
bool node_is_null(const struct node *n);

#endif
