/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/sections/reader.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#define SEED_BITS 53 /* as many as the schema allows, so that every reader of JSON takes the number exactly */

static const char word[] = "random";

size_t spec_byte_of(const char *text, size_t len, size_t at)
{
    size_t i = 0;
    for (; i < len && at; at--)
        do
            i++;
        while (i < len && ((unsigned char)text[i] & 0xc0) == 0x80);
    return i;
}

int spec_draw_seed(struct spec *s, const char *text, size_t len, struct buf *out, struct err *e)
{
    uint64_t seed;
    size_t at = spec_byte_of(text, len, s->seed_at);
    at += at < len && (text[at] == '\'' || text[at] == '"');
    if (len - at < sizeof word - 1 || memcmp(text + at, word, sizeof word - 1) != 0)
        return err_set(e, ERR_SPEC, "%s:%d: integrator.seed: expected random in one word in one place", s->file,
                       s->integrator_line);
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        return err_errno(e, "random numbers for a seed");
    seed >>= 64 - SEED_BITS;
    s->settings.integrator.seed = seed;
    s->seed_random = false;
    buf_add(out, text, at);
    buf_printf(out, "%" PRIu64, seed);
    buf_add(out, text + at + sizeof word - 1, len - at - (sizeof word - 1));
    return 0;
}
