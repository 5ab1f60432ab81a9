/* SPDX-License-Identifier: Apache-2.0
 *
 * How long an ensemble has run: by its events, the time in which any of its replicas had a slot.
 */
#include "daemon/service.h"

#include <stdlib.h>

#define ROWS 500 /* read at once */

struct running {
    const struct ensemble *ensemble;
    bool *has_slot; /* [replicas] */
    int n;
    int64_t since, ms; /* when the first of those that run began; of earlier times */
};

static void take(struct running *w, const json_t *row)
{
    const struct ensemble *en = w->ensemble;
    const json_t *state = json_object_get(row, "state"), *window = json_object_get(row, "window");
    if (!json_is_integer(state) || !json_is_integer(window))
        return;
    int64_t i = json_integer_value(json_object_get(row, "repeat")) * en->windows + json_integer_value(window);
    int64_t time = json_integer_value(json_object_get(row, "time"));
    bool has = json_integer_value(state) == REPLICA_RUNNING || json_integer_value(state) == REPLICA_STOPPING;
    if (i < 0 || i >= en->nreplicas || has == w->has_slot[i])
        return;
    w->has_slot[i] = has;
    if (has && w->n++ == 0)
        w->since = time;
    else if (!has && --w->n == 0 && time > w->since) /* clocks may be set back */
        w->ms += time - w->since;
}

int service_time_running(struct service *sv, const struct ensemble *en, int64_t *ms, struct err *e)
{
    struct running w = {.ensemble = en, .has_slot = xcalloc((size_t)en->nreplicas, sizeof *w.has_slot)};
    size_t n = ROWS, i;
    int64_t last = 0;
    int rc = 0;
    while (!rc && n == ROWS) {
        json_t *rows, *row;
        rc = store_read_events(sv->store, en->number, last, ROWS, &rows, e);
        n = rc ? 0 : json_array_size(rows);
        for (i = 0; i < n; i++) {
            row = json_array_get(rows, i);
            take(&w, row);
            last = json_integer_value(json_object_get(row, "seq"));
        }
        if (!rc)
            json_decref(rows);
    }
    int64_t now = service_now();
    *ms = w.ms + (w.n && now > w.since ? now - w.since : 0);
    free(w.has_slot);
    return rc;
}
