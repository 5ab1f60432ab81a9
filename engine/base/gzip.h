/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that may be compressed by gzip.
 */
#ifndef SHOAL_ENGINE_BASE_GZIP_H
#define SHOAL_ENGINE_BASE_GZIP_H

#include <stdbool.h>

#include "engine/base/buf.h"

enum { GZIP_TEXT_MAX = 1 << 29 }; /* bytes of a text, so that a small file cannot exhaust memory */

/* Whether bytes begin as gzip's do: no text does. */
bool gzip_is(const void *data, size_t len);
/* A buffer of gzip's becomes its text; one that is damaged or of more than GZIP_TEXT_MAX bytes stays as it is, as any other does. */
void gzip_inflate(struct buf *b);
/* buf_read_file, and gzip_inflate. ERR_IO. */
int gzip_read_file(struct buf *b, const char *path, struct err *e);

#endif
