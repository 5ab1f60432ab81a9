/* SPDX-License-Identifier: Apache-2.0
 *
 * How many replicas of an ensemble each device holds.
 */
#include <string.h>

#include "daemon/api/api.h"
#include "engine/base/room_line.h"

/* Of devices of the worker's kind, with its limits; NULL: not known. */
static const json_t *size_on(const struct sched_worker *w, const json_t *sizes)
{
    const json_t *size;
    size_t i;
    json_array_foreach (sizes, i, size) {
        const char *kind = json_string_value(json_object_get(size, "kind"));
        const char *limits = json_string_value(json_object_get(size, "limits"));
        if (w->limits && kind && limits && !strcmp(limits, w->limits) && strlen(kind) == strcspn(w->device, ":") &&
            !strncmp(kind, w->device, strlen(kind)))
            return size;
    }
    return NULL;
}

json_t *api_fits_json(const struct sched *s, const char *sizes)
{
    json_t *known = sizes ? json_loads(sizes, 0, NULL) : NULL, *out = json_array();
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        const json_t *size = size_on(k, known);
        if (size)
            json_array_append_new(out,
                                  room_json(k->device, &k->room, json_integer_value(json_object_get(size, "tables")),
                                            json_integer_value(json_object_get(size, "replica"))));
    }
    json_decref(known);
    return out;
}

static void add_line(struct buf *out, const json_t *fit)
{
    if (out->len)
        buf_printf(out, "; ");
    room_line(
        out, json_string_value(json_object_get(fit, "device")), json_number_value(json_object_get(fit, "memory_bytes")),
        json_integer_value(json_object_get(fit, "replicas")), json_number_value(json_object_get(fit, "replica_bytes")));
}

int api_fits_any(const struct sched *s, const char *sizes, struct err *e)
{
    json_t *fits = api_fits_json(s, sizes), *fit;
    struct buf text = {0};
    size_t i, none = 0;
    json_array_foreach (fits, i, fit) {
        none += json_integer_value(json_object_get(fit, "replicas")) == 0;
        add_line(&text, fit);
    }
    int rc = 0;
    if (none && none == (size_t)s->nworkers)
        rc = err_set(e, ERR_TOO_LARGE,
                     "no device of the service has memory for one replica: %.600s; expected a smaller system, or a "
                     "device with more memory",
                     text.data);
    buf_free(&text);
    json_decref(fits);
    return rc;
}
