/* SPDX-License-Identifier: Apache-2.0
 *
 * Where sentences and tables go: onto a terminal as text, or into a page as HTML.
 */
#ifndef SHOAL_CLIENT_SHOW_OUT_H
#define SHOAL_CLIENT_SHOW_OUT_H

#include "client/show/show.h"

struct out {
    struct buf *out;
    int width; /* columns that tables are made to fit; 0: as wide as they are */
    bool html;
};

/* Text as it is; of HTML a paragraph, without the line feeds at its ends. */
void out_put(const struct out *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What a table is, and how to read it: "" where that needs no words. */
void out_title(const struct out *s, const char *title, const char *note);
/* Puts the table there and frees its cells. */
void out_table(const struct out *s, struct table *t);
/* "good", "warn" or "bad", the class of words that judge in pages; "" for any other word. */
const char *out_class(const char *word);

#endif
