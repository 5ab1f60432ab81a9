/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of others on a terminal: specs, topologies, labels and messages that quote them may hold control characters,
 * which a terminal obeys, and characters that reorder a line, which mislead its reader.
 */
#ifndef SHOAL_ENGINE_BASE_PRINTABLE_H
#define SHOAL_ENGINE_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/base/buf.h"

/* Whether the text is UTF-8 without control characters (C0, DEL, C1), line separators and characters that change the
 * direction of writing: one line that shows all that it holds. */
bool printable(const char *text);
/* Appends the text. What is not printable becomes \x1b (a byte) or \u202e (a character), but for the characters in
 * `keep`. */
void printable_add(struct buf *out, const char *text, const char *keep);
/* Prints one line, its end included. */
void printable_line(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints several lines; line ends and tabs stay. */
void printable_text(FILE *to, const char *text);

#endif
