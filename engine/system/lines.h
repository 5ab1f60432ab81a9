/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of the topology that has an atom, or a bonded term of two or three atoms: for messages that blame one.
 */
#ifndef SHOAL_ENGINE_SYSTEM_LINES_H
#define SHOAL_ENGINE_SYSTEM_LINES_H

#include "engine/base/buf.h"
#include "engine/base/err.h"
#include "engine/system/system.h"

/* Puts the atoms of a line in the order that is looked for; -1: none. */
void kind_line_order(int atom[3]);
/* Ready to be looked up. */
void kind_lines_sort(struct kind_line *lines, int n);
/* Appends "topol.top:12", or "topol.top:12 and topol.top:30" where several lines have a term of the atoms: of 1 to 3
 * atoms of the system. No such line: that of the first atom. Nothing where the system was read from no file. */
void system_line(const struct system *s, const int *atom, int n, struct buf *out);
/* The same, of a molecule type: where it begins. */
void system_kind_line(const struct system *s, int kind, struct buf *out);
/* Puts the place of a line before a message. Returns -e->code. */
int system_blame(const struct system *s, const int *atom, int n, struct err *e);

#endif
