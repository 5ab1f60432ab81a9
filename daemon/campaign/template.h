/* SPDX-License-Identifier: Apache-2.0
 *
 * Specs made of parts: trees merged key by key, written as YAML with $(NAME) replaced, and every line traced to where
 * it was read.
 */
#ifndef SHOAL_DAEMON_CAMPAIGN_TEMPLATE_H
#define SHOAL_DAEMON_CAMPAIGN_TEMPLATE_H

#include "daemon/spec/document/node.h"
#include "engine/base/buf.h"

/* A part and the file it is from; both borrowed. tree may be NULL: nothing. */
struct layer {
    const char *file;
    const struct node *tree;
};

/* The value of $(NAME), or of $(OF.NAME); borrowed. */
struct variable {
    const char *of; /* NULL: it is plain $(NAME) */
    const char *name, *value;
};

struct origin {
    const char *file;
    int line;
};

/* A text and where each of its lines is from. Zeroed is valid and empty. */
struct written {
    struct buf text;
    struct origin *origins; /* [lines] */
    int lines;
};

/* Of what later layers say the last counts; mappings are merged. *out is empty before. ERR_SPEC, "file:line: ...": a
 * $(NAME) without a value. */
int template_write(const struct layer *layers, int nlayers, const struct variable *vars, int nvars, struct written *out,
                   struct err *e);
/* In a message about the text, "name:LINE: what" becomes the place where that line was read. The same message where it
 * is about no line. Appends to *out. */
void template_trace(const struct written *w, const char *name, const char *message, struct buf *out);
void template_free(struct written *w);

#endif
