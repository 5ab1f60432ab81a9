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

struct fits {
    const struct spec *spec;
    const struct system *sys;
    json_t *out, *not_asked;
};

static void add_fit(void *fits, const char *name)
{
    const struct fits *f = fits;
    struct err e = {0};
    if (fit(name, f->spec, f->sys, f->out, &e))
        json_array_append_new(f->not_asked, json_sprintf("%s: how many replicas fit is not known: %s", name, e.msg));
}

/* `devices` says why. */
static void say_nothing(void *fits, const struct err *e)
{
}

json_t *sizes_here(const struct spec *spec, const struct system *sys, json_t **not_asked)
{
    struct fits f = {spec, sys, json_array(), json_array()};
    dev_gpus(add_fit, say_nothing, &f);
    *not_asked = f.not_asked;
    return f.out;
}
