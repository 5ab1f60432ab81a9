/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole numbers as people write them on command lines, in URLs and in the environment: decimal digits after an optional
 * sign and nothing else. "1e6", "4x", "0x10", " 7" and "" are none, and neither is what does not fit. And the words
 * that follow them. Values as people read them, with their errors, and as files of many have them.
 */
#ifndef SHOAL_ENGINE_BASE_NUMBER_H
#define SHOAL_ENGINE_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"

/* The whole text as a number; false when it is none. */
bool number_parse(const char *text, int64_t *out);
/* The same within a range. ERR_USAGE: "--slots 4x: expected a whole number from 1 to 99999"; `what` is the part before
 * the text, with what parts the two ("--slots ", "limit="). NULL is no number. */
int number_whole(int64_t *out, const char *what, const char *text, int64_t lo, int64_t hi, struct err *e);
/* The word behind a number of things: number_word(n, "window", "windows"). */
const char *number_word(int64_t n, const char *one, const char *others);
/* Appends "10.23 +- 0.12": the error with two significant digits, the value to the same place. Without an error (NAN,
 * or one that nine decimals do not show) "10.234", without a value "-". */
void number_with_error(struct buf *out, double value, double error);
/* Appends "512 B", "1.4 kB", "23 MB", "1.2 GB". */
void number_bytes(struct buf *out, double bytes);
/* Appends what printf's "%.*g" does, or "%#.*g" where `zeros` at the end are to stay, to the byte and five times as
 * fast; printf does what is seldom: ties, exponents, what is not finite. digits: 1 to 15. */
void number_significant(struct buf *out, double value, int digits, bool zeros);

#endif
