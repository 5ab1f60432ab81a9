/* SPDX-License-Identifier: Apache-2.0
 *
 * The results of ensembles, a few at a time.
 */
#include "daemon/service.h"

#include <stdlib.h>

#include "daemon/spec/spec.h"
#include "engine/estimate/estimate.h"

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
        estimate_ensemble(&q, &json);
    }
    if (rc == 0)
        rc = service_make_parents(path.data, e);
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
                 &(struct sched_event){.kind = SCHED_ESTIMATED,
                                       .ensemble = f->ensemble,
                                       .ok = !err,
                                       .code = err ? (int)err->code : 0,
                                       .message = err ? err->msg : NULL},
                 &e);
    free(f);
}

void service_estimate(struct service *sv, struct ensemble *en)
{
    struct finishing *f = xcalloc(1, sizeof *f);
    *f = (struct finishing){sv, en};
    service_results(sv, en, finished, f);
}
