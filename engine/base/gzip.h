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
/* As buf_read_file, and a compressed text is unpacked. One that is damaged or longer than GZIP_TEXT_MAX stays as it is.
 * ERR_IO. */
int gzip_read_file(struct buf *b, const char *path, struct err *e);

#endif
