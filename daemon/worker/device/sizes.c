/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/sizes.h"

#include <stdio.h>
#include <string.h>

#include "daemon/worker/device/device.h"

json_t *sizes_of_kinds(void *devices, const struct spec *spec, const struct system *sys)
{
    json_t *out = json_array();
    for (char *rest = devices, *kind; (kind = strsep(&rest, ";"));) {
        struct dev_limits limits;
        struct model_sizes sizes;
        struct err e = {0};
        char *text = strchr(kind, '=');
        if (!text || !device_limits_read(text + 1, &limits))
            continue;
        *text++ = '\0';
        if (model_sizes(kind, &limits, sys, &spec->settings, &sizes, &e) == 0)
            json_array_append_new(out, json_pack("{s:s,s:s,s:I,s:I}", "kind", kind, "limits", text, "tables",
                                                 (json_int_t)sizes.tables, "replica", (json_int_t)sizes.replica));
    }
    return out;
}

static int fit(const char *name, const struct spec *spec, const struct system *sys, json_t *out, struct err *e)
{
    struct dev *d;
    struct model_sizes sizes;
    int rc = engine_open(&d, name, e);
    if (rc)
        return rc;
    const struct room room = device_room(d, name);
    rc = model_sizes(name, &d->limits, sys, &spec->settings, &sizes, e);
    if (!rc)
        json_array_append_new(out, room_json(name, &room, (int64_t)sizes.tables, (int64_t)sizes.replica));
    dev_close(d);
    return rc;
}

json_t *sizes_here(const struct spec *spec, const struct system *sys, json_t **not_asked)
{
    json_t *out = json_array();
    struct err e = {0};
    uint32_t gpus;
    *not_asked = json_array();
    if (dev_cuda_count(&gpus, &e)) /* `devices` says why */
        gpus = 0;
    for (uint32_t k = 0; k < gpus; k++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%u", k);
        e = (struct err){0};
        if (fit(name, spec, sys, out, &e))
            json_array_append_new(*not_asked, json_sprintf("%s: how many replicas fit is not known: %s", name, e.msg));
    }
    return out;
}
