/* SPDX-License-Identifier: Apache-2.0
 *
 * A value put into the text of a spec, with all else as it was.
 */
#ifndef SHOAL_DAEMON_SPEC_EDIT_H
#define SHOAL_DAEMON_SPEC_EDIT_H

#include "daemon/spec/document/node.h"
#include "engine/base/buf.h"

/* Appends the text with `with` in place of the scalar `word`, quoted or not, that begins at character `at`. False, and
 * nothing is appended: another word is there. */
bool edit_word(struct buf *out, const char *text, size_t len, size_t at, const char *word, const char *with);
/* Appends the text with `entry`, as in "after: 500", before the first key of a mapping of it. */
void edit_first_key(struct buf *out, const char *text, size_t len, const struct node *mapping, const char *entry);

#endif
