/* SPDX-License-Identifier: Apache-2.0
 *
 * Two texts, line by line.
 */
#ifndef SHOAL_CLIENT_DIVISION_LINES_H
#define SHOAL_CLIENT_DIVISION_LINES_H

#include "engine/base/buf.h"

/* Moves both texts past the lines that they have in common at their beginning. Returns how many lines those are. */
int lines_same(const char **a, const char **b);
/* Moves a text past one line. */
const char *lines_next(const char *text);
/* Appends a line without its indentation, in quotes. */
void lines_quote(struct buf *out, const char *line);

#endif
