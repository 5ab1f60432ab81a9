/* SPDX-License-Identifier: Apache-2.0
 *
 * A page that needs no other file and no network: its frame, and the answer at its top.
 */
#ifndef SHOAL_CLIENT_SHOW_PAGE_H
#define SHOAL_CLIENT_SHOW_PAGE_H

#include "client/show/out.h"

/* Up to its body, with a heading and a line below it, and its end. */
void page_begin(struct buf *out, const char *title, const char *below);
void page_end(struct buf *out);
/* What it comes to: a number or a few words, the verdict in its colour, and sentences ("" none). */
void page_answer(struct buf *out, const char *what, const char *number, const char *verdict, const char *sentences);
/* Facts beside each other, each between facts_begin and facts_end. */
void page_facts_begin(struct buf *out);
/* note: smaller, below it; "" none. */
void page_fact(struct buf *out, const char *what, const char *note, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void page_facts_end(struct buf *out);
/* <tag class="class">text</tag>; class "" none. */
void page_element(struct buf *out, const char *tag, const char *class, const char *text);

#endif
