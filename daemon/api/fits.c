/* SPDX-License-Identifier: Apache-2.0
 *
 * How many replicas of an ensemble each device holds.
 */
#include "daemon/api/api.h"
#include "engine/base/room_line.h"

json_t *api_fits_json(const struct sched *s, const struct device_sizes *sizes)
{
    json_t *out = json_array();
    for (int w = 0; w < s->nworkers; w++) {
        const struct sched_worker *k = &s->workers[w];
        const struct device_size *size = device_sizes_on(sizes, k->device, k->limits);
        if (size)
            json_array_append_new(out, room_json(k->device, &k->room, size->tables, size->replica));
    }
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

int api_fits_any(const struct sched *s, const struct device_sizes *sizes, struct err *e)
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
