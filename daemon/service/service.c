/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/service/service.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/service/stored.h"
#include "engine/base/log.h"
#include "engine/base/number.h"

#define HELLO_MS 300000 /* a device may be slow to open */

/* ---- decisions ---- */

/* Until on_ended has seen to it: the service may stop before. */
static void keep_end(struct service *sv, const struct ensemble *en)
{
    if (sv->on_ended && ensemble_ended(en) && en->owner == geteuid())
        store_save_untold(sv->store, en->number, true);
}

static void carry_out(struct service *sv, const struct decision *d)
{
    switch (d->kind) {
    case DECIDE_PREPARE:
        service_prepare(sv, d->ensemble);
        return;
    case DECIDE_START:
    case DECIDE_STOP:
    case DECIDE_DRAIN:
        workers_tell(sv, d);
        return;
    case DECIDE_KILL:
        supervisor_end(sv->supervisor, d->worker, d->text);
        return;
    case DECIDE_SPACE:
        log_line(LOG_WARNING, "%s", d->ensemble->reason ? d->ensemble->reason : "no space left on the disk");
        service_watch_disk(sv);
        return;
    case DECIDE_REASON:
        store_save_ensemble(sv->store, d->ensemble);
        service_show_reason(sv, d->ensemble);
        return;
    case DECIDE_NOTE:
        service_put_event(sv, d->ensemble, d->replica, d->note, -1, d->text);
        return;
    case DECIDE_ESTIMATE:
        service_estimate(sv, d->ensemble);
        return;
    case DECIDE_LOOK:
        service_look(sv, d->ensemble);
        return;
    case DECIDE_ACCOUNT:
        service_account(sv, d->set, d->worker);
        return;
    case DECIDE_REPLICA:
        store_save_replica(sv->store, d->replica);
        service_account(sv, d->set, d->worker);
        service_put_event(sv, d->ensemble, d->replica, "replica", (int)d->state,
                          d->state == REPLICA_FAILED || d->state == REPLICA_QUEUED ? d->replica->reason : NULL);
        return;
    case DECIDE_REPLICAS:
        store_move_replicas(sv->store, d->ensemble, (enum replica_state)d->from, (enum replica_state)d->state);
        service_show_replicas(sv, d->ensemble, (enum replica_state)d->from, (enum replica_state)d->state);
        return;
    case DECIDE_TARGET:
        store_save_replica(sv->store, d->replica);
        return;
    case DECIDE_LADDER:
        store_save_ladder(sv->store, d->ensemble, d->text);
        return;
    case DECIDE_ENSEMBLE:
        store_save_ensemble(sv->store, d->ensemble);
        keep_end(sv, d->ensemble);
        service_put_event(sv, d->ensemble, NULL, "ensemble", (int)d->state, d->ensemble->reason);
        return;
    }
}

/* ---- ensembles ---- */

int64_t service_next_replica(const struct service *sv)
{
    return sv->next_replica;
}

/* The scheduler is told what the administrator says of a user. */
static void tell_of_user(struct service *sv, uint32_t uid)
{
    struct err e = {0};
    const struct quota *q = sv->config.quota;
    service_step(sv,
                 &(struct sched_event){.kind = SCHED_USER,
                                       .uid = uid,
                                       .weight = quota_weight(q, uid),
                                       .most = quota_limits(uid) ? quota_limit_of(q, uid, QUOTA_RUNNING) : INT64_MAX},
                 &e);
}

static void meet_user(struct service *sv, uint32_t uid)
{
    for (int i = 0; i < sv->sched.nusers; i++)
        if (sv->sched.users[i].uid == uid)
            return;
    tell_of_user(sv, uid);
}

static void tell_of_users(struct service *sv)
{
    for (int i = 0; i < sv->sched.nusers; i++)
        tell_of_user(sv, sv->sched.users[i].uid);
}

static void remember(void *arg, uint32_t uid, double used, int64_t at)
{
    struct service *sv = arg;
    int64_t ago = service_now() - at;
    sched_remember(&sv->sched, uid, used, ago > 0 ? ago : 0);
}

int service_worker_of(const struct service *sv, const char *device)
{
    for (int w = 0; w < sv->sched.nworkers && device; w++)
        if (!strcmp(device, supervisor_device(sv->supervisor, w)))
            return w;
    return -1;
}

/* A device that the service does not have now keeps its row. */
static void take_hold(void *arg, const char *what, const struct hold *hold)
{
    struct service *sv = arg;
    struct err e = {0};
    if (!strcmp(what, STORE_ADMISSION))
        hold_set(&sv->admission, hold);
    const int worker = service_worker_of(sv, what);
    if (worker >= 0)
        service_step(sv, &(struct sched_event){.kind = SCHED_DRAINED, .worker = worker, .hold = hold}, &e);
}

void service_add(struct service *sv, struct ensemble *en, const struct submission *sub)
{
    struct err e = {0};
    en->number = sv->next_ensemble++;
    sv->next_replica += en->nreplicas;
    service_choose_id(sv, en->id);
    service_register(sv, en);
    en->created = en->changed = service_now();
    meet_user(sv, en->owner);
    store_put_ensemble(sv->store, en, sub);
    service_put_event(sv, en, NULL, "ensemble", ENSEMBLE_QUEUED, "submitted");
    service_step(sv, &(struct sched_event){.kind = SCHED_ADD, .ensemble = en}, &e);
}

void service_adopt(struct service *sv, struct ensemble *en, const struct submission *sub, const json_t *events)
{
    struct err e = {0};
    en->number = sv->next_ensemble++;
    sv->next_replica += en->nreplicas;
    service_register(sv, en);
    en->changed = service_now();
    meet_user(sv, en->owner);
    store_put_ensemble(sv->store, en, sub);
    store_save_ladder(sv->store, en, sub->spec);
    store_trim_events(sv->store, en, 0, en->ran_ms);
    for (int i = 0; i < en->nreplicas; i++)
        store_save_used(sv->store, &en->replicas[i]);
    service_put_history(sv, en, events);
    service_step(sv, &(struct sched_event){.kind = SCHED_ADD, .ensemble = en}, &e);
}

bool service_ready(const struct service *sv, struct err *e)
{
    bool up = false;
    for (int w = 0; w < sv->sched.nworkers; w++)
        up |= health_is_up(&sv->sched.workers[w].health);
    if (sv->missed_since)
        err_set(e, ERR_BUSY, "the database was removed or replaced: nothing can be stored");
    else if (sv->draining)
        err_set(e, ERR_BUSY, "the service is draining");
    else if (!store_ok(sv->store))
        err_set(e, ERR_BUSY, "the state folder takes no writes");
    else if (!up)
        err_set(e, ERR_BUSY, "no worker is up");
    else
        return true;
    return false;
}

/* ---- life ---- */

static void commit_took(void *arg, double seconds)
{
    struct service *sv = arg;
    metrics_observe(sv->config.metrics, METRICS_COMMITS, seconds);
}

/* Counters of a device begin at 0, so that the first crash is seen as an increase. */
static void begin_counting(struct service *sv)
{
    static const enum metrics_family families[] = {METRICS_DEVICE_CRASHES, METRICS_STEPS, METRICS_SIMULATED};
    for (int w = 0; w < sv->config.ndevices; w++)
        for (size_t f = 0; f < sizeof families / sizeof *families; f++)
            metrics_add(sv->config.metrics, families[f], sv->config.devices[w], 0);
    store_on_commit(sv->store, commit_took, sv);
}

int service_open(struct service *sv, uv_loop_t *loop, const struct service_config *c, struct err *e)
{
    *sv = (struct service){.loop = loop, .config = *c, .carry_out = carry_out};
    struct store_numbers last;
    int rc = store_open(&sv->store, c->state, c->portable, e);
    if (rc)
        return rc;
    rc = store_numbers(sv->store, &last, e);
    if (rc) {
        store_close(sv->store);
        return rc;
    }
    struct supervisor_config sc = {c->worker, c->ndevices, c->devices, c->slots, HELLO_MS};
    sched_init(&sv->sched, c->ndevices);
    sv->supervisor = supervisor_new(loop, &sc, &workers_ops, sv);
    sv->loads = xcalloc((size_t)c->ndevices, sizeof *sv->loads);
    uv_timer_init(loop, &sv->tick);
    uv_timer_init(loop, &sv->drain_limit);
    uv_timer_init(loop, &sv->space);
    uv_timer_init(loop, &sv->presence);
    uv_timer_init(loop, &sv->live);
    sv->live.data = sv->tick.data = sv->drain_limit.data = sv->space.data = sv->presence.data = sv;
    sv->next_ensemble = last.ensemble + 1;
    sv->next_replica = last.replica + 1;
    sv->next_seq = last.event + 1;
    begin_counting(sv);
    return 0;
}

void service_tune(struct service *sv, const struct service_tuning *t)
{
    struct err e = {0};
    sv->tuning = *t;
    sv->sched.slice_ms = (int64_t)t->slice_seconds * 1000;
    sv->sched.stall_ms = (int64_t)t->stall_seconds * 1000;
    sv->sched.half_life_ms = (int64_t)t->half_life_hours * 3600 * 1000;
    tell_of_users(sv);
    service_step(sv, &(struct sched_event){.kind = SCHED_TICK}, &e);
}

struct loaded {
    struct ensemble **items;
    int n, cap;
};

static void collect_loaded(void *arg, struct ensemble *en)
{
    struct loaded *l = arg;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->items = xrealloc(l->items, (size_t)l->cap, sizeof *l->items);
    }
    l->items[l->n++] = en;
}

/* What it has its owner has, whatever the limits are now. */
static void charge(struct quota *q, struct ensemble *en)
{
    quota_hold(q, en->owner, QUOTA_ENSEMBLES, 1, &en->counted);
    quota_hold(q, en->owner, QUOTA_REPLICAS, en->nreplicas, &en->peopled);
    quota_hold(q, en->owner, QUOTA_STORED_BYTES, stored_rows(en), &en->stored);
}

int service_start(struct service *sv, struct err *e)
{
    struct loaded l = {0};
    int rc = store_load(sv->store, collect_loaded, &l, e);
    if (rc == 0) {
        service_finish_imports(sv, l.items, l.n);
        rc = service_find_strays(sv, l.items, l.n, e);
    }
    if (rc == 0)
        rc = store_load_histories(sv->store, remember, sv, e);
    if (rc == 0)
        rc = store_load_holds(sv->store, take_hold, sv, e);
    if (rc == 0)
        rc = store_start(sv->store, sv->loop, e);
    if (rc == 0)
        tell_of_users(sv);
    for (int i = 0; i < l.n; i++) {
        charge(sv->config.quota, l.items[i]);
        if (rc == 0) {
            l.items[i]->home = service_worker_of(sv, l.items[i]->moved_to);
            ensemble_show_all(l.items[i]);
            service_register(sv, l.items[i]);
            meet_user(sv, l.items[i]->owner);
            service_step(sv, &(struct sched_event){.kind = SCHED_ADD, .ensemble = l.items[i]}, e);
        } else {
            ensemble_free(l.items[i]);
        }
    }
    free(l.items);
    if (rc == 0)
        rc = service_go_on_removing(sv, e);
    if (rc == 0) {
        service_watch_database(sv);
        service_estimate_live(sv);
        if (!sv->config.idle)
            supervisor_start(sv->supervisor);
    }
    return rc;
}

bool service_finish_offloaded(struct service *sv)
{
    while ((sv->offloaded > 0 || sv->estimates || !store_settled(sv->store)) && !sv->late)
        uv_run(sv->loop, UV_RUN_ONCE);
    return sv->offloaded == 0 && !sv->estimates;
}

void service_leave(struct service *sv)
{
    log_line(LOG_WARNING, "shutdown: %d background %s still running after %d s; exiting without waiting", sv->offloaded,
             number_word(sv->offloaded, "job is", "jobs are"), sv->tuning.drain_seconds);
    service_save_use(sv);
    store_finish(sv->store);
}

void service_close(struct service *sv)
{
    sv->stopped = true;
    supervisor_close(sv->supervisor);
    uv_close((uv_handle_t *)&sv->tick, NULL);
    uv_close((uv_handle_t *)&sv->drain_limit, NULL);
    uv_close((uv_handle_t *)&sv->space, NULL);
    uv_close((uv_handle_t *)&sv->presence, NULL);
    uv_close((uv_handle_t *)&sv->live, NULL);
    service_save_use(sv);
    store_close(sv->store);
    sv->store = NULL;
    for (int w = 0; w < sv->sched.nworkers; w++)
        json_decref(sv->loads[w]);
    free(sv->loads);
    for (int i = 0; i < sv->sched.nensembles; i++)
        service_unregister(sv, sv->sched.ensembles[i]);
    hold_clear(&sv->admission);
    sched_close(&sv->sched);
}
