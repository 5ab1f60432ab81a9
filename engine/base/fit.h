/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that may be longer than there is room for, in messages.
 */
#ifndef SHOAL_ENGINE_BASE_FIT_H
#define SHOAL_ENGINE_BASE_FIT_H

#include <stddef.h>

/* Copies a text. Where it does not fit, " ... " takes the place of its middle: a message begins with the place of an
 * error and ends with what was expected. Characters of UTF-8 stay whole. size: of out, more than 16. */
void fit_text(char *out, size_t size, const char *text);

#endif
