/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/health/hold.h"

#include <stdlib.h>

#include "engine/base/mem.h"

void hold_set(struct hold *h, const struct hold *what)
{
    const struct hold copy = {
        .by = xstrdup(what->by), .reason = what->reason ? xstrdup(what->reason) : NULL, .since = what->since};
    hold_clear(h);
    *h = copy;
}

void hold_clear(struct hold *h)
{
    free(h->by);
    free(h->reason);
    *h = (struct hold){0};
}
