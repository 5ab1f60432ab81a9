/* SPDX-License-Identifier: Apache-2.0
 *
 * "Did you mean ...?": the nearest of some known words.
 */
#ifndef SHOAL_ENGINE_BASE_SUGGEST_H
#define SHOAL_ENGINE_BASE_SUGGEST_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap of neighbours; case aside, '_' and '-' alike) that turn a into b. Words longer
 * than 63 bytes are as far as can be. */
unsigned suggest_distance(const char *a, const char *b);
/* The known word nearest to `word`, or NULL when none is near enough to be meant (a third of its length, at least 1).
 */
const char *suggest_nearest(const char *word, const char *const *known, size_t n);

#endif
