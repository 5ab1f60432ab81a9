/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/service.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "daemon/frames.h"
#include "engine/base/log.h"

#define ID_LENGTH 10

int64_t service_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool service_is_admin(uint32_t uid)
{
    return uid == 0 || uid == geteuid();
}

/* ---- watchers and events ---- */

void service_watch(struct service *sv, struct watcher *w)
{
    w->next = sv->watchers;
    sv->watchers = w;
}

void service_unwatch(struct service *sv, struct watcher *w)
{
    struct watcher **at = &sv->watchers;
    while (*at && *at != w)
        at = &(*at)->next;
    if (*at)
        *at = w->next;
}

struct news {
    struct service *sv;
    const struct ensemble *ensemble;
};

static void spread_news(void *arg)
{
    struct news *n = arg;
    for (struct watcher *w = n->sv->watchers, *next; w; w = next) {
        next = w->next; /* a watcher may leave while it is told */
        if (w->ensemble == n->ensemble)
            w->news(w);
    }
    free(n);
}

static void put_event(struct service *sv, struct ensemble *en, const struct sched_replica *r, const char *kind,
                      int state, const char *message)
{
    struct event ev = {.seq = sv->next_seq++,
                       .time = service_now(),
                       .ensemble = en,
                       .replica = r,
                       .kind = kind,
                       .state = state,
                       .message = message};
    store_put_event(sv->store, &ev);
    en->seq = ev.seq;
    struct news *n = xcalloc(1, sizeof *n);
    *n = (struct news){sv, en};
    store_after_commit(sv->store, spread_news, n);
}

/* ---- decisions ---- */

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
    char folder[64];
    replica_folder(r, folder);
    return json_pack("{s:I,s:i,s:i,s:I,s:s,s:I}", "number", (json_int_t)r->number, "window", r->window, "repeat",
                     r->repeat, "key", (json_int_t)replica_key(r), "folder", folder, "steps", (json_int_t)r->steps);
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
        json_pack("{s:s,s:I,s:s,s:s,s:i,s:i,s:o}", "type", "start", "set", (json_int_t)set->number, "ensemble", en->id,
                  "directory", directory, "windows", en->windows, "attempt", set->failures, "replicas", replicas);
    supervisor_send(sv->supervisor, worker, m);
    json_decref(m);
    free(directory);
}

static void carry_out(struct service *sv, const struct decision *d)
{
    switch (d->kind) {
    case DECIDE_PREPARE:
        service_prepare(sv, d->ensemble);
        return;
    case DECIDE_START:
        send_start(sv, d->worker, d->set);
        return;
    case DECIDE_STOP:
        send_simple(sv, d->worker, "stop", d->set);
        return;
    case DECIDE_DRAIN:
        send_simple(sv, d->worker, "drain", NULL);
        return;
    case DECIDE_ESTIMATE:
        service_estimate(sv, d->ensemble);
        return;
    case DECIDE_REPLICA:
        store_save_replica(sv->store, d->replica);
        put_event(sv, d->ensemble, d->replica, "replica", (int)d->state,
                  d->state == REPLICA_FAILED || d->state == REPLICA_QUEUED ? d->replica->reason : NULL);
        return;
    case DECIDE_ENSEMBLE:
        store_save_ensemble(sv->store, d->ensemble);
        put_event(sv, d->ensemble, NULL, "ensemble", (int)d->state, d->ensemble->reason);
        return;
    }
}

static void tell_status(struct service *sv)
{
    if (!sv->on_status)
        return;
    int running = 0, up = 0, active = 0;
    for (int w = 0; w < sv->sched.nworkers; w++) {
        up += sv->sched.workers[w].up;
        running += sv->sched.workers[w].nrunning;
    }
    for (int i = 0; i < sv->sched.nensembles; i++)
        active += !ensemble_ended(sv->sched.ensembles[i]);
    char text[160];
    snprintf(text, sizeof text, "%s%d of %d workers up, %d replicas running, %d ensembles active",
             sv->draining ? "draining: " : "", up, sv->sched.nworkers, running, active);
    sv->on_status(sv->on_stopped_arg, text);
}

static void on_tick(uv_timer_t *t);

static void set_tick(struct service *sv)
{
    int64_t now = service_now(), wake = sched_wake(&sv->sched, now);
    if (wake == INT64_MAX || sv->stopped)
        uv_timer_stop(&sv->tick);
    else
        uv_timer_start(&sv->tick, on_tick, wake > now ? (uint64_t)(wake - now) : 1, 0);
}

int service_step(struct service *sv, struct sched_event *ev, struct err *e)
{
    struct decisions out = {0};
    ev->now = service_now();
    int rc = sched_step(&sv->sched, ev, &out, e);
    for (int i = 0; i < out.n; i++)
        carry_out(sv, &out.item[i]);
    if (out.n || ev->kind == SCHED_WORKER_UP || ev->kind == SCHED_WORKER_DOWN)
        tell_status(sv);
    free(out.item);
    if (ev->kind != SCHED_PROGRESS)
        set_tick(sv);
    return rc;
}

static void on_tick(uv_timer_t *t)
{
    struct err e = {0};
    service_step(t->data, &(struct sched_event){.kind = SCHED_TICK}, &e);
}

/* ---- workers ---- */

static const char *text_of(const json_t *m, const char *key)
{
    const char *t = json_string_value(json_object_get(m, key));
    return t ? t : "";
}

static int64_t number_of(const json_t *m, const char *key)
{
    return json_integer_value(json_object_get(m, key));
}

static struct sched_replica *running_replica(struct service *sv, int worker, int64_t number)
{
    struct sched_worker *w = &sv->sched.workers[worker];
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

static int on_frame(void *arg, int worker, const json_t *m, struct err *e)
{
    struct service *sv = arg;
    const char *type = text_of(m, "type");
    if (strcmp(type, "hello") == 0 && number_of(m, "protocol") != FRAMES_PROTOCOL)
        return err_set(e, ERR_PROTOCOL, "the worker speaks protocol %lld of version %.40s, expected %d of version %s",
                       (long long)number_of(m, "protocol"), text_of(m, "version"), FRAMES_PROTOCOL, SHOAL_VERSION);
    struct sched_replica *r = running_replica(sv, worker, number_of(m, "replica"));
    if (strcmp(type, "event") == 0) {
        if (r)
            put_event(sv, r->ensemble, r, text_of(m, "kind"), -1, text_of(m, "message"));
        return 0;
    }
    for (size_t i = 0; i < sizeof frame_kinds / sizeof *frame_kinds; i++) {
        if (strcmp(type, frame_kinds[i].type) != 0)
            continue;
        struct sched_event ev = {.kind = frame_kinds[i].kind,
                                 .worker = worker,
                                 .slots = (int)number_of(m, "slots"),
                                 .device = text_of(m, "device"),
                                 .model = text_of(m, "model"),
                                 .message = text_of(m, "message"),
                                 .replica = number_of(m, "replica"),
                                 .stage = (int)number_of(m, "stage"),
                                 .code = (int)number_of(m, "code"),
                                 .step = number_of(m, "step"),
                                 .time_ps = json_number_value(json_object_get(m, "time_ps"))};
        int rc = service_step(sv, &ev, e);
        if (rc == 0 && ev.kind == SCHED_SEGMENT)
            store_save_replica(sv->store, r); /* what it has reached, and that no blame is left */
        return rc;
    }
    return err_set(e, ERR_PROTOCOL, "unknown frame type \"%s\"", type);
}

static void stop_if_drained(struct service *sv)
{
    if (!sv->draining || sv->stopped || supervisor_alive(sv->supervisor))
        return;
    sv->stopped = true;
    uv_timer_stop(&sv->drain_limit);
    sv->on_stopped(sv->on_stopped_arg);
}

static void on_down(void *arg, int worker, bool in_order, const char *how)
{
    struct service *sv = arg;
    struct err e = {0};
    service_step(sv, &(struct sched_event){.kind = SCHED_WORKER_DOWN, .worker = worker, .ok = in_order, .message = how},
                 &e);
    stop_if_drained(sv);
}

static bool on_busy(void *arg, int worker)
{
    const struct service *sv = arg;
    return sv->sched.workers[worker].nrunning > 0;
}

/* ---- ensembles ---- */

static bool may_see(uint32_t uid, const struct ensemble *en)
{
    return en->owner == uid || service_is_admin(uid);
}

struct ensemble *service_find(struct service *sv, uint32_t uid, const char *prefix, struct err *e)
{
    struct ensemble *found = NULL;
    size_t len = strlen(prefix);
    for (int i = 0; i < sv->sched.nensembles; i++) {
        struct ensemble *en = sv->sched.ensembles[i];
        if (!may_see(uid, en) || strncmp(en->id, prefix, len) != 0)
            continue;
        if (en->id[len] == '\0')
            return en;
        if (len < 4)
            continue;
        if (found) {
            err_set(e, ERR_CONFLICT, "\"%s\" is ambiguous: %s, %s", prefix, found->id, en->id);
            return NULL;
        }
        found = en;
    }
    if (!found)
        err_set(e, ERR_NOT_FOUND, "no ensemble \"%s\"%s", prefix, len < 4 ? " (give at least four characters)" : "");
    return found;
}

struct ensemble *service_find_key(struct service *sv, uint32_t uid, const char *key)
{
    for (int i = 0; i < sv->sched.nensembles; i++) {
        struct ensemble *en = sv->sched.ensembles[i];
        if (en->owner == uid && en->key && strcmp(en->key, key) == 0)
            return en;
    }
    return NULL;
}

static bool id_taken(const struct service *sv, const char *id)
{
    for (int i = 0; i < sv->sched.nensembles; i++)
        if (strcmp(sv->sched.ensembles[i]->id, id) == 0)
            return true;
    return false;
}

/* Random, of letters and digits that are not mistaken for each other. */
static void choose_id(const struct service *sv, char id[16])
{
    static const char alphabet[] = "23456789abcdefghjkmnpqrstuvwxyz-"; /* 31 used: a byte is drawn again for the rest */
    do {
        int n = 0;
        while (n < ID_LENGTH) {
            uint8_t byte;
            if (getrandom(&byte, 1, 0) == 1 && (byte & 31) < 31)
                id[n++] = alphabet[byte & 31];
        }
        id[n] = '\0';
    } while (id_taken(sv, id));
}

int64_t service_next_replica(const struct service *sv)
{
    return sv->next_replica;
}

void service_add(struct service *sv, struct ensemble *en, const struct submission *sub)
{
    struct err e = {0};
    en->number = sv->next_ensemble++;
    sv->next_replica += en->nreplicas;
    choose_id(sv, en->id);
    en->created = en->changed = service_now();
    store_put_ensemble(sv->store, en, sub);
    put_event(sv, en, NULL, "ensemble", ENSEMBLE_QUEUED, "submitted");
    service_step(sv, &(struct sched_event){.kind = SCHED_ADD, .ensemble = en}, &e);
}

bool service_ready(const struct service *sv, struct err *e)
{
    bool up = false;
    for (int w = 0; w < sv->sched.nworkers; w++)
        up |= sv->sched.workers[w].up;
    if (sv->draining)
        err_set(e, ERR_BUSY, "the service is draining");
    else if (!store_ok(sv->store))
        err_set(e, ERR_BUSY, "the state folder takes no writes");
    else if (!up)
        err_set(e, ERR_BUSY, "no worker is up");
    else
        return true;
    return false;
}

/* ---- jobs ---- */

struct job {
    uv_work_t work;
    struct service *sv;
    job_fn *fn, *done;
    void *arg;
};

static void job_work(uv_work_t *w)
{
    struct job *j = w->data;
    j->fn(j->arg);
}

static void job_done(uv_work_t *w, int status)
{
    struct job *j = w->data;
    j->sv->jobs--;
    j->done(j->arg);
    free(j);
}

void service_job(struct service *sv, job_fn *work, job_fn *done, void *arg)
{
    struct job *j = xcalloc(1, sizeof *j);
    *j = (struct job){.sv = sv, .fn = work, .done = done, .arg = arg};
    j->work.data = j;
    sv->jobs++;
    uv_queue_work(sv->loop, &j->work, job_work, job_done);
}

/* ---- life ---- */

int service_open(struct service *sv, uv_loop_t *loop, const struct service_config *c, struct err *e)
{
    *sv = (struct service){.loop = loop, .config = *c};
    int rc = store_open(&sv->store, c->state, e);
    if (rc)
        return rc;
    static const struct supervisor_ops ops = {on_frame, on_down, on_busy};
    struct supervisor_config sc = {c->worker, c->ndevices, c->devices, c->slots};
    sched_init(&sv->sched, c->ndevices);
    sv->supervisor = supervisor_new(loop, &sc, &ops, sv);
    uv_timer_init(loop, &sv->tick);
    uv_timer_init(loop, &sv->drain_limit);
    sv->tick.data = sv->drain_limit.data = sv;
    sv->next_ensemble = store_last_ensemble(sv->store) + 1;
    sv->next_replica = store_last_replica(sv->store) + 1;
    sv->next_seq = store_last_event(sv->store) + 1;
    return 0;
}

struct loaded {
    struct ensemble **items;
    int n, cap;
};

static void collect(void *arg, struct ensemble *en)
{
    struct loaded *l = arg;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->items = xrealloc(l->items, (size_t)l->cap, sizeof *l->items);
    }
    l->items[l->n++] = en;
}

int service_start(struct service *sv, struct err *e)
{
    struct loaded l = {0};
    int rc = store_load(sv->store, collect, &l, e);
    if (rc == 0)
        rc = store_start(sv->store, sv->loop, e);
    for (int i = 0; i < l.n; i++) {
        if (rc == 0)
            service_step(sv, &(struct sched_event){.kind = SCHED_ADD, .ensemble = l.items[i]}, e);
        else
            ensemble_free(l.items[i]);
    }
    free(l.items);
    if (rc == 0)
        supervisor_start(sv->supervisor);
    return rc;
}

static void on_drain_limit(uv_timer_t *t)
{
    struct service *sv = t->data;
    log_line(LOG_WARNING, "workers have not checkpointed in %d s: killing them", sv->config.drain_seconds);
    supervisor_kill(sv->supervisor);
}

void service_drain(struct service *sv)
{
    struct err e = {0};
    if (sv->draining)
        return;
    sv->draining = true;
    service_step(sv, &(struct sched_event){.kind = SCHED_DRAIN}, &e);
    supervisor_drain(sv->supervisor);
    uv_timer_start(&sv->drain_limit, on_drain_limit, (uint64_t)sv->config.drain_seconds * 1000, 0);
    tell_status(sv);
    stop_if_drained(sv);
}

void service_close(struct service *sv)
{
    sv->stopped = true;
    supervisor_close(sv->supervisor);
    uv_close((uv_handle_t *)&sv->tick, NULL);
    uv_close((uv_handle_t *)&sv->drain_limit, NULL);
    store_close(sv->store);
    sv->store = NULL;
    sched_close(&sv->sched);
}
