/* SPDX-License-Identifier: Apache-2.0 */
#include "client/division/division.h"

#include <inttypes.h>
#include <unistd.h>

static bool has(const char *folder, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", folder, name);
    const bool there = !access(path.data, F_OK);
    buf_free(&path);
    return there;
}

bool division_is(const char *folder)
{
    return has(folder, "plan.json");
}

void division_share(struct buf *out, const char *folder, int64_t share)
{
    buf_printf(out, "%s/share-%03" PRId64, folder, share);
}

int division_cancelled(const char *folder, struct err *e)
{
    return has(folder, "cancelled") ? err_set(e, ERR_CONFLICT,
                                              "%s/cancelled: the campaign was cancelled: remove this file, and shares "
                                              "go on from their checkpoints",
                                              folder)
                                    : 0;
}

int division_cancel(const char *folder, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "%s/cancelled", folder);
    int rc = buf_write_file(path.data, "", 0, e);
    buf_free(&path);
    return rc;
}
