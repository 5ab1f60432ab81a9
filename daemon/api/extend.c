/* SPDX-License-Identifier: Apache-2.0
 *
 * Longer production, or more windows: the spec says how long a step is and where production begins, and where a window belongs, so
 * it is read off the loop; the scheduler then makes the ensemble's next revision, and the answer goes out after the commit.
 */
#include "daemon/api/api.h"

#include <stdlib.h>

#include "daemon/spec/spec.h"
#include "daemon/spec/widen.h"
#include "engine/base/number.h"

struct extension {
    struct service *service;
    struct request *request;
    struct ensemble *ensemble; /* held */
    char *text;                /* of the time, or of the windows */
    bool more;                 /* it comes in addition; else production is to be so long */
    bool nearest;              /* the time need not be whole steps */
    uint64_t steps;            /* more: that are added; else over all stages */
    struct buf spec;
    struct widening windows; /* with the spec that has them */
    int revision;            /* of the ensemble when the spec was read */
    struct err err;
};

static void free_extension(struct extension *x)
{
    ensemble_free(x->ensemble);
    free(x->windows.origin);
    buf_free(&x->spec);
    free(x->text);
    free(x);
}

static int read_spec(struct extension *x)
{
    return store_read_inputs(x->service->store, x->ensemble->number, &x->spec, NULL, NULL, &x->err);
}

static void answer(struct extension *x, struct sched_event *ev)
{
    if (x->err.code || service_step(x->service, ev, &x->err))
        reply_error(x->request, &x->err);
    else
        api_moved(x->service, x->request, x->ensemble);
    free_extension(x);
}

/* ---- longer ---- */

static void time_work(void *arg)
{
    struct extension *x = arg;
    struct spec *spec = NULL;
    if (!read_spec(x) && !spec_parse(&spec, x->ensemble->spec_name, x->spec.data, x->spec.len, &x->err) &&
        !spec_production(spec, x->text, x->nearest, &x->steps, &x->err) && !x->more)
        x->steps += spec_steps(spec, spec->nstages) - spec_produce_steps(spec);
    spec_free(spec);
}

static void time_done(void *arg)
{
    struct extension *x = arg;
    char what[160];
    if (x->nearest)
        snprintf(what, sizeof what, "production longer by %llu %s", (unsigned long long)x->steps,
                 number_word((int64_t)x->steps, "step", "steps"));
    else
        snprintf(what, sizeof what, "production %s %.100s", x->more ? "longer by" : "of", x->text);
    answer(x, &(struct sched_event){.kind = SCHED_EXTEND,
                                    .ensemble = x->ensemble,
                                    .step = (int64_t)x->steps,
                                    .more = x->more,
                                    .message = what});
}

/* ---- wider ---- */

static void windows_work(void *arg)
{
    struct extension *x = arg;
    if (!read_spec(x))
        spec_widen(&x->spec, x->ensemble->spec_name, x->text, &x->windows, &x->err);
}

static void windows_done(void *arg)
{
    struct extension *x = arg;
    struct service *sv = x->service;
    char what[1000];
    int added = x->windows.windows - x->ensemble->windows;
    snprintf(what, sizeof what, "windows added: %.900s", x->text);
    if (!x->err.code && x->revision != x->ensemble->revision)
        err_set(&x->err, ERR_BUSY, "ensemble %s was extended meanwhile: try again", x->ensemble->id);
    int64_t first = service_next_replica(sv), replicas = (int64_t)added * x->ensemble->repeats;
    struct ensemble *en = ensemble_hold(x->ensemble);
    if (!x->err.code && !en->removed)
        quota_grow(&en->peopled, replicas, &x->err);
    if (!x->err.code)
        sv->next_replica += replicas;
    answer(x, &(struct sched_event){.kind = SCHED_WIDEN,
                                    .ensemble = x->ensemble,
                                    .window = x->windows.windows,
                                    .origin = x->windows.origin,
                                    .spec = x->spec.data,
                                    .replica = first,
                                    .message = what});
    if (!en->removed)
        quota_set(&en->peopled, en->nreplicas); /* also where it was not widened */
    ensemble_free(en);
}

struct reply api_extend(struct api_call *c)
{
    struct err e = {0};
    const char *by = c->text[0], *until = c->text[1], *windows = c->text[2];
    bool nearest = c->value[3] == 1;
    if (!by + !until + !windows != 2 || (nearest && !by)) {
        err_set(&e, ERR_USAGE,
                "extend: expected one of time, by how much production becomes longer, until, how long it is to be, and "
                "windows, which the ladder is to have too; nearest only with time");
        return reply_error(c->request, &e);
    }
    struct extension *x = xcalloc(1, sizeof *x);
    *x = (struct extension){.service = c->service,
                            .request = c->request,
                            .ensemble = ensemble_hold(c->ensemble),
                            .text = xstrdup(by      ? by
                                            : until ? until
                                                    : windows),
                            .more = by != NULL,
                            .nearest = nearest,
                            .revision = c->ensemble->revision};
    service_job(c->service, windows ? windows_work : time_work, windows ? windows_done : time_done, x);
    return reply_later(c->request);
}
