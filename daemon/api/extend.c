/* SPDX-License-Identifier: Apache-2.0
 *
 * Longer production: the spec says how long a step is and where production begins, so it is read off the loop; the scheduler then
 * makes the ensemble's next revision, and the answer goes out after the commit.
 */
#include "daemon/api/api.h"

#include <stdlib.h>

#include "daemon/spec/spec.h"

struct extension {
    struct service *service;
    struct request *request;
    struct ensemble *ensemble; /* held */
    char *text;                /* of the time */
    bool more;                 /* it comes in addition; else production is to be so long */
    uint64_t steps;            /* more: that are added; else over all stages */
    struct err err;
};

static void free_extension(struct extension *x)
{
    ensemble_free(x->ensemble);
    free(x->text);
    free(x);
}

static void read_work(void *arg)
{
    struct extension *x = arg;
    struct buf text = {0};
    struct spec *spec = NULL;
    if (!store_read_inputs(x->service->store, x->ensemble->number, &text, NULL, NULL, &x->err) &&
        !spec_parse(&spec, x->ensemble->spec_name, text.data, text.len, &x->err) &&
        !spec_production(spec, x->text, &x->steps, &x->err) && !x->more)
        x->steps += spec_steps(spec, spec->nstages) - spec_produce_steps(spec);
    spec_free(spec);
    buf_free(&text);
}

static void read_done(void *arg)
{
    struct extension *x = arg;
    char what[160];
    snprintf(what, sizeof what, "production %s %.100s", x->more ? "longer by" : "of", x->text);
    struct sched_event ev = {
        .kind = SCHED_EXTEND, .ensemble = x->ensemble, .step = (int64_t)x->steps, .more = x->more, .message = what};
    if (x->err.code || service_step(x->service, &ev, &x->err))
        reply_error(x->request, &x->err);
    else
        api_moved(x->service, x->request, x->ensemble);
    free_extension(x);
}

struct reply api_extend(struct api_call *c)
{
    struct err e = {0};
    const char *by = c->text[0], *until = c->text[1];
    if (!by == !until) {
        err_set(&e, ERR_USAGE,
                "extend: expected either time, by how much production becomes longer, or until, how long it is to be");
        return reply_error(c->request, &e);
    }
    struct extension *x = xcalloc(1, sizeof *x);
    *x = (struct extension){.service = c->service,
                            .request = c->request,
                            .ensemble = ensemble_hold(c->ensemble),
                            .text = xstrdup(by ? by : until),
                            .more = by != NULL};
    service_job(c->service, read_work, read_done, x);
    return reply_later(c->request);
}
