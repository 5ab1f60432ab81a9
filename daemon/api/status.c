/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble with its replicas, of which it may have many thousands. Their text is made a slice at a time, as the
 * client takes it, so that one answer neither holds up the loop nor takes much memory. What they wait for is found once
 * for all of them (schedule/explain.c).
 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/number.h"

#define SLICE 200   /* replicas whose text is made at once */
#define TOLD_MS 500 /* a line of progress serves all who ask within this time */

/* ---- one replica, as text: building an object of each would take most of the time ---- */

/* The first member of an object. */
static void begin_text(struct buf *out, const char *key, const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    buf_printf(out, "\"%s\":%s", key, quoted ? quoted : "null");
    free(quoted);
    json_decref(value);
}

static void add_text(struct buf *out, const char *key, const char *text)
{
    buf_printf(out, ",");
    begin_text(out, key, text);
}

/* A number that readers take for a real one. */
static void add_real(struct buf *out, const char *key, bool known, double x)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.10g", x);
    buf_printf(out, ",\"%s\":%s%s", key, known ? digits : "null", known && !strpbrk(digits, ".e") ? ".0" : "");
}

static void add_whole(struct buf *out, const char *key, bool known, int64_t n)
{
    if (known)
        buf_printf(out, ",\"%s\":%lld", key, (long long)n);
    else
        buf_printf(out, ",\"%s\":null", key);
}

/* "memory on cuda:0: needs 1.2 GB, 0.8 GB free" */
static void add_memory(struct buf *out, const struct sched_wait *w)
{
    buf_printf(out, "memory on %s: needs ", w->full->device);
    number_bytes(out, (double)w->needs);
    buf_printf(out, ", ");
    number_bytes(out, (double)w->free);
    buf_printf(out, " free");
}

static void add_cause(struct buf *out, const struct sched_wait *w)
{
    struct buf text = {0};
    if (w->full)
        add_memory(&text, w);
    else
        buf_printf(&text, "%s", wait_text(w->kind));
    if (w->drained) {
        const struct hold *by = &w->drained->health.drained;
        buf_printf(&text, ": %s is drained (%s%s%s)", w->drained->device, by->by, by->reason ? ": " : "",
                   by->reason ? by->reason : "");
    }
    begin_text(out, "for", text.data);
    buf_free(&text);
}

/* What it waits for, its place in the queue and when it may start. */
static void add_waits(struct buf *out, const struct sched_queue *q, const struct sched_replica *r)
{
    struct sched_wait w;
    sched_explain(q, r, &w);
    if (w.kind == WAIT_NOT || r->shown.state != r->sm.state) {
        buf_printf(out, ",\"waits\":null");
        return;
    }
    buf_printf(out, ",\"waits\":{");
    add_cause(out, &w);
    add_whole(out, "place", w.place > 0, w.place);
    add_real(out, "expected_seconds", w.expected >= 0, (double)w.expected / 1000);
    buf_printf(out, "}");
}

static void add_replica(struct buf *out, const struct sched_queue *q, const struct sched_replica *r, bool first)
{
    bool begun = r->step > 0 || r->held;
    buf_printf(out, "%s{\"window\":%d,\"repeat\":%d,\"state\":\"%s\",\"step\":%lld,\"steps\":%lld,\"attempt\":%d",
               first ? "" : ",", r->window, r->repeat, replica_states.states[r->shown.state].name, (long long)r->step,
               (long long)r->steps, r->shown.failures);
    if (r->ensemble->walkers)
        buf_printf(out, ",\"end\":\"%c\",\"walker\":%d", replica_end(r), replica_walker(r));
    add_text(out, "device", r->set->device);
    add_text(out, "reason", r->shown.reason);
    add_waits(out, q, r);
    add_whole(out, "stage", begun, r->stage);
    add_real(out, "time_ps", begun, r->time_ps);
    buf_printf(out, "}");
}

/* ---- all of an ensemble ---- */

struct status {
    struct ensemble *ensemble; /* held */
    struct sched_queue queue;
    int ladder; /* that of the replicas */
    int next;   /* of them */
    struct buf text;
};

/* The next slice. Whether something is left. */
static bool add_slice(struct status *v)
{
    const struct ensemble *en = v->ensemble;
    for (int end = v->next + SLICE; v->next < end && v->next < en->nreplicas; v->next++)
        add_replica(&v->text, &v->queue, &en->replicas[v->next], v->next == 0);
    if (v->next == en->nreplicas)
        buf_printf(&v->text, "]}\n");
    return v->next < en->nreplicas;
}

static void on_status_fill(void *arg, struct stream *s)
{
    struct status *v = arg;
    if (v->ladder != v->ensemble->ladder) { /* its windows are others now: the half that was sent is of none */
        stream_fail(s);
        return;
    }
    bool more = v->next < v->ensemble->nreplicas && add_slice(v);
    stream_push(s, v->text.data, v->text.len);
    v->text.len = 0;
    if (!more)
        stream_end(s);
}

static void status_free(void *arg)
{
    struct status *v = arg;
    sched_queue_close(&v->queue);
    ensemble_free(v->ensemble);
    buf_free(&v->text);
    free(v);
}

struct reply api_reply_ensemble(struct request *r, int status, struct ensemble *en, json_t *more)
{
    static const struct stream_ops ops = {on_status_fill, status_free};
    struct status *v = xcalloc(1, sizeof *v);
    *v = (struct status){.ensemble = ensemble_hold(en), .ladder = en->ladder};
    sched_queue_open(&v->queue, en, service_clock());
    json_t *j = api_ensemble_json(en);
    json_object_update(j, more);
    api_add_object(&v->text, j, "replicas", "[");
    v->text.len--; /* they come in between */
    if (add_slice(v))
        return reply_stream(r, status, "application/json", -1, &ops, v);
    struct reply done = reply_bytes(r, status, "application/json", v->text.data, v->text.len);
    status_free(v);
    return done;
}

const char *api_progress_line(struct ensemble *en)
{
    int64_t now = service_clock();
    if (en->told && now - en->told_at < TOLD_MS)
        return en->told;
    struct sched_queue nothing = {.s = en->sched, .ensemble = en}; /* those that run wait for none */
    struct buf list = {0}, ensemble = {0}, line = {0};
    buf_printf(&list, "[");
    for (int i = 0; i < en->nreplicas; i++)
        if (en->replicas[i].held)
            add_replica(&list, &nothing, &en->replicas[i], list.len == 1);
    buf_printf(&list, "]");
    api_add_object(&ensemble, api_ensemble_json(en), "replicas", list.data);
    api_add_object(&line, json_pack("{s:o,s:s}", "time", api_time_json(service_now()), "kind", "progress"), "ensemble",
                   ensemble.data);
    buf_printf(&line, "\n");
    ensemble_string(&en->told, line.data);
    en->told_at = now;
    buf_free(&list);
    buf_free(&ensemble);
    buf_free(&line);
    return en->told;
}

struct reply api_status(struct api_call *c)
{
    return api_reply_ensemble(c->request, 200, c->ensemble, NULL);
}
