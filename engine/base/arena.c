/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/arena.h"

#include <string.h>

#include "engine/base/buf.h"

void *arena_put_named(struct arena *a, const char *name, const void *data, size_t bytes)
{
    if (a->stage && bytes) {
        memcpy(a->stage + a->used, data, bytes);
        a->parts = xrealloc(a->parts, a->nparts + 1, sizeof *a->parts);
        a->parts[a->nparts++] = (struct arena_part){name, a->used, bytes};
    }
    return arena_take(a, bytes);
}
