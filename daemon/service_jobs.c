/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service does on the thread pool: an ensemble's input folder, made from the database (again, should it have been
 * deleted), and its results.
 */
#include "daemon/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/spec/spec.h"
#include "engine/estimate/estimate.h"

char *service_path(const struct service *sv, const struct ensemble *en, const char *name)
{
    struct buf b = {0};
    buf_printf(&b, "%s/ensembles/%s%s%s", sv->config.state, en->id, name ? "/" : "", name ? name : "");
    return b.data;
}

/* ---- input folder ---- */

struct prepare_job {
    struct service *sv;
    struct ensemble *ensemble;
    int64_t number;
    char *directory;
    int repeats;
    struct err err;
};

/* Makes every folder of a path up to its last slash. */
static int make_parents(const char *path, struct err *e)
{
    char *p = xstrdup(path);
    int rc = 0;
    for (char *slash = strchr(p + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(p, 0755) && errno != EEXIST)
            rc = err_errno(e, "make folder %s", p);
        *slash = '/';
    }
    free(p);
    return rc;
}

static bool holds(const char *path, const void *data, size_t len)
{
    struct stat st;
    if (stat(path, &st) || (size_t)st.st_size != len)
        return false;
    struct buf b = {0};
    struct err e = {0};
    bool same = buf_read_file(&b, path, &e) == 0 && b.len == len && (len == 0 || memcmp(b.data, data, len) == 0);
    buf_free(&b);
    return same;
}

static int write_input(void *arg, const char *name, const void *data, size_t len, struct err *e)
{
    const struct prepare_job *j = arg;
    struct buf path = {0};
    buf_printf(&path, "%s/input/%s", j->directory, name);
    int rc = 0;
    if (!holds(path.data, data, len)) {
        rc = make_parents(path.data, e);
        if (rc == 0)
            rc = buf_write_file(path.data, data, len, e);
    }
    buf_free(&path);
    return rc;
}

/* The worker makes lambda_KK; what is above it is made here. */
static int make_repeats(const struct prepare_job *j, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < j->repeats && j->repeats > 1 && !rc; i++) {
        struct buf path = {0};
        buf_printf(&path, "%s/repeat_%02d/", j->directory, i);
        rc = make_parents(path.data, e);
        buf_free(&path);
    }
    return rc;
}

static void prepare_work(void *arg)
{
    struct prepare_job *j = arg;
    struct buf spec = {0};
    if (store_read_inputs(j->sv->store, j->number, &spec, write_input, j, &j->err) == 0 &&
        write_input(j, "spec.yaml", spec.data, spec.len, &j->err) == 0)
        make_repeats(j, &j->err);
    buf_free(&spec);
}

static void prepare_done(void *arg)
{
    struct prepare_job *j = arg;
    struct err e = {0};
    service_step(
        j->sv,
        &(struct sched_event){
            .kind = SCHED_PREPARED, .ensemble = j->ensemble, .ok = j->err.code == ERR_NONE, .message = j->err.msg},
        &e);
    free(j->directory);
    free(j);
}

/* The inputs of a submission can be read once they are committed. */
static void prepare_committed(void *arg)
{
    struct prepare_job *j = arg;
    service_job(j->sv, prepare_work, prepare_done, j);
}

void service_prepare(struct service *sv, struct ensemble *en)
{
    struct prepare_job *j = xcalloc(1, sizeof *j);
    *j = (struct prepare_job){.sv = sv,
                              .ensemble = en,
                              .number = en->number,
                              .directory = service_path(sv, en, NULL),
                              .repeats = en->repeats};
    store_after_commit(sv->store, prepare_committed, j);
}

/* ---- results ---- */

struct estimate_job {
    struct estimate_job *next;
    struct service *sv;
    int64_t number;
    char *directory, *spec_name;
    int repeats, nreplicas;
    struct estimate_replica *states; /* [nreplicas], reasons owned */
    service_results_fn *done;
    void *arg;
    struct err err;
};

static struct estimate_replica state_of(const struct sched_replica *r)
{
    struct estimate_replica s = {.kind = ESTIMATE_PARTIAL, .reason = r->reason ? xstrdup(r->reason) : NULL};
    if (r->sm.state == REPLICA_DONE)
        s.kind = ESTIMATE_DONE;
    else if (r->sm.state == REPLICA_FAILED)
        s.kind = ESTIMATE_FAILED;
    return s;
}

static int write_results(struct estimate_job *j, struct err *e)
{
    struct buf text = {0}, json = {0}, path = {0};
    struct spec *spec = NULL;
    buf_printf(&path, "%s/results.json", j->directory);
    int rc = store_read_inputs(j->sv->store, j->number, &text, NULL, NULL, e);
    if (rc == 0)
        rc = spec_parse(&spec, j->spec_name, text.data, text.len, e);
    if (rc == 0) {
        struct estimate_ensemble q = {
            .directory = j->directory, .set = &spec->settings, .repeats = j->repeats, .replicas = j->states};
        rc = estimate_ensemble(&q, &json, e);
    }
    if (rc == 0)
        rc = make_parents(path.data, e);
    if (rc == 0)
        rc = buf_write_file(path.data, json.data, json.len, e);
    spec_free(spec);
    buf_free(&text);
    buf_free(&json);
    buf_free(&path);
    return rc;
}

static void estimate_work(void *arg)
{
    struct estimate_job *j = arg;
    write_results(j, &j->err);
}

static void estimate_free(struct estimate_job *j)
{
    for (int i = 0; i < j->nreplicas; i++)
        free((char *)j->states[i].reason);
    free(j->states);
    free(j->directory);
    free(j->spec_name);
    free(j);
}

static void estimate_done(void *arg);

static void run_waiting(struct service *sv)
{
    while (sv->waiting_estimates && sv->estimates < SERVICE_ESTIMATES) {
        struct estimate_job *j = sv->waiting_estimates;
        sv->waiting_estimates = j->next;
        sv->estimates++;
        service_job(sv, estimate_work, estimate_done, j);
    }
}

static void estimate_done(void *arg)
{
    struct estimate_job *j = arg;
    struct service *sv = j->sv;
    sv->estimates--;
    j->done(j->arg, j->err.code ? &j->err : NULL);
    estimate_free(j);
    run_waiting(sv);
}

void service_results(struct service *sv, const struct ensemble *en, service_results_fn *done, void *arg)
{
    struct estimate_job *j = xcalloc(1, sizeof *j);
    *j = (struct estimate_job){.sv = sv,
                               .number = en->number,
                               .directory = service_path(sv, en, NULL),
                               .spec_name = xstrdup(en->spec_name),
                               .repeats = en->repeats,
                               .nreplicas = en->nreplicas,
                               .states = xcalloc((size_t)en->nreplicas, sizeof *j->states),
                               .done = done,
                               .arg = arg};
    for (int i = 0; i < en->nreplicas; i++)
        j->states[i] = state_of(&en->replicas[i]);
    struct estimate_job **at = &sv->waiting_estimates;
    while (*at)
        at = &(*at)->next;
    *at = j;
    run_waiting(sv);
}

struct finishing {
    struct service *sv;
    struct ensemble *ensemble;
};

static void finished(void *arg, const struct err *err)
{
    struct finishing *f = arg;
    struct err e = {0};
    service_step(f->sv,
                 &(struct sched_event){
                     .kind = SCHED_ESTIMATED, .ensemble = f->ensemble, .ok = !err, .message = err ? err->msg : NULL},
                 &e);
    free(f);
}

void service_estimate(struct service *sv, struct ensemble *en)
{
    struct finishing *f = xcalloc(1, sizeof *f);
    *f = (struct finishing){sv, en};
    service_results(sv, en, finished, f);
}
