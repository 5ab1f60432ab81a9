/* SPDX-License-Identifier: Apache-2.0
 *
 * The event stream: JSON lines, oldest first. There is one source of events, the committed rows: a stream that has sent
 * all of them waits until the service tells of news, then reads on from where it was. Of those who follow one ensemble
 * and are at the same place one reads, and all get its lines.
 */
#include "daemon/api/api.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 500 /* read at once */
#define PROGRESS_MS 1000

struct events {
    struct service *service;
    struct watcher watcher;
    struct ensemble *ensemble; /* held */
    struct stream *stream;     /* NULL: not asked yet */
    int64_t since;
    bool follow;
    bool wanted;                /* the stream waits for something to send */
    bool reading;               /* a job reads rows */
    bool again;                 /* news came while it read */
    bool closed;                /* the response is over */
    struct quota_charge charge; /* for following */
    json_t *rows;               /* read */
    struct err err;
    uv_timer_t timer;
};

static void send_next(struct events *v);

static struct events *events_of(struct watcher *w)
{
    return w ? (struct events *)((char *)w - offsetof(struct events, watcher)) : NULL;
}

static void name_walker(json_t *line, int64_t walkers, int64_t window)
{
    json_object_set_new(line, "end", json_string(window < walkers ? "A" : "B"));
    json_object_set_new(line, "walker", json_integer(window % walkers));
}

/* A row as openapi.yaml's Event. */
static void add_event(struct buf *out, const struct events *v, json_t *row)
{
    const char *kind = json_string_value(json_object_get(row, "kind"));
    json_t *state = json_object_get(row, "state");
    bool of_ensemble = strcmp(kind, "ensemble") == 0;
    json_t *line = json_pack("{s:O,s:o,s:s,s:O,s:O,s:O}", "seq", json_object_get(row, "seq"), "time",
                             api_time_json(json_integer_value(json_object_get(row, "time"))), "kind", kind, "window",
                             json_object_get(row, "window"), "repeat", json_object_get(row, "repeat"), "message",
                             json_object_get(row, "message"));
    const json_t *window = json_object_get(row, "window");
    if (json_is_integer(window) && v->ensemble->walkers && !json_object_get(row, "pilot")) /* which had windows */
        name_walker(line, v->ensemble->walkers, json_integer_value(window));
    if (json_is_integer(state)) {
        const struct sm_kind *states = of_ensemble ? &ensemble_states : &replica_states;
        json_object_set_new(line, "state", json_string(states->states[json_integer_value(state)].name));
    }
    if (of_ensemble) {
        api_add_object(out, line, "ensemble", api_ensemble_text(v->ensemble));
    } else {
        char *text = json_dumps(line, JSON_COMPACT);
        buf_printf(out, "%s", text ? text : "{}");
        free(text);
        json_decref(line);
    }
    buf_printf(out, "\n");
}

static void events_free(uv_handle_t *h)
{
    struct events *v = h->data;
    quota_return(&v->charge);
    ensemble_free(v->ensemble);
    json_decref(v->rows);
    free(v);
}

/* When both the response and the last job are over. */
static void free_if_over(struct events *v)
{
    if (v->closed && !v->reading && !uv_is_closing((uv_handle_t *)&v->timer))
        uv_close((uv_handle_t *)&v->timer, events_free);
}

static void read_rows(void *arg)
{
    struct events *v = arg;
    store_read_events(v->service->store, v->ensemble->number, v->since, ROWS, &v->rows, &v->err);
}

static void take_lines(struct events *v, const struct buf *lines, int64_t last)
{
    if (!lines->len)
        return;
    v->since = last;
    v->wanted = false;
    stream_push(v->stream, lines->data, lines->len);
}

/* To the other followers who waited for these rows. One that has got further meanwhile reads by itself. */
static void share_lines(struct ensemble *en, const struct buf *lines, int64_t since, int64_t last)
{
    en->reader = NULL;
    for (struct watcher *w = en->watchers, *next; w; w = next) {
        struct events *v = events_of(w);
        next = w->next;
        if (v->wanted && !v->reading && v->since == since)
            take_lines(v, lines, last);
        send_next(v);
    }
}

static void rows_read(void *arg)
{
    struct events *v = arg;
    json_t *rows = v->rows, *row;
    size_t i;
    struct buf out = {0};
    int64_t since = v->since, last = since;
    v->rows = NULL;
    json_array_foreach (rows, i, row) {
        const int64_t seq = json_integer_value(json_object_get(row, "seq"));
        if (seq > v->ensemble->shown.seq)
            break; /* committed, but the summary does not say so yet: it is read again with the news */
        last = seq;
        add_event(&out, v, row);
    }
    bool all = json_array_size(rows) < ROWS;
    json_decref(rows);
    if (v->ensemble->reader == &v->watcher)
        share_lines(v->ensemble, &out, since, last); /* it is still marked as reading: not to itself */
    v->reading = false;
    if (!v->closed)
        take_lines(v, &out, last);
    buf_free(&out);
    if (v->closed)
        free_if_over(v);
    else if (v->err.code)
        stream_fail(v->stream);
    else if (all && !v->follow)
        stream_end(v->stream);
    else if (v->again)
        send_next(v);
}

/* Everything is sent: the end, if nothing more will come, else wait. */
static void send_next(struct events *v)
{
    struct ensemble *en = v->ensemble;
    const struct events *reader = events_of(en->reader);
    if (!v->wanted || v->reading || (v->follow && reader && reader->since == v->since))
        return;
    if (v->since < en->shown.seq || !v->follow) {
        v->reading = true;
        v->again = false;
        if (v->follow && !reader)
            en->reader = &v->watcher;
        service_offload(v->service, read_rows, rows_read, v);
    } else if (ensemble_shown_ended(en)) {
        stream_end(v->stream);
    }
}

static void on_events_fill(void *arg, struct stream *s)
{
    struct events *v = arg;
    v->stream = s;
    v->wanted = true;
    send_next(v);
}

static void on_news(struct watcher *w)
{
    struct events *v = events_of(w);
    v->again = v->reading;
    send_next(v);
}

static void on_progress(uv_timer_t *t)
{
    struct events *v = t->data;
    if (!v->wanted || v->reading || !v->ensemble->nrunning)
        return;
    const char *line = api_progress_line(v->ensemble);
    v->wanted = false;
    stream_push(v->stream, line, strlen(line));
}

static void on_events_over(void *arg)
{
    struct events *v = arg;
    v->closed = true;
    v->wanted = false;
    service_unwatch(&v->watcher);
    uv_timer_stop(&v->timer);
    free_if_over(v);
}

struct reply api_events(struct api_call *c)
{
    static const struct stream_ops ops = {on_events_fill, on_events_over};
    struct quota_charge charge = {0};
    struct err e = {0};
    if (c->value[1] == 1 && quota_take(c->api->quota, request_uid(c->request), QUOTA_FOLLOWERS, 1, &charge, &e))
        return reply_error(c->request, &e);
    struct events *v = xcalloc(1, sizeof *v);
    *v = (struct events){.charge = charge,
                         .service = c->service,
                         .ensemble = ensemble_hold(c->ensemble),
                         .since = c->value[0] < 0 ? 0 : c->value[0],
                         .follow = c->value[1] == 1,
                         .watcher = {.ensemble = c->ensemble, .news = on_news}};
    uv_timer_init(c->service->loop, &v->timer);
    v->timer.data = v;
    if (v->follow) {
        service_watch(&v->watcher);
        uv_timer_start(&v->timer, on_progress, PROGRESS_MS, PROGRESS_MS);
    }
    return reply_stream(c->request, 200, "application/x-ndjson", -1, &ops, v);
}
