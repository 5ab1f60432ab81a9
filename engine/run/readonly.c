/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/readonly.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/math/digest.h"

size_t readonly_chunks(const struct readonly *r)
{
    return digest_chunks(readonly_words(r));
}

static void digest_image(struct readonly *r)
{
    r->digests = xcalloc(readonly_chunks(r), sizeof *r->digests);
    for (size_t chunk = 0; chunk < readonly_chunks(r); chunk++)
        r->digests[chunk] = digest_part((const uint64_t *)r->image, readonly_words(r), chunk, 0, 1);
}

static int copy_image(struct readonly *r, struct err *e)
{
    struct lane *lane;
    int rc = r->dev->ops->lane_new(r->dev, &lane, e);
    if (rc)
        return rc;
    rc = r->dev->ops->copy(r->dev, lane, (void *)(uintptr_t)r->span.start, r->image, r->span.bytes, e);
    r->dev->ops->lane_free(r->dev, lane);
    return rc;
}

int readonly_upload(struct readonly *r, struct dev *dev, void (*lay_out)(void *ctx, struct arena *a), void *ctx,
                    struct err *e)
{
    struct arena a = {0};
    void *device, *host;
    lay_out(ctx, &a);
    int rc = dev->ops->alloc(dev, NULL, DEV_MEMORY, a.used, &device, &host, e);
    if (rc)
        return err_prefix(e, "tables");
    *r = (struct readonly){.dev = dev, .span = {device, a.used}, .image = xcalloc(a.used, 1)};
    a = (struct arena){.base = device, .stage = r->image};
    lay_out(ctx, &a);
    r->parts = a.parts;
    r->nparts = a.nparts;
    digest_image(r);
    return copy_image(r, e);
}

/* "t->bonds", "&host.charge": bonds, charge. */
static const char *plain_name(const char *expression)
{
    const char *name = expression;
    for (const char *c = expression; *c; c++)
        if (*c == '&' || *c == '>' || *c == '.')
            name = c + 1;
    return name;
}

static int drift(const struct readonly *r, const unsigned char *now, struct err *e)
{
    size_t first = 0, differ = 0;
    while (now[first] == r->image[first])
        first++;
    for (size_t i = first; i < r->span.bytes; i++)
        differ += now[i] != r->image[i];
    struct arena_part part = {"the room between tables", 0, r->span.bytes};
    for (size_t i = 0; i < r->nparts; i++)
        if (first >= r->parts[i].at && first - r->parts[i].at < r->parts[i].bytes)
            part = r->parts[i];
    return err_set(e, ERR_DRIFT, "read-only tables have changed: %s, byte %zu of %zu, was 0x%02x, is 0x%02x; %zu %s",
                   plain_name(part.name), first - part.at, part.bytes, r->image[first], now[first], differ,
                   number_word((int64_t)differ, "byte of all tables differs", "bytes of all tables differ"));
}

/* The digest of a chunk is another: which byte is? */
static int find_drift(const struct readonly *r, size_t chunk, uint64_t digest, struct lane *lane, struct err *e)
{
    unsigned char *now = xcalloc(r->span.bytes, 1);
    int rc = r->dev->ops->copy(r->dev, lane, now, r->span.start, r->span.bytes, e);
    if (rc == 0 && memcmp(now, r->image, r->span.bytes))
        rc = drift(r, now, e);
    else if (rc == 0)
        rc = err_set(e, ERR_DRIFT,
                     "read-only tables were corrupted and are read back correctly now, as after a transient memory "
                     "error: the digest of chunk %zu of %zu was 0x%016" PRIx64 ", expected 0x%016" PRIx64,
                     chunk, readonly_chunks(r), digest, r->digests[chunk]);
    free(now);
    return rc;
}

int readonly_check(const struct readonly *r, const uint64_t *digests, struct lane *lane, struct err *e)
{
    for (size_t chunk = 0; chunk < readonly_chunks(r); chunk++)
        if (digests[chunk] != r->digests[chunk])
            return find_drift(r, chunk, digests[chunk], lane, e);
    return 0;
}

void readonly_free(struct readonly *r)
{
    if (r->span.start)
        r->dev->ops->free(r->dev, DEV_MEMORY, (void *)(uintptr_t)r->span.start);
    free(r->image);
    free(r->digests);
    free(r->parts);
    *r = (struct readonly){0};
}
