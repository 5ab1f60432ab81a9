/* SPDX-License-Identifier: Apache-2.0
 *
 * Events and those who watch for them: an event is put into the store's batch; once it is committed, what it says is
 * shown to clients and the watchers of its ensemble are told.
 */
#include "daemon/service/service.h"

#include <stdlib.h>

#include "daemon/service/stored.h"
#include "engine/base/log.h"

void service_watch(struct watcher *w)
{
    w->next = w->ensemble->watchers;
    w->ensemble->watchers = w;
}

void service_unwatch(struct watcher *w)
{
    struct watcher **at = &w->ensemble->watchers;
    while (*at && *at != w)
        at = &(*at)->next;
    if (*at)
        *at = w->next;
}

/* What becomes visible with a commit. */
struct news {
    struct service *service;
    struct ensemble *ensemble;
    int64_t replica; /* its number; 0: of the ensemble */
    int at;          /* where it was: it may be elsewhere when this is shown */
    int64_t seq;     /* 0: no event */
    bool moved;      /* the rest counts */
    bool all;        /* all replicas that were in state `from` */
    uint32_t from, state;
    int failures, revision; /* revision: of the ensemble; 0: it has not changed */
    int64_t changed;
    char *reason;
};

/* NULL: it was a pilot's, and others have taken its place. */
static struct sched_replica *news_replica(const struct news *n)
{
    const struct ensemble *en = n->ensemble;
    int i = n->at < en->nreplicas && en->replicas[n->at].number == n->replica ? n->at : 0;
    while (i < en->nreplicas && en->replicas[i].number != n->replica)
        i++;
    return i < en->nreplicas ? &en->replicas[i] : NULL;
}

static void show_replica(const struct news *n)
{
    struct sched_replica *r = news_replica(n);
    if (!r)
        return;
    r->shown.state = n->state;
    r->shown.failures = n->failures;
    ensemble_string(&r->shown.reason, n->reason);
}

/* Its first replica runs, and it was queued since what clients were shown last. */
static void count_wait(const struct news *n)
{
    const struct ensemble_view *was = &n->ensemble->shown;
    if (n->state == ENSEMBLE_RUNNING && was->state == ENSEMBLE_QUEUED)
        metrics_observe(n->service->config.metrics, METRICS_WAITS,
                        n->changed > was->changed ? (double)(n->changed - was->changed) / 1000 : 0);
}

/* An event tells of it: else only its reason is another. */
static void log_move(const struct news *n)
{
    const struct ensemble *en = n->ensemble;
    struct log_fields f = {0};
    if (!n->seq)
        return;
    log_add(&f, "move", ensemble_states.states[n->state].name);
    log_add(&f, "from", en->shown.seq ? ensemble_states.states[en->shown.state].name : NULL);
    log_add(&f, "ensemble", en->id);
    log_add_number(&f, "owner", en->owner);
    log_add(&f, "name", en->name);
    log_add(&f, "reason", n->reason);
    log_put(LOG_INFO, &f);
    log_fields_free(&f);
}

/* Before it is shown. */
static void tell_of_move(const struct news *n)
{
    count_wait(n);
    log_move(n);
}

static void show(struct news *n)
{
    struct ensemble *en = n->ensemble;
    if (n->moved && !n->replica)
        tell_of_move(n);
    if (n->seq)
        en->shown.seq = n->seq;
    if (n->revision) /* the next one may come without another state */
        en->shown.revision = n->revision;
    en->listed_at = 0;
    for (int i = 0; i < en->nreplicas && n->all; i++)
        if (en->replicas[i].shown.state == n->from)
            en->replicas[i].shown.state = n->state;
    if (n->moved && n->replica) {
        show_replica(n);
    } else if (n->moved) {
        en->shown.state = n->state;
        en->shown.changed = n->changed;
        ensemble_string(&en->shown.reason, n->reason);
    }
}

static void news_free(void *arg)
{
    struct news *n = arg;
    free(n->reason);
    free(n);
}

static void spread_news(void *arg)
{
    struct news *n = arg;
    const struct service *sv = n->service;
    show(n);
    if (n->moved && !n->replica && n->seq && ensemble_shown_ended(n->ensemble) && sv->on_ended)
        sv->on_ended(sv->on_ended_arg, n->ensemble);
    for (struct watcher *w = n->seq ? n->ensemble->watchers : NULL, *next; w; w = next) {
        next = w->next; /* a watcher may leave while it is told */
        w->news(w);
    }
    news_free(n);
}

static void after_commit(struct service *sv, struct ensemble *en, struct sched_replica *r, int64_t seq, int state)
{
    struct news *n = xcalloc(1, sizeof *n);
    const char *reason = r ? r->reason : en->reason;
    *n = (struct news){.service = sv,
                       .ensemble = en,
                       .replica = r ? r->number : 0,
                       .at = r ? (int)(r - en->replicas) : 0,
                       .seq = seq,
                       .moved = state >= 0,
                       .state = (uint32_t)state,
                       .failures = r ? r->set->failures : 0,
                       .changed = en->changed,
                       .revision = en->revision,
                       .reason = reason ? xstrdup(reason) : NULL};
    store_after_commit(sv->store, spread_news, news_free, n);
}

void service_put_event(struct service *sv, struct ensemble *en, struct sched_replica *r, const char *kind, int state,
                       const char *message)
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
    en->nevents++;
    if (en->stored.user)
        quota_set(&en->stored, en->stored.amount + USAGE_EVENT);
    after_commit(sv, en, r, ev.seq, state);
    service_trim_events(sv, en);
}

void service_show_replicas(struct service *sv, struct ensemble *en, enum replica_state from, enum replica_state to)
{
    struct news *n = xcalloc(1, sizeof *n);
    *n = (struct news){.service = sv, .ensemble = en, .all = true, .from = from, .state = to};
    store_after_commit(sv->store, spread_news, news_free, n);
}

void service_show_reason(struct service *sv, struct ensemble *en)
{
    after_commit(sv, en, NULL, 0, (int)en->sm.state);
}

/* NULL: of the ensemble, or of a window that a pilot had. */
static struct sched_replica *replica_of(struct ensemble *en, const json_t *row)
{
    const json_t *window = json_object_get(row, "window");
    const json_int_t repeat = json_integer_value(json_object_get(row, "repeat"));
    if (!json_is_integer(window) || json_integer_value(window) >= en->windows || json_object_get(row, "pilot"))
        return NULL;
    return &en->replicas[repeat * en->windows + json_integer_value(window)];
}

void service_put_history(struct service *sv, struct ensemble *en, const json_t *events)
{
    const json_t *row;
    size_t i;
    json_array_foreach (events, i, row) {
        const json_t *state = json_object_get(row, "state");
        const struct event ev = {.seq = sv->next_seq++,
                                 .time = json_integer_value(json_object_get(row, "time")),
                                 .ensemble = en,
                                 .replica = replica_of(en, row),
                                 .kind = json_string_value(json_object_get(row, "kind")),
                                 .state = json_is_integer(state) ? (int)json_integer_value(state) : -1,
                                 .message = json_string_value(json_object_get(row, "message"))};
        store_put_event(sv->store, &ev);
        en->seq = ev.seq;
        en->nevents++;
    }
}
