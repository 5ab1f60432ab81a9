/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/archive/sums.h"

#include <nettle/base16.h>

void sums_begin(struct file_sums *s)
{
    sha256_init(&s->now);
    if (!s->all)
        s->all = json_array();
}

void sums_add(struct file_sums *s, const void *data, size_t len)
{
    sha256_update(&s->now, len, data);
}

void sums_end(struct file_sums *s)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE)];
    sha256_digest(&s->now, sizeof digest, digest);
    base16_encode_update(text, sizeof digest, digest);
    json_array_append_new(s->all, json_stringn(text, sizeof text));
}

void sums_free(struct file_sums *s)
{
    json_decref(s->all);
    *s = (struct file_sums){0};
}
