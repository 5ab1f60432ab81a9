/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as text, in fixed order and with fixed number formats: equal values, equal bytes.
 */
#ifndef SHOAL_ENGINE_BASE_JSON_JSON_WRITER_H
#define SHOAL_ENGINE_BASE_JSON_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buf.h"

struct writer {
    struct buf *out;
    int depth;
    bool first; /* nothing is written yet in the innermost object or array */
};

/* Values alone. What is not finite is null. */
void jw_string(struct buf *out, const char *s);
void jw_number(struct buf *out, double x);

/* Begins a member (or an element: key NULL) on a line of its own; its value is to follow. */
void jw_item(struct writer *w, const char *key);
/* An object '{' or an array '[', and its end. The outermost has no key. */
void jw_begin(struct writer *w, const char *key, char bracket);
void jw_end(struct writer *w, char bracket);
void jw_text(struct writer *w, const char *key, const char *value); /* null where it is NULL or empty */
void jw_integer(struct writer *w, const char *key, size_t value);
void jw_real(struct writer *w, const char *key, double value);
void jw_null(struct writer *w, const char *key);
void jw_quantity(struct writer *w, const char *key, double magnitude, const char *unit);
/* x: [n][n], times scale */
void jw_matrix(struct writer *w, const char *key, const double *x, size_t n, double scale);
/* In three units: value and error in kT, beta in mol/kJ. */
void jw_energy(struct writer *w, const char *key, double beta, double value, double error);

#endif
