/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/gzip.h"

#include <string.h>
#include <zlib.h>

enum { PIECE = 1 << 16, ANY_WINDOW = 15, WITH_GZIP_HEADER = 16 };

bool gzip_is(const void *data, size_t len)
{
    return len >= 2 && !memcmp(data, "\x1f\x8b", 2);
}

/* All members of the data, one behind the other. */
static bool inflate_all(z_stream *z, struct buf *out)
{
    int rc = Z_OK;
    while (out->len <= GZIP_TEXT_MAX) {
        z->next_out = buf_extend(out, PIECE);
        z->avail_out = PIECE;
        rc = inflate(z, Z_NO_FLUSH);
        out->len -= z->avail_out;
        if (rc == Z_STREAM_END && gzip_is(z->next_in, z->avail_in))
            rc = inflateReset(z);
        if (rc != Z_OK)
            break;
    }
    buf_add(out, "", 0);
    return rc == Z_STREAM_END;
}

static void unpack(struct buf *b)
{
    struct buf out = {0};
    z_stream z = {.next_in = (Bytef *)b->data, .avail_in = (uInt)b->len};
    if (!gzip_is(b->data, b->len) || b->len > GZIP_TEXT_MAX || inflateInit2(&z, ANY_WINDOW + WITH_GZIP_HEADER) != Z_OK)
        return;
    if (inflate_all(&z, &out)) {
        buf_free(b);
        *b = out;
    } else {
        buf_free(&out);
    }
    inflateEnd(&z);
}

int gzip_read_file(struct buf *b, const char *path, struct err *e)
{
    int rc = buf_read_file(b, path, e);
    if (!rc)
        unpack(b);
    return rc;
}
