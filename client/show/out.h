/* SPDX-License-Identifier: Apache-2.0
 *
 * Where sentences and tables go: onto a terminal as text, or into a page as HTML.
 */
#ifndef SHOAL_CLIENT_SHOW_OUT_H
#define SHOAL_CLIENT_SHOW_OUT_H

#include "client/show/show.h"

struct sheet {
    struct buf *out;
    int width; /* columns that tables are made to fit; 0: as wide as they are */
    bool html;
};

/* Text as it is; of HTML a paragraph, without the line feeds at its ends. */
void sheet_say(const struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What a table is, and how to read it: "" where that needs no words. */
void sheet_title(const struct sheet *s, const char *title, const char *note);
/* Puts the table there and frees its cells. */
void sheet_table(const struct sheet *s, struct table *t);
/* "good", "warn" or "bad", the class of words that judge in pages; "" for any other word. */
const char *sheet_class(const char *word);

#endif
