/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service and its workers say to each other: decisions become frames, frames become events of the scheduler.
 */
#include "daemon/service/service.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/processes/frames.h"

static void send_simple(struct service *sv, int worker, const char *type, const struct sched_set *set)
{
    json_t *m = json_pack("{s:s}", "type", type);
    if (set)
        json_object_set_new(m, "set", json_integer(set->number));
    supervisor_send(sv->supervisor, worker, m);
    json_decref(m);
}

static json_t *start_of(const struct sched_replica *r)
{
    char folder[64], origin[96];
    replica_folder(r, folder);
    replica_origin_folder(r, origin);
    json_t *m =
        json_pack("{s:I,s:i,s:i,s:I,s:s,s:I}", "number", (json_int_t)r->number, "window", r->window, "repeat",
                  r->repeat, "key", (json_int_t)replica_key(r), "folder", folder, "steps", (json_int_t)r->steps);
    if (origin[0])
        json_object_set_new(m, "origin", json_string(origin));
    return m;
}

static void send_start(struct service *sv, int worker, const struct sched_set *set)
{
    const struct ensemble *en = set->ensemble;
    char *directory = service_path(sv, en, NULL);
    json_t *replicas = json_array();
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].held)
            json_array_append_new(replicas, start_of(&set->replicas[i]));
    json_t *m =
        json_pack("{s:s,s:I,s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:o}", "type", "start", "set", (json_int_t)set->number,
                  "ensemble", en->id, "directory", directory, "windows", en->windows, "ladder", en->ladder, "attempt",
                  set->failures, "salt", set->salt, "doublings", en->doublings, "replicas", replicas);
    supervisor_send(sv->supervisor, worker, m);
    json_decref(m);
    free(directory);
}

void workers_tell(struct service *sv, const struct decision *d)
{
    if (d->kind == DECIDE_START)
        send_start(sv, d->worker, d->set);
    else if (d->kind == DECIDE_STOP)
        send_simple(sv, d->worker, "stop", d->set);
    else
        send_simple(sv, d->worker, "drain", NULL);
}

static const char *text_of(const json_t *m, const char *key)
{
    const char *t = json_string_value(json_object_get(m, key));
    return t ? t : "";
}

static int64_t number_of(const json_t *m, const char *key)
{
    return json_integer_value(json_object_get(m, key));
}

struct sched_replica *service_running(const struct service *sv, int worker, int64_t number)
{
    const struct sched_worker *w = &sv->sched.workers[worker];
    for (int i = 0; i < w->nsets; i++)
        for (int k = 0; k < w->sets[i]->nreplicas; k++)
            if (w->sets[i]->replicas[k].number == number)
                return &w->sets[i]->replicas[k];
    return NULL;
}

static const struct {
    const char *type;
    enum sched_kind kind;
} frame_kinds[] = {{"hello", SCHED_WORKER_UP}, {"progress", SCHED_PROGRESS}, {"segment", SCHED_SEGMENT},
                   {"done", SCHED_DONE},       {"stopped", SCHED_STOPPED},   {"failed", SCHED_FAILED}};

static struct room room_of(const json_t *memory)
{
    return (struct room){.total = number_of(memory, "total"),
                         .free = number_of(memory, "free"),
                         .slab = number_of(memory, "slab"),
                         .cards = (int)number_of(memory, "cards"),
                         .joined = (int)number_of(memory, "joined")};
}

/* A step in which the device's energy counter may have been read. */
static int step_and_meter(struct service *sv, struct sched_event *ev, struct err *e)
{
    const struct energy_meter *m = &sv->sched.workers[ev->worker].energy, was = *m;
    const char *device = sv->config.devices[ev->worker];
    int rc = service_step(sv, ev, e);
    if (m->millijoules) {
        metrics_add(sv->config.metrics, METRICS_ENERGY, device, m->joules - was.joules);
        metrics_add(sv->config.metrics, METRICS_IDLE_ENERGY, device, m->idle - was.idle);
    }
    return rc;
}

/* What the worker's device does now, how many replicas it wants and what memory it could have for them. */
static int on_load(struct service *sv, int worker, const json_t *m, struct err *e)
{
    json_t **load = &sv->loads[worker];
    json_decref(*load);
    *load = json_pack("{s:O?, s:O?, s:O?, s:O?, s:O?}", "busy", json_object_get(m, "busy"), "us_per_replica_step",
                      json_object_get(m, "us_per_replica_step"), "ns_per_day", json_object_get(m, "ns_per_day"),
                      "memory", json_object_get(m, "memory"), "replicas", json_object_get(m, "replicas"));
    const json_t *memory = json_object_get(m, "memory");
    struct sched_event ev = {
        .kind = SCHED_SLOTS, .worker = worker, .slots = (int)number_of(m, "slots"), .room = room_of(memory)};
    ev.millijoules = number_of(m, "energy_mj");
    ev.room.free += number_of(memory, "used");
    const struct room *told = &sv->sched.workers[worker].room; /* once, by hello */
    ev.room.slab = told->slab;
    ev.room.cards = told->cards;
    ev.room.joined = told->joined;
    int rc = step_and_meter(sv, &ev, e);
    if (!sv->sched.workers[worker].nrunning)
        service_save_energy(sv);
    return rc;
}

/* Of a device on which nothing has run yet. */
static void show_memory(struct service *sv, int worker, const struct room *room)
{
    json_decref(sv->loads[worker]);
    sv->loads[worker] = json_pack("{s:{s:I,s:I,s:i,s:i}}", "memory", "total", (json_int_t)room->total, "free",
                                  (json_int_t)room->free, "used", 0, "replica", 0);
}

/* What a replica has done since its worker last spoke of it: `was` is the replica as it was then. */
static void count_work(struct service *sv, int worker, const struct sched_replica *was, const struct sched_replica *r)
{
    const char *device = sv->config.devices[worker];
    if (r->step > was->step)
        metrics_add(sv->config.metrics, METRICS_STEPS, device, (double)(r->step - was->step));
    if (r->time_ps > was->time_ps)
        metrics_add(sv->config.metrics, METRICS_SIMULATED, device, (r->time_ps - was->time_ps) * 1e-12);
}

static void count_failure(struct service *sv, int code)
{
    char reason[32];
    snprintf(reason, sizeof reason, "%s", err_name((enum err_code)code));
    for (char *p = reason; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    metrics_add(sv->config.metrics, METRICS_FAILURES, reason, 1);
}

static int on_frame(void *arg, int worker, const json_t *m, struct err *e)
{
    struct service *sv = arg;
    const char *type = text_of(m, "type");
    if (strcmp(type, "hello") == 0 && number_of(m, "protocol") != FRAMES_PROTOCOL)
        return err_set(e, ERR_PROTOCOL, "the worker speaks protocol %lld of version %.40s, expected %d of version %s",
                       (long long)number_of(m, "protocol"), text_of(m, "version"), FRAMES_PROTOCOL, SHOAL_VERSION);
    struct sched_replica *r = service_running(sv, worker, number_of(m, "replica"));
    if (strcmp(type, "event") == 0) {
        if (r)
            service_put_event(sv, r->ensemble, r, text_of(m, "kind"), -1, text_of(m, "message"));
        return 0;
    }
    if (strcmp(type, "load") == 0)
        return on_load(sv, worker, m, e);
    for (size_t i = 0; i < sizeof frame_kinds / sizeof *frame_kinds; i++) {
        if (strcmp(type, frame_kinds[i].type) != 0)
            continue;
        struct sched_event ev = {.kind = frame_kinds[i].kind,
                                 .worker = worker,
                                 .slots = (int)number_of(m, "slots"),
                                 .device = text_of(m, "device"),
                                 .model = text_of(m, "model"),
                                 .limits = json_string_value(json_object_get(m, "limits")),
                                 .room = room_of(json_object_get(m, "memory")),
                                 .millijoules = number_of(m, "energy_mj"),
                                 .message = text_of(m, "message"),
                                 .replica = number_of(m, "replica"),
                                 .stage = (int)number_of(m, "stage"),
                                 .code = (int)number_of(m, "code"),
                                 .step = number_of(m, "step"),
                                 .switched = number_of(m, "switched"),
                                 .time_ps = json_number_value(json_object_get(m, "time_ps"))};
        const struct sched_replica was = r ? *r : (struct sched_replica){0};
        int rc = step_and_meter(sv, &ev, e);
        if (rc == 0 && r)
            count_work(sv, worker, &was, r);
        if (rc == 0 && ev.kind == SCHED_FAILED)
            count_failure(sv, ev.code);
        if (rc == 0 && ev.kind == SCHED_WORKER_UP)
            show_memory(sv, worker, &ev.room);
        if (rc == 0 && ev.kind == SCHED_SEGMENT) {
            store_save_replica(sv->store, r);    /* what it has reached, and that no blame is left */
            service_account(sv, r->set, worker); /* in the same batch: no step is counted twice or not at all */
        }
        return rc;
    }
    return err_set(e, ERR_PROTOCOL, "unknown frame type \"%s\"", type);
}

static void on_down(void *arg, int worker, bool in_order, const char *how)
{
    struct service *sv = arg;
    struct err e = {0};
    json_decref(sv->loads[worker]);
    sv->loads[worker] = NULL;
    if (!in_order)
        metrics_add(sv->config.metrics, METRICS_DEVICE_CRASHES, sv->config.devices[worker], 1);
    service_step(sv, &(struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = worker, .ok = in_order, .message = how},
                 &e);
    service_stop_if_drained(sv);
}

const struct supervisor_ops workers_ops = {on_frame, on_down};
