/* SPDX-License-Identifier: Apache-2.0
 *
 * How long an ensemble has run: by its events, the time in which any of its replicas had a slot. An ensemble keeps its
 * newest events; when the oldest are removed, the time that they tell of is added to its ran_ms.
 */
#include "daemon/service/service.h"

#include <stdlib.h>

#include "daemon/service/stored.h"

#define ROWS 500           /* read at once */
#define KEPT 10000         /* events of an ensemble, */
#define KEPT_OF_REPLICA 50 /* and so many more for each of its replicas */

struct running_spans {
    int64_t ensemble; /* its number */
    int windows, replicas;
    bool *has_slot; /* [replicas] */
    int n;
    int64_t since, ms; /* when the first of those that run began; of earlier times */
    int64_t now;       /* of the last event read */
};

static void take_span(struct running_spans *w, const json_t *row)
{
    const json_t *state = json_object_get(row, "state"), *window = json_object_get(row, "window");
    if (!json_is_integer(state) || !json_is_integer(window))
        return;
    int64_t i = json_integer_value(json_object_get(row, "repeat")) * w->windows + json_integer_value(window);
    int64_t time = json_integer_value(json_object_get(row, "time"));
    bool has = json_integer_value(state) == REPLICA_RUNNING || json_integer_value(state) == REPLICA_STOPPING;
    if (i < 0 || i >= w->replicas || has == w->has_slot[i])
        return;
    w->has_slot[i] = has;
    if (has && w->n++ == 0)
        w->since = time;
    else if (!has && --w->n == 0 && time > w->since) /* clocks may be set back */
        w->ms += time - w->since;
}

/* Reads events from the first on, at most `max`; *last: the seq of the last one. */
static int read_running(struct running_spans *w, struct service *sv, int64_t max, int64_t *last, struct err *e)
{
    int rc = 0;
    size_t n = ROWS;
    for (*last = 0; !rc && n == ROWS && max > 0; max -= ROWS) {
        json_t *rows, *row;
        size_t i;
        rc = store_read_events(sv->store, w->ensemble, *last, max < ROWS ? (int)max : ROWS, &rows, e);
        n = rc ? 0 : json_array_size(rows);
        for (i = 0; i < n; i++) {
            row = json_array_get(rows, i);
            take_span(w, row);
            *last = json_integer_value(json_object_get(row, "seq"));
            w->now = json_integer_value(json_object_get(row, "time"));
        }
        if (!rc)
            json_decref(rows);
    }
    return rc;
}

static int64_t ran_until(const struct running_spans *w, int64_t now)
{
    return w->ms + (w->n && now > w->since ? now - w->since : 0);
}

static struct running_spans running_of(const struct ensemble *en)
{
    return (struct running_spans){.ensemble = en->number,
                                  .windows = en->windows,
                                  .replicas = en->nreplicas,
                                  .has_slot = xcalloc((size_t)en->nreplicas, sizeof(bool))};
}

int service_time_running(struct service *sv, const struct ensemble *en, int64_t *ms, struct err *e)
{
    struct running_spans w = running_of(en);
    int64_t last;
    int rc = read_running(&w, sv, INT64_MAX, &last, e);
    *ms += ran_until(&w, service_now());
    free(w.has_slot);
    return rc;
}

/* ---- events that are not kept ---- */

struct trimming {
    struct service *sv;
    struct ensemble *ensemble; /* held */
    struct running_spans running;
    int64_t n, last;
    struct err err;
};

static int64_t kept(const struct ensemble *en)
{
    return KEPT + KEPT_OF_REPLICA * (int64_t)en->nreplicas;
}

static void trim_work(void *arg)
{
    struct trimming *t = arg;
    read_running(&t->running, t->sv, t->n, &t->last, &t->err);
}

static void trim_done(void *arg)
{
    struct trimming *t = arg;
    struct ensemble *en = t->ensemble;
    int64_t ms = ran_until(&t->running, t->running.now);
    en->trimming = false;
    if (!t->err.code && !en->removed) {
        store_trim_events(t->sv->store, en, t->last, ms);
        en->ran_ms += ms;
        en->nevents -= t->n;
        quota_set(&en->stored, en->stored.amount - t->n * USAGE_EVENT);
    }
    free(t->running.has_slot);
    ensemble_free(en);
    free(t);
}

/* A replica that has a slot at the last event that is removed counts up to that event, and again from its next start
 * on. So less than one slice of the time is lost. */
void service_trim_events(struct service *sv, struct ensemble *en)
{
    if (en->trimming || sv->draining || en->nevents < kept(en) + kept(en) / 4)
        return;
    struct trimming *t = xcalloc(1, sizeof *t);
    *t = (struct trimming){
        .sv = sv, .ensemble = ensemble_hold(en), .running = running_of(en), .n = en->nevents - kept(en)};
    en->trimming = true;
    service_offload(sv, trim_work, trim_done, t);
}
