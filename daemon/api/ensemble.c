/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/units.h"

#define FRESH_MS 200 /* for so long one text of an ensemble that goes on serves all who ask */

json_t *api_time_json(int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    char text[40], whole[48];
    gmtime_r(&seconds, &t);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(whole, sizeof whole, "%s.%03dZ", text, (int)(ms % 1000));
    return json_string(whole);
}

static double share(int64_t step, int64_t steps)
{
    if (steps <= 0)
        return 0;
    return step >= steps ? 1 : (double)step / (double)steps;
}

static double progress(const struct ensemble *en)
{
    const struct allocation *a = &en->allocation;
    double sum = 0;
    int64_t steps = 0;
    for (int i = 0; i < en->nreplicas; i++) {
        const struct sched_replica *r = &en->replicas[i];
        steps += r->step;
        sum += r->shown.state == REPLICA_DONE ? 1 : share(r->step, r->steps);
    }
    if (a->share && !ensemble_stopping(en) && !ensemble_shown_ended(en)) /* not all is handed out yet */
        return share(steps, (a->before + a->share) * en->nreplicas);
    return sum / en->nreplicas;
}

static const char *device_state(const struct sched_worker *w)
{
    if (!w->heard)
        return "starting";
    if (sched_sick(w))
        return "sick";
    return w->up ? "up" : "down";
}

/* Of an ensemble that has ended it is its results that say so. */
static json_t *estimate_json(const struct ensemble *en)
{
    const struct ensemble_estimate *x = &en->estimate;
    if (!x->made || ensemble_shown_ended(en))
        return json_null();
    json_t *j = json_pack("{s:s,s:s,s:o}", "unit", "kcal/mol", "verdict", x->verdict, "time", api_time_json(x->made));
    json_object_set_new(j, "value", x->number ? json_real(x->value) : json_null());
    json_object_set_new(j, "error", x->number ? json_real(x->error) : json_null());
    return j;
}

static json_t *stop_json(const struct ensemble *en)
{
    const struct stop_rule *stop = &en->stop;
    if (!stop->error)
        return json_null();
    return json_pack("{s:f,s:s,s:s,s:I}", "error", stop->error / UNIT_KCAL, "unit", "kcal/mol", "verdict",
                     stop->converged ? "converged" : "any", "after", (json_int_t)stop->after);
}

static json_t *allocate_json(const struct ensemble *en)
{
    const struct allocation *a = &en->allocation;
    int64_t handed = 0;
    for (int i = 0; i < en->nreplicas; i++)
        handed += en->replicas[i].steps - a->before;
    if (!a->share)
        return json_null();
    return json_pack("{s:I,s:I,s:f}", "before", (json_int_t)a->before, "share", (json_int_t)a->share, "handed_out",
                     (double)handed / (double)(a->share * en->nreplicas));
}

json_t *api_ensemble_json(const struct ensemble *en)
{
    json_t *j = json_pack(
        "{s:s,s:s?,s:s,s:I,s:s,s:s?,s:o,s:o,s:i,s:i,s:i,s:i,s:f,s:I}", "id", en->id, "key", en->key, "name", en->name,
        "owner", (json_int_t)en->owner, "state", ensemble_states.states[en->shown.state].name, "reason",
        ensemble_shown_reason(en), "created", api_time_json(en->created), "changed", api_time_json(en->shown.changed),
        "windows", en->windows, "repeats", en->repeats, "done", ensemble_shown_count(en, REPLICA_DONE), "failed",
        ensemble_shown_count(en, REPLICA_FAILED), "progress", progress(en), "seq", (json_int_t)en->shown.seq);
    json_t *labels = json_object();
    for (int i = 0; i < en->nlabels; i++)
        json_object_set_new(labels, en->labels[i].key, json_string(en->labels[i].value));
    json_object_set_new(j, "labels", labels);
    json_object_set_new(j, "spec_hash", json_string(en->hash));
    json_object_set_new(j, "revision", json_integer(en->shown.revision));
    json_object_set_new(j, "estimate", estimate_json(en));
    json_object_set_new(j, "stop_when", stop_json(en));
    json_object_set_new(j, "allocate", allocate_json(en));
    json_object_set_new(j, "fits",
                        ensemble_shown_ended(en) || !en->sched ? json_array() : api_fits_json(en->sched, en->sizes));
    json_object_set_new(j, "bytes", en->measured ? json_integer((json_int_t)en->stored.amount) : json_null());
    return j;
}

const char *api_ensemble_text(struct ensemble *en)
{
    int64_t now = service_clock();
    if (!en->listed || en->listed_seq != en->shown.seq || en->listed_measured != en->measured ||
        (!ensemble_shown_ended(en) && now - en->listed_at >= FRESH_MS)) {
        json_t *j = api_ensemble_json(en);
        free(en->listed);
        en->listed = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(10));
        en->listed_seq = en->shown.seq;
        en->listed_measured = en->measured;
        en->listed_at = now;
        json_decref(j);
    }
    return en->listed ? en->listed : "{}";
}

void api_add_object(struct buf *out, json_t *object, const char *key, const char *value)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(10));
    size_t len = text ? strlen(text) : 0;
    buf_printf(out, "%.*s,\"%s\":%s}", len ? (int)len - 1 : 1, len ? text : "{", key, value);
    free(text);
    json_decref(object);
}

/* ---- the service itself ---- */

/* Those of users that the caller does not see have no name. */
json_t *api_replicas_on(const struct service *sv, int worker, uint32_t uid)
{
    json_t *list = json_array(), *told;
    size_t i;
    json_array_foreach (json_object_get(sv->loads[worker], "replicas"), i, told) {
        const struct sched_replica *r = service_running(sv, worker, json_integer_value(json_array_get(told, 0)));
        if (!r) /* it has ended since */
            continue;
        json_t *j = json_pack("{s:O}", "bytes", json_array_get(told, 1));
        const bool seen = service_may_see(uid, r->ensemble);
        json_object_set_new(j, "ensemble", seen ? json_string(r->ensemble->id) : json_null());
        json_object_set_new(j, "window", seen ? json_integer(r->window) : json_null());
        json_object_set_new(j, "repeat", seen ? json_integer(r->repeat) : json_null());
        json_array_append_new(list, j);
    }
    return list;
}

struct reply api_version(struct api_call *c)
{
    const struct service *sv = c->service;
    json_t *devices = json_array();
    for (int w = 0; w < sv->sched.nworkers; w++) {
        const struct sched_worker *k = &sv->sched.workers[w];
        json_t *d = json_pack("{s:s,s:s,s:i,s:i,s:s?}", "device", supervisor_device(sv->supervisor, w), "state",
                              device_state(k), "slots", k->slots, "running", k->nrunning, "trouble", k->trouble);
        if (k->model)
            json_object_set_new(d, "model", json_string(k->model));
        if (sv->loads[w]) {
            json_object_update(d, sv->loads[w]);
            json_object_set_new(d, "replicas", api_replicas_on(sv, w, request_uid(c->request)));
        }
        json_array_append_new(devices, d);
    }
    return reply_json(c->request, 200,
                      json_pack("{s:s,s:i,s:o,s:O}", "version", SHOAL_VERSION, "api", 1, "devices", devices, "left_out",
                                sv->config.left_out));
}

struct reply api_live(struct api_call *c)
{
    return reply_json(c->request, 200, json_pack("{s:b}", "ok", 1));
}

struct reply api_ready(struct api_call *c)
{
    struct err e = {0};
    if (!service_ready(c->service, &e))
        return reply_error(c->request, &e);
    return api_live(c);
}

/* ---- ensembles ---- */

struct reply api_status(struct api_call *c)
{
    return api_reply_ensemble(c->request, 200, c->ensemble, NULL);
}

/* ---- what owners ask for: answered once it is committed ---- */

struct action {
    struct request *request;
    struct ensemble *ensemble;
};

static void action_free(void *arg)
{
    struct action *a = arg;
    ensemble_free(a->ensemble);
    free(a);
}

static void action_committed(void *arg)
{
    struct action *a = arg;
    api_reply_ensemble(a->request, 200, a->ensemble, NULL);
    action_free(a);
}

void api_moved(struct service *sv, struct request *r, struct ensemble *en)
{
    en->moves++;
    struct action *a = xcalloc(1, sizeof *a);
    *a = (struct action){r, ensemble_hold(en)};
    store_after_commit(sv->store, action_committed, action_free, a);
}

static struct reply wish(struct api_call *c, struct sched_event ev)
{
    struct err e = {0};
    ev.ensemble = c->ensemble;
    if (service_step(c->service, &ev, &e))
        return reply_error(c->request, &e);
    api_moved(c->service, c->request, c->ensemble);
    return reply_later(c->request);
}

struct reply api_cancel(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_CANCEL});
}

struct reply api_pause(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_PAUSE});
}

struct reply api_resume(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_RESUME});
}

struct reply api_reestimate(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_REESTIMATE});
}

struct reply api_retry(struct api_call *c)
{
    int64_t window = c->value[0];
    struct err e = {0};
    if (window >= c->ensemble->windows) {
        err_set(&e, ERR_USAGE, "window=%lld: ensemble %s has windows 0 to %d", (long long)window, c->ensemble->id,
                c->ensemble->windows - 1);
        return reply_error(c->request, &e);
    }
    return wish(c, (struct sched_event){.kind = SCHED_RETRY, .one = window >= 0, .window = (int)window});
}

/* ---- for good ---- */

struct removing {
    struct request *request;
    char id[16];
};

static void removed(void *arg, int64_t bytes)
{
    struct removing *r = arg;
    reply_json(r->request, 200, json_pack("{s:s,s:I}", "id", r->id, "bytes", (json_int_t)bytes));
    free(r);
}

struct reply api_remove(struct api_call *c)
{
    struct err e = {0};
    struct removing *r = xcalloc(1, sizeof *r);
    r->request = c->request;
    memcpy(r->id, c->ensemble->id, sizeof r->id);
    if (service_remove(c->service, c->ensemble, removed, r, &e) == 0)
        return reply_later(c->request);
    free(r);
    return reply_error(c->request, &e);
}
