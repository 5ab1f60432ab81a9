/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service says of itself: version, devices, whether it is ready, metrics.
 */
#include "daemon/api/api.h"
#include "daemon/monitor/monitor.h"

static const char *device_state(const struct sched_worker *w)
{
    if (health_is_drained(&w->health))
        return "drained";
    if (!w->model)
        return "starting";
    if (health_is_sick(&w->health))
        return "sick";
    return health_is_up(&w->health) ? "up" : "down";
}

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
        const bool seen = service_may_see(sv, uid, r->ensemble);
        json_object_set_new(j, "ensemble", seen ? json_string(r->ensemble->id) : json_null());
        json_object_set_new(j, "window", seen ? json_integer(r->window) : json_null());
        json_object_set_new(j, "repeat", seen ? json_integer(r->repeat) : json_null());
        if (sv->sched.workers[worker].room.joined > 1)
            json_object_set(j, "card", json_array_get(told, 2));
        json_array_append_new(list, j);
    }
    return list;
}

json_t *api_devices_json(const struct service *sv, uint32_t uid)
{
    json_t *devices = json_array();
    for (int w = 0; w < sv->sched.nworkers; w++) {
        const struct sched_worker *k = &sv->sched.workers[w];
        json_t *d = json_pack("{s:s,s:s,s:i,s:i,s:s?}", "device", supervisor_device(sv->supervisor, w), "state",
                              device_state(k), "slots", k->slots, "running", k->nrunning, "trouble", k->health.trouble);
        json_object_set_new(d, "drained", api_hold_json(&k->health.drained));
        if (k->model)
            json_object_set_new(d, "model", json_string(k->model));
        if (k->room.joined > 1)
            json_object_set_new(d, "cards", json_pack("{s:i,s:i}", "open", k->room.cards, "joined", k->room.joined));
        if (sv->loads[w]) {
            json_object_update(d, sv->loads[w]);
            json_object_set_new(d, "replicas", api_replicas_on(sv, w, uid));
        }
        json_array_append_new(devices, d);
    }
    return devices;
}

struct reply api_version(struct api_call *c)
{
    const struct service *sv = c->service;
    return reply_json(c->request, 200,
                      json_pack("{s:s,s:s,s:i,s:o,s:O,s:o}", "version", SHOAL_VERSION, "build", sv->config.build, "api",
                                1, "devices", api_devices_json(sv, request_uid(c->request)), "left_out",
                                sv->config.left_out, "held", api_hold_json(&sv->admission)));
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

static void reported(void *request, const struct buf *text)
{
    reply_bytes(request, 200, "application/openmetrics-text; version=1.0.0; charset=utf-8", text->data, text->len);
}

struct reply api_metrics(struct api_call *c)
{
    monitor_report(c->service, METRICS_OPEN, reported, c->request);
    return reply_later(c->request);
}
