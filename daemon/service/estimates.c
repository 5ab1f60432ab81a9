/* SPDX-License-Identifier: Apache-2.0
 *
 * The results of ensembles: each estimated by a process of its own (shoal-worker estimate) with limits, a few at a
 * time, user by user. Who asks for results that are being made waits for them too. What ends with the service is made
 * again by the next one.
 */
#include "daemon/service/service.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/processes/child.h"
#include "engine/base/number.h"
#include "engine/base/path.h"

#define OUTPUT_MAX (256u << 20) /* of live results */
#define TRIES 3                 /* of an estimator that dies */
#define MS_PER_DAY 86400000.0
#define WALL 4 /* an estimate that waits this many times its processor time is ended */

struct waiter {
    struct waiter *next;
    service_results_fn *done;
    void *arg;
};

struct estimation {
    struct estimation *next; /* all of the service's, oldest first */
    struct service *sv;
    struct ensemble *ensemble; /* held */
    int owner_acts;            /* of the ensemble when it was asked for */
    bool live;                 /* of what there is so far; nothing is written */
    bool look;                 /* live, and the scheduler goes on by it */
    bool running;
    char *directory;
    struct buf spec, description;
    int64_t running_ms; /* how long it has run */
    int64_t worked_ms;  /* processor time of its estimators */
    char seconds[16], mib[16];
    const char *argv[12];
    struct child *child;
    int deaths;
    struct waiter *waiters;
    struct err err;
};

/* ---- what the estimator is told ---- */

static const char *state_of(const struct estimation *j, const struct sched_replica *r)
{
    if (r->sm.state == REPLICA_DONE)
        return "done";
    if (r->sm.state == REPLICA_FAILED)
        return "failed";
    return j->live ? "running" : "partial";
}

static json_t *text_or_null(const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    return value ? value : json_null();
}

static json_t *replica_json(const struct estimation *j, const struct sched_replica *r)
{
    char origin[96];
    replica_origin_folder(r, origin);
    return json_pack("{s:s,s:o,s:o}", "state", state_of(j, r), "reason", text_or_null(r->reason), "origin",
                     text_or_null(origin[0] ? origin : NULL));
}

/* What is to be handed out, where the ensemble waits for that. */
static json_t *production(const struct ensemble *en)
{
    struct allocate_window *w = xcalloc((size_t)en->windows, sizeof *w);
    json_int_t budget = sched_production(en, w);
    json_t *steps = json_array(), *replicas = json_array();
    for (int k = 0; k < en->windows; k++) {
        json_array_append_new(steps, json_integer(w[k].steps));
        json_array_append_new(replicas, json_integer(w[k].replicas));
    }
    free(w);
    return json_pack("{s:I,s:I,s:I,s:o,s:o}", "share", (json_int_t)en->allocation.share, "budget", budget, "every",
                     (json_int_t)en->allocation.every, "steps", steps, "replicas", replicas);
}

/* The models of device that its replicas ran on last, each once. */
static json_t *devices(const struct ensemble *en)
{
    json_t *list = json_array(), *item;
    for (int i = 0; i < en->nsets; i++) {
        bool known = !en->sets[i].model;
        size_t k;
        json_array_foreach (list, k, item)
            known |= en->sets[i].model && !strcmp(json_string_value(item), en->sets[i].model);
        if (!known)
            json_array_append_new(list, text_or_null(en->sets[i].model));
    }
    return list;
}

static void describe(struct estimation *j)
{
    const struct ensemble *en = j->ensemble;
    json_t *replicas = json_array(), *labels = json_object();
    for (int i = 0; i < en->nreplicas; i++)
        json_array_append_new(replicas, replica_json(j, &en->replicas[i]));
    for (int i = 0; i < en->nlabels; i++)
        json_object_set_new(labels, en->labels[i].key, json_string(en->labels[i].value));
    json_t *o = json_pack("{s:o,s:s,s:o,s:i,s:s,s:s?,s:s,s:s,s:i,s:o}", "spec", text_or_null(j->spec.data), "spec_name",
                          en->spec_name, "replicas", replicas, "repeats", en->repeats, "id", en->id, "key", en->key,
                          "name", en->name, "spec_hash", en->hash, "revision", en->revision, "labels", labels);
    if (j->look && en->pilot)
        json_object_set_new(o, "placing", json_true());
    else if (j->look && !en->walkers)
        json_object_set_new(o, "production", production(en));
    if (en->walkers && !en->allocation.share) /* none of their production waits for it any more */
        json_object_set_new(o, "doublings", json_integer(en->doublings));
    double ps = 0;
    for (int i = 0; i < en->nreplicas; i++)
        ps += en->replicas[i].time_ps;
    json_object_set_new(o, "devices", devices(en));
    if (j->running_ms > 0)
        json_object_set_new(o, "running_seconds", json_real((double)j->running_ms / 1000));
    if (ps > 0 && j->running_ms > 0)
        json_object_set_new(o, "ns_per_day", json_real(ps * 1e-3 / ((double)j->running_ms / MS_PER_DAY)));
    char *text = json_dumps(o, JSON_COMPACT);
    buf_printf(&j->description, "%s", text ? text : "");
    free(text);
    json_decref(o);
}

/* ---- its end ---- */

static void run_waiting(struct service *sv);

static void finish_estimation(struct estimation *j, const struct buf *text)
{
    struct service *sv = j->sv;
    struct estimation **at = &sv->estimates;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    if (!j->err.code && !j->live)
        j->ensemble->estimated = j->owner_acts;
    while (j->waiters) {
        struct waiter *w = j->waiters;
        j->waiters = w->next;
        w->done(w->arg, j->err.code ? &j->err : NULL, text, j->worked_ms);
        free(w);
    }
    ensemble_free(j->ensemble);
    buf_free(&j->spec);
    buf_free(&j->description);
    free(j->directory);
    free(j);
    run_waiting(sv);
}

/* Of an error that is the ensemble's: what can pass keeps its code. */
static int explain_error(const struct estimation *j, const struct err *said, struct err *e)
{
    if (said->code == ERR_MEMORY)
        return err_set(e, ERR_ESTIMATE, "estimating takes more than %d MiB of memory", j->sv->tuning.estimate_mib);
    const bool passes = said->code == ERR_NO_SPACE || said->code == ERR_BUSY;
    return err_set(e, passes ? said->code : ERR_ESTIMATE, "%s", said->msg);
}

/* Why there are no results. */
static int explain(const struct estimation *j, const struct child_result *r, struct err *e)
{
    struct err said = {0};
    child_error(r, &said);
    if (j->sv->draining)
        return err_set(e, ERR_BUSY, "the service stops");
    if (j->ensemble->removed)
        return err_set(e, ERR_NOT_FOUND, "no ensemble %s: it was removed", j->ensemble->id);
    if (r->signal == SIGXCPU || r->late)
        return err_set(e, ERR_ESTIMATE, "estimating takes more than %d s", j->sv->tuning.estimate_seconds);
    if (said.code)
        return explain_error(j, &said, e);
    if (r->signal)
        return err_set(e, ERR_ESTIMATE, "the estimator died of signal %d, %d %s", r->signal, j->deaths,
                       number_word(j->deaths, "time", "times"));
    const char *log = r->log.data ? r->log.data : "it said nothing";
    return err_set(e, ERR_ESTIMATE, "the estimator ended with %d: %.*s", r->status, (int)strcspn(log, "\n"), log);
}

/* Of a cause that may pass. */
static bool died(const struct estimation *j, const struct child_result *r)
{
    return r->signal && r->signal != SIGXCPU && !r->late && !r->too_much && !j->sv->draining;
}

static void start(struct estimation *j);

static void on_child(void *arg, struct child_result *r)
{
    struct estimation *j = arg;
    j->child = NULL;
    j->worked_ms += r->worked_ms;
    if (died(j, r) && ++j->deaths < TRIES) {
        start(j);
        return;
    }
    if (r->signal || r->status || r->too_much)
        explain(j, r, &j->err);
    finish_estimation(j, &r->out);
}

/* ---- its turn ---- */

static void start(struct estimation *j)
{
    struct child_run run = {.argv = j->argv,
                            .input = j->description.data,
                            .input_len = j->description.len,
                            .output_max = OUTPUT_MAX,
                            .limit_ms = (uint64_t)j->sv->tuning.estimate_seconds * 1000 * WALL};
    j->child = child_start(j->sv->loop, &run, on_child, j, &j->err);
    if (!j->child)
        finish_estimation(j, NULL);
}

static void read_spec(void *arg)
{
    struct estimation *j = arg;
    struct buf path = {0};
    buf_printf(&path, "%s/results.json", j->directory); /* its folder may never have been prepared */
    /* Where new results cannot be computed, old ones, which may have been wrong, must not stay. */
    if (!j->live)
        unlink(path.data);
    if (store_read_inputs(j->sv->store, j->ensemble->number, &j->spec, NULL, NULL, &j->err) == 0 &&
        path_make_parents(path.data, 0755, &j->err) == 0)
        service_time_running(j->sv, j->ensemble, &j->running_ms, &j->err);
    buf_free(&path);
}

static void spec_read(void *arg)
{
    struct estimation *j = arg;
    if (j->sv->draining)
        err_set(&j->err, ERR_BUSY, "the service stops");
    if (j->err.code) {
        finish_estimation(j, NULL);
        return;
    }
    describe(j);
    snprintf(j->seconds, sizeof j->seconds, "%d", j->sv->tuning.estimate_seconds);
    snprintf(j->mib, sizeof j->mib, "%d", j->sv->tuning.estimate_mib);
    const char *argv[] = {
        j->sv->config.worker,        "estimate", "--ensemble", j->directory, "--seconds", j->seconds, "--mib", j->mib,
        j->live ? "--output" : NULL, "-",        NULL};
    memcpy(j->argv, argv, sizeof argv);
    start(j);
}

/* Two that write one file would collide. */
static bool writes_now(const struct service *sv, const struct ensemble *en)
{
    for (const struct estimation *j = sv->estimates; j; j = j->next)
        if (j->ensemble == en && j->running && !j->live)
            return true;
    return false;
}

static struct sched_user *user_of(const struct estimation *j)
{
    return &j->sv->sched.users[j->ensemble->user];
}

/* Users take turns: the one whose last was longest ago comes first, with the oldest of theirs. */
static bool estimation_before(const struct estimation *j, const struct estimation *best)
{
    return !best || user_of(j)->estimated < user_of(best)->estimated;
}

/* First those that an ensemble's end waits for, then those that its windows do, then those that are asked for
 * meanwhile; last those of ensembles that had results. */
enum rank { RANK_END, RANK_LOOK, RANK_LIVE, RANK_AGAIN, RANKS };

static enum rank rank_of(const struct estimation *j)
{
    const struct ensemble *en = j->ensemble;
    if (j->live)
        return j->look ? RANK_LOOK : RANK_LIVE;
    return en->again && en->sm.state == ENSEMBLE_FINISHING ? RANK_AGAIN : RANK_END;
}

/* Of those that had results one at a time is made: many of them, and long ones, leave a place to the others. */
static struct estimation *choose_estimation(const struct service *sv)
{
    struct estimation *best[RANKS] = {NULL};
    bool again = false;
    for (struct estimation *j = sv->estimates; j; j = j->next) {
        const enum rank rank = rank_of(j);
        bool can = !j->running && (j->live || !writes_now(sv, j->ensemble));
        again |= j->running && rank == RANK_AGAIN;
        if (can && estimation_before(j, best[rank]))
            best[rank] = j;
    }
    if (again)
        best[RANK_AGAIN] = NULL;
    for (int rank = 0; rank < RANKS; rank++)
        if (best[rank])
            return best[rank];
    return NULL;
}

static void run_waiting(struct service *sv)
{
    for (;;) {
        int running = 0;
        for (const struct estimation *j = sv->estimates; j; j = j->next)
            running += j->running;
        struct estimation *j = running < SERVICE_ESTIMATES ? choose_estimation(sv) : NULL;
        if (!j)
            return;
        j->running = true;
        user_of(j)->estimated = ++sv->turns;
        service_offload(sv, read_spec, spec_read, j);
    }
}

/* Results of the same are made once. */
static struct estimation *find_same(const struct service *sv, const struct ensemble *en, bool live)
{
    struct estimation *j = sv->estimates;
    while (j && (j->ensemble != en || j->live != live || j->look || j->owner_acts != en->owner_acts))
        j = j->next;
    return j;
}

static struct estimation *add_estimation(struct service *sv, struct ensemble *en, bool live)
{
    struct estimation *j = xcalloc(1, sizeof *j), **at = &sv->estimates;
    *j = (struct estimation){.sv = sv,
                             .ensemble = ensemble_hold(en),
                             .owner_acts = en->owner_acts,
                             .live = live,
                             .running_ms = en->ran_ms,
                             .directory = service_path(sv, en, NULL)};
    while (*at)
        at = &(*at)->next;
    *at = j;
    return j;
}

static void wait_for(struct estimation *j, service_results_fn *done, void *arg)
{
    struct waiter *w = xcalloc(1, sizeof *w);
    *w = (struct waiter){j->waiters, done, arg};
    j->waiters = w;
    run_waiting(j->sv);
}

void service_results(struct service *sv, struct ensemble *en, bool live, service_results_fn *done, void *arg)
{
    struct estimation *j = find_same(sv, en, live);
    wait_for(j ? j : add_estimation(sv, en, live), done, arg);
}

void service_results_of_look(struct service *sv, struct ensemble *en, service_results_fn *done, void *arg)
{
    struct estimation *j = add_estimation(sv, en, true);
    j->look = true;
    wait_for(j, done, arg);
}

void service_stop_estimates(struct service *sv)
{
    for (struct estimation *j = sv->estimates, *next; j; j = next) {
        next = j->next;
        if (j->child)
            child_kill(j->child);
    }
}

/* ---- when an ensemble ends ---- */

struct finishing {
    struct service *sv;
    struct ensemble *ensemble;
};

static void finished(void *arg, const struct err *err, const struct buf *text, int64_t worked_ms)
{
    struct finishing *f = arg;
    struct err e = {0};
    struct sched_event ev = {.kind = SCHED_ESTIMATED,
                             .ensemble = f->ensemble,
                             .ok = !err,
                             .code = err ? (int)err->code : 0,
                             .message = err ? err->msg : NULL};
    if (!err || !f->sv->draining) /* else the next service makes them */
        service_step(f->sv, &ev, &e);
    free(f);
}

static void begin_estimation(void *arg)
{
    struct finishing *f = arg;
    service_results(f->sv, f->ensemble, false, finished, f);
    ensemble_free(f->ensemble); /* held until now; what makes the results holds it, too */
}

static void forget_estimation(void *arg)
{
    struct finishing *f = arg;
    ensemble_free(f->ensemble);
    free(f);
}

/* Once its last event is committed, as results say by events how long it ran. */
void service_estimate(struct service *sv, struct ensemble *en)
{
    struct finishing *f = xcalloc(1, sizeof *f);
    *f = (struct finishing){sv, ensemble_hold(en)};
    store_after_commit(sv->store, begin_estimation, forget_estimation, f);
}
