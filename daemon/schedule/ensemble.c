/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/ensemble.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define E(state) SM_TO(ENSEMBLE_##state)
#define R(state) SM_TO(REPLICA_##state)

static const struct sm_state ensemble_table[] = {
    [ENSEMBLE_QUEUED] = {"queued", E(RUNNING) | E(PAUSED) | E(FINISHING) | E(CANCELLED)},
    [ENSEMBLE_RUNNING] = {"running", E(PAUSED) | E(FINISHING) | E(CANCELLED)},
    [ENSEMBLE_PAUSED] = {"paused", E(QUEUED) | E(FINISHING) | E(CANCELLED)},
    [ENSEMBLE_FINISHING] = {"finishing", E(DONE) | E(FAILED) | E(CANCELLED)},
    [ENSEMBLE_DONE] = {"done", E(QUEUED) | E(FINISHING)},
    [ENSEMBLE_FAILED] = {"failed", E(QUEUED) | E(FINISHING)},
    [ENSEMBLE_CANCELLED] = {"cancelled", E(QUEUED)},
};

static const struct sm_state replica_table[] = {
    [REPLICA_QUEUED] = {"queued", R(RUNNING) | R(PAUSED) | R(CANCELLED) | R(FAILED)},
    [REPLICA_RUNNING] = {"running", R(QUEUED) | R(STOPPING) | R(DONE) | R(FAILED)},
    [REPLICA_STOPPING] = {"stopping", R(QUEUED) | R(PAUSED) | R(CANCELLED) | R(DONE) | R(FAILED)},
    [REPLICA_PAUSED] = {"paused", R(QUEUED) | R(CANCELLED)},
    [REPLICA_DONE] = {"done", R(QUEUED)},
    [REPLICA_FAILED] = {"failed", R(QUEUED)},
    [REPLICA_CANCELLED] = {"cancelled", R(QUEUED)},
};

/* While its set has a worker, a replica runs there or has ended. (One that was loaded from the database may still be
 * called running after its worker is gone; the scheduler's first act is to put that right.) */
static bool replica_holds(const void *owner, uint32_t state)
{
    const struct sched_replica *r = owner;
    return !r->set || r->set->worker < 0 || state == REPLICA_RUNNING || state == REPLICA_STOPPING ||
           state == REPLICA_DONE;
}

const struct sm_kind ensemble_states = {"ensemble", ensemble_table, 7, NULL};
const struct sm_kind replica_states = {"replica", replica_table, 7, replica_holds};

static const char *const priorities[] = {"low", "normal", "high", "urgent"};

const char *ensemble_priority(const struct ensemble *e)
{
    return priorities[e->priority + 1];
}

bool ensemble_is_urgent(const struct ensemble *e)
{
    return e->priority == PRIORITY_URGENT;
}

bool ensemble_find_priority(const char *name, int *out)
{
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, priorities[i])) {
            *out = i - 1;
            return true;
        }
    return false;
}

struct ensemble *ensemble_new(int nreplicas)
{
    struct ensemble *e = xcalloc(1, sizeof *e);
    sm_init(&e->sm, &ensemble_states, e, ENSEMBLE_QUEUED);
    e->nreplicas = nreplicas;
    e->estimated = e->home = -1;
    e->revision = e->ladder = 1;
    e->replicas = xcalloc((size_t)nreplicas, sizeof *e->replicas);
    e->sets = xcalloc((size_t)nreplicas, sizeof *e->sets);
    for (int i = 0; i < nreplicas; i++) {
        e->replicas[i].ensemble = e;
        e->replicas[i].failed_from = e->replicas[i].origin = -1;
        sm_init(&e->replicas[i].sm, &replica_states, &e->replicas[i], REPLICA_QUEUED);
    }
    return e;
}

struct sched_set *ensemble_add_set(struct ensemble *e, int nreplicas)
{
    const struct sched_set *last = e->nsets ? &e->sets[e->nsets - 1] : NULL;
    int first = last ? (int)(last->replicas - e->replicas) + last->nreplicas : 0;
    assert(nreplicas > 0 && first + nreplicas <= e->nreplicas);
    struct sched_set *set = &e->sets[e->nsets++];
    *set = (struct sched_set){.number = e->replicas[first].number,
                              .ensemble = e,
                              .nreplicas = nreplicas,
                              .replicas = &e->replicas[first],
                              .worker = -1};
    for (int i = 0; i < nreplicas; i++)
        set->replicas[i].set = set;
    return set;
}

static int64_t whole(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

struct ensemble *ensemble_of_windows(int windows, int repeats, bool exchange, int64_t first, int64_t steps)
{
    struct ensemble *e = ensemble_new(windows * repeats);
    e->windows = windows;
    e->repeats = repeats;
    for (int i = 0; i < e->nreplicas; i++) {
        struct sched_replica *r = &e->replicas[i];
        r->number = first + i;
        r->window = r->stream = i % windows;
        r->repeat = i / windows;
        r->steps = steps;
    }
    for (int i = 0; i < e->nreplicas; i += exchange ? windows : 1)
        ensemble_add_set(e, exchange ? windows : 1);
    return e;
}

struct ensemble *ensemble_of_facts(const json_t *facts, int64_t first)
{
    const json_t *stop = json_object_get(facts, "stop"), *allocation = json_object_get(facts, "allocation"),
                 *placed = json_object_get(facts, "placed");
    struct ensemble *e = ensemble_of_windows((int)whole(facts, "windows"), (int)whole(facts, "repeats"),
                                             whole(facts, "exchange") != 0, first, whole(facts, "steps"));
    e->walkers = (int)whole(facts, "walkers");
    e->switching = json_number_value(json_object_get(facts, "switching"));
    e->stages = (int)whole(facts, "stages");
    e->retries = (int)whole(facts, "retries");
    e->stop = (struct stop_rule){.error = json_number_value(json_object_get(stop, "error")),
                                 .converged = whole(stop, "converged") != 0,
                                 .after = whole(stop, "after")};
    e->allocation = (struct allocation){.share = whole(allocation, "share"),
                                        .before = whole(allocation, "before"),
                                        .every = whole(allocation, "every")};
    e->pilot = whole(facts, "pilot") != 0;
    e->placed = json_is_object(placed) ? json_dumps(placed, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    return e;
}

void ensemble_free(struct ensemble *e)
{
    if (!e || e->holders-- > 0)
        return;
    quota_return(&e->counted);
    quota_return(&e->peopled);
    quota_return(&e->stored);
    for (int i = 0; i < e->nlabels; i++) {
        free(e->labels[i].key);
        free(e->labels[i].value);
    }
    free(e->labels);
    free(e->listed);
    free(e->told);
    for (int i = 0; i < e->nreplicas; i++) {
        free(e->replicas[i].reason);
        free(e->replicas[i].shown.reason);
    }
    for (int i = 0; i < e->nsets; i++) {
        free(e->sets[i].device);
        free(e->sets[i].model);
    }
    free(e->replicas);
    free(e->sets);
    free(e->key);
    free(e->name);
    free(e->spec_name);
    device_sizes_free(&e->sizes);
    free(e->moved_to);
    free(e->reason);
    free(e->paused_by);
    free(e->stopped);
    free(e->placed);
    free(e->shown.reason);
    free(e);
}

struct ensemble *ensemble_hold(struct ensemble *e)
{
    e->holders++;
    return e;
}

void ensemble_add_label(struct ensemble *e, const char *key, const char *value)
{
    e->labels = xrealloc(e->labels, (size_t)e->nlabels + 1, sizeof *e->labels);
    e->labels[e->nlabels++] = (struct ensemble_label){xstrdup(key), xstrdup(value)};
}

const char *ensemble_label(const struct ensemble *e, const char *key)
{
    for (int i = 0; i < e->nlabels; i++)
        if (strcmp(e->labels[i].key, key) == 0)
            return e->labels[i].value;
    return NULL;
}

static void exchange_replicas(struct ensemble *e, struct ensemble *from)
{
    struct sched_replica *replicas = e->replicas;
    struct sched_set *sets = e->sets;
    const int nreplicas = e->nreplicas, nsets = e->nsets;
    e->replicas = from->replicas;
    e->sets = from->sets;
    e->nreplicas = from->nreplicas;
    e->nsets = from->nsets;
    from->replicas = replicas;
    from->sets = sets;
    from->nreplicas = nreplicas;
    from->nsets = nsets;
}

void ensemble_take_windows(struct ensemble *e, struct ensemble *from, enum replica_state state)
{
    exchange_replicas(e, from);
    for (int i = 0; i < e->nreplicas; i++) {
        struct sched_replica *r = &e->replicas[i];
        r->ensemble = e;
        sm_init(&r->sm, &replica_states, r, state);
        r->shown.state = state;
    }
    for (int i = 0; i < e->nsets; i++)
        e->sets[i].ensemble = e;
    e->windows = from->windows;
    e->walkers = from->walkers;
    e->switching = from->switching;
    e->doublings = from->doublings;
    e->stages = from->stages;
    e->stop = from->stop;
    e->allocation = from->allocation;
    e->pilot = from->pilot;
    ensemble_string(&e->placed, from->placed);
    e->modelled = 0;
    e->delayed = e->live_steps = 0;
    e->crashed = false;
    ensemble_count_waiting(e);
}

bool ensemble_wants(const struct ensemble *e)
{
    return e->sm.state == ENSEMBLE_QUEUED || e->sm.state == ENSEMBLE_RUNNING;
}

bool ensemble_stopping(const struct ensemble *e)
{
    return e->stopped && e->stopped_revision == e->revision;
}

static bool is_end(uint32_t state)
{
    return state == ENSEMBLE_DONE || state == ENSEMBLE_FAILED || state == ENSEMBLE_CANCELLED;
}

bool ensemble_ended(const struct ensemble *e)
{
    return is_end(e->sm.state);
}

bool ensemble_shown_ended(const struct ensemble *e)
{
    return is_end(e->shown.state);
}

const char *ensemble_shown_reason(const struct ensemble *e)
{
    return e->wants_space ? e->reason : e->shown.reason;
}

int ensemble_shown_count(const struct ensemble *e, enum replica_state state)
{
    int n = 0;
    for (int i = 0; i < e->nreplicas; i++)
        n += e->replicas[i].shown.state == state;
    return n;
}

void ensemble_show_all(struct ensemble *e)
{
    e->shown.state = e->sm.state;
    e->shown.changed = e->changed;
    e->shown.revision = e->revision;
    e->shown.seq = e->seq;
    ensemble_string(&e->shown.reason, e->reason);
    for (int i = 0; i < e->nreplicas; i++) {
        struct sched_replica *r = &e->replicas[i];
        r->shown.state = r->sm.state;
        r->shown.failures = r->set->failures;
        ensemble_string(&r->shown.reason, r->reason);
    }
}

void ensemble_count_waiting(struct ensemble *e)
{
    e->nwaiting = 0;
    for (int i = 0; i < e->nsets; i++) {
        struct sched_set *set = &e->sets[i];
        set->nqueued = 0;
        for (int k = 0; k < set->nreplicas; k++)
            set->nqueued += set->replicas[k].sm.state == REPLICA_QUEUED;
        e->nwaiting += set->nqueued > 0;
        e->crashed |= set->crashes > 0;
    }
}

int ensemble_count(const struct ensemble *e, enum replica_state state)
{
    int n = 0;
    for (int i = 0; i < e->nreplicas; i++)
        n += e->replicas[i].sm.state == state;
    return n;
}

void ensemble_string(char **slot, const char *value)
{
    char *copy = value ? xstrdup(value) : NULL;
    free(*slot);
    *slot = copy;
}

char replica_end(const struct sched_replica *r)
{
    return r->window < r->ensemble->walkers ? 'A' : 'B';
}

int replica_walker(const struct sched_replica *r)
{
    return r->window % r->ensemble->walkers;
}

static void name_folder(const struct sched_replica *r, int window, char out[64])
{
    if (r->ensemble->repeats > 1)
        snprintf(out, 64, "repeat_%02d/lambda_%02d", r->repeat, window);
    else
        snprintf(out, 64, "lambda_%02d", window);
}

void replica_folder(const struct sched_replica *r, char out[64])
{
    name_folder(r, r->window, out);
}

void replica_origin_folder(const struct sched_replica *r, char out[96])
{
    char folder[64];
    out[0] = '\0';
    if (r->origin < 0)
        return;
    name_folder(r, r->origin, folder);
    snprintf(out, 96, "revision_%d/%s", r->ensemble->ladder - 1, folder);
}

uint32_t replica_key(const struct sched_replica *r)
{
    return (uint32_t)r->repeat << 16 | (uint32_t)r->stream;
}

int set_open(const struct sched_set *set)
{
    int n = 0;
    for (int i = 0; i < set->nreplicas; i++)
        n += set->replicas[i].sm.state != REPLICA_DONE && set->replicas[i].sm.state != REPLICA_FAILED;
    return n;
}

bool set_has_failed(const struct sched_set *set)
{
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].sm.state == REPLICA_FAILED)
            return true;
    return false;
}

int64_t set_furthest(const struct sched_set *set)
{
    int64_t most = 0;
    for (int i = 0; i < set->nreplicas; i++)
        most = set->replicas[i].saved_step > most ? set->replicas[i].saved_step : most;
    return most;
}

int64_t ensemble_furthest(const struct ensemble *e)
{
    int64_t most = 0;
    for (int i = 0; i < e->nsets; i++)
        most = set_furthest(&e->sets[i]) > most ? set_furthest(&e->sets[i]) : most;
    return most;
}

int64_t set_moved(const struct sched_set *set)
{
    int64_t last = INT64_MIN;
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].held && set->replicas[i].moved > last)
            last = set->replicas[i].moved;
    return last;
}

bool set_waits(const struct sched_set *set)
{
    return set->nqueued > 0;
}

int64_t set_saved(const struct sched_set *set)
{
    int64_t sum = 0;
    for (int i = 0; i < set->nreplicas; i++)
        sum += set->replicas[i].saved_step;
    return sum;
}

int64_t set_left(const struct sched_set *set)
{
    int64_t most = 0;
    for (int i = 0; i < set->nreplicas; i++) {
        const struct sched_replica *r = &set->replicas[i];
        most = r->steps - r->step > most ? r->steps - r->step : most;
    }
    return most;
}
