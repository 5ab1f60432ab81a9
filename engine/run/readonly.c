/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/readonly.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

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

int readonly_check(const struct readonly *r, struct lane *lane, struct err *e)
{
    unsigned char *now = xcalloc(r->span.bytes, 1);
    int rc = r->dev->ops->copy(r->dev, lane, now, r->span.start, r->span.bytes, e);
    if (rc == 0 && memcmp(now, r->image, r->span.bytes))
        rc = drift(r, now, e);
    free(now);
    return rc;
}

void readonly_free(struct readonly *r)
{
    if (r->span.start)
        r->dev->ops->free(r->dev, DEV_MEMORY, (void *)(uintptr_t)r->span.start);
    free(r->image);
    free(r->parts);
    *r = (struct readonly){0};
}
