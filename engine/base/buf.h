/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing byte buffer for text and frames. Zeroed is valid and empty; the text is always NUL-terminated once written
 * to.
 */
#ifndef SHOAL_ENGINE_BASE_BUF_H
#define SHOAL_ENGINE_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "engine/base/err.h"
#include "engine/base/mem.h"

struct buf {
    char *data;
    size_t len, cap;
};

/* Append bytes or formatted text. Out of memory aborts the process: the service is crash-only and loses nothing. */
void buf_add(struct buf *b, const void *data, size_t len);
/* Room for so many more bytes: to append them takes no memory. */
void buf_reserve(struct buf *b, size_t more);
/* Appends so many bytes, which the caller writes where this points. */
void *buf_extend(struct buf *b, size_t len);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Appends words as people list them: "a", "a LAST b", "a, b LAST c"; last: "and" or "or". */
void buf_words(struct buf *b, const char *const *words, int n, const char *last);
/* The rest of a stream into b (appended); `name` is for messages. ERR_IO. */
int buf_read_stream(struct buf *b, FILE *f, const char *name, struct err *e);
/* Whole file into b (appended). ERR_IO names the path. */
int buf_read_file(struct buf *b, const char *path, struct err *e);
/* Writes path.tmp, fsyncs, renames over path, fsyncs the directory: the file is old or new, never half, even if other
 * processes write it too. */
int buf_write_file(const char *path, const void *data, size_t len, struct err *e);
void buf_free(struct buf *b);

#endif
