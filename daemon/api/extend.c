/* SPDX-License-Identifier: Apache-2.0
 *
 * Longer production, or more windows: the spec says how long a step is and where production begins, and where a window
 * belongs. It comes from the database and is read by a process of its own (check.c), as it was when it was submitted;
 * the scheduler then makes the ensemble's next revision, and the answer goes out after the commit.
 */
#include "daemon/api/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/service/stored.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

struct extension {
    struct api *api;
    struct request *request;
    struct ensemble *ensemble;         /* held */
    char *text;                        /* of the time, or of the windows */
    bool windows;                      /* are to be added; else production becomes longer */
    bool more;                         /* the time comes in addition; else production is to be so long */
    bool nearest;                      /* the time need not be whole steps */
    bool dry;                          /* only what would become of it is asked */
    struct buf asked;                  /* of the reader, as spec/extension.h has it */
    size_t spec_bytes;                 /* of the spec that was read */
    int64_t made;                      /* the most steps that a replica has made */
    int revision;                      /* of the ensemble in the database when the spec was asked for */
    char *results;                     /* path of its results.json; NULL: it has not ended */
    struct ensemble_estimate estimate; /* what that says */
    int64_t rows, kept;                /* sampled so far; of them those that count with more windows */
    struct err err;
};

static void free_extension(struct extension *x)
{
    ensemble_free(x->ensemble);
    buf_free(&x->asked);
    free(x->results);
    free(x->text);
    free(x);
}

/* What it had come to is what there is so far, until its samples say more. */
static void answer(struct extension *x, struct sched_event *ev)
{
    if (!x->err.code && !service_step(x->api->service, ev, &x->err)) {
        if (x->estimate.number)
            x->ensemble->estimate = x->estimate;
        api_moved(x->api->service, x->request, x->ensemble, "extended");
    } else {
        reply_error(x->request, &x->err);
    }
    free_extension(x);
}

/* ---- longer ---- */

static void time_read(struct extension *x, const json_t *head)
{
    char what[160];
    int64_t steps = json_integer_value(json_object_get(head, "steps"));
    if (x->nearest)
        snprintf(what, sizeof what, "production longer by %lld %s", (long long)steps,
                 number_word(steps, "step", "steps"));
    else
        snprintf(what, sizeof what, "production %s %.100s", x->more ? "longer by" : "of", x->text);
    answer(x, &(struct sched_event){
                  .kind = SCHED_EXTEND, .ensemble = x->ensemble, .step = steps, .more = x->more, .message = what});
}

/* ---- wider ---- */

/* What the database is to hold more of an ensemble. */
struct growth {
    int64_t replicas;
    int64_t spec_bytes;
    bool charged;
};

static int64_t grown_rows(const struct growth *g)
{
    return g->spec_bytes + g->replicas * USAGE_REPLICA;
}

/* Charges the ensemble's owner; on failure the charges are what they were. */
static int charge(struct growth *g, struct ensemble *en, struct err *e)
{
    int rc = quota_grow(&en->peopled, g->replicas, e);
    if (rc)
        return rc;
    rc = quota_grow(&en->stored, grown_rows(g), e);
    if (rc)
        quota_set(&en->peopled, en->peopled.amount - g->replicas);
    g->charged = !rc;
    return rc;
}

/* The ensemble has grown, or it has not and its owner gets the charge back. */
static void settle(const struct growth *g, struct ensemble *en, bool grown)
{
    if (grown) {
        en->row_bytes += g->spec_bytes;
    } else if (g->charged) {
        quota_set(&en->peopled, en->peopled.amount - g->replicas);
        quota_set(&en->stored, en->stored.amount - grown_rows(g));
    }
}

/* Of what windows have sampled, how many rows count now, and how many will when more windows are there: frames. What
 * was sampled before an earlier addition is frames already. */
static void count_rows(struct extension *x, const json_t *head)
{
    const int64_t before = json_integer_value(json_object_get(head, "before")),
                  sample = json_integer_value(json_object_get(head, "sample_every")),
                  frame = json_integer_value(json_object_get(head, "frames_every"));
    for (int i = 0; i < x->ensemble->nreplicas && sample > 0 && frame > 0; i++) {
        const struct sched_replica *r = &x->ensemble->replicas[i];
        const int64_t made = r->saved_step - before;
        if (made <= 0)
            continue;
        const int64_t frames = made / frame + 1, rows = r->origin >= 0 ? frames : made / sample + 1;
        x->rows += rows;
        x->kept += frames < rows ? frames : rows;
    }
}

/* What would become of it. */
static void answer_dry(struct extension *x, int windows)
{
    struct sched_event ev = {.kind = SCHED_ADD_WINDOWS, .ensemble = x->ensemble, .dry = true};
    if (x->err.code || service_step(x->api->service, &ev, &x->err))
        reply_error(x->request, &x->err);
    else
        reply_json(x->request, 200,
                   json_pack("{s:s,s:s,s:i,s:i,s:I,s:I}", "id", x->ensemble->id, "name", x->ensemble->name, "revision",
                             x->ensemble->revision + 1, "windows", windows, "rows", (json_int_t)x->rows, "kept",
                             (json_int_t)x->kept));
    free_extension(x);
}

static void windows_read(struct extension *x, const json_t *head, const char *spec)
{
    struct service *sv = x->api->service;
    const json_t *were = json_object_get(head, "origin");
    const int windows = (int)json_integer_value(json_object_get(head, "windows"));
    int *origin = xcalloc((size_t)windows, sizeof *origin);
    for (int i = 0; i < windows; i++)
        origin[i] = (int)json_integer_value(json_array_get(were, (size_t)i));
    count_rows(x, head);
    if (x->dry) {
        free(origin);
        answer_dry(x, windows);
        return;
    }
    struct buf what = {0};
    buf_printf(&what, "windows added: %.900s", x->text);
    if (x->kept < x->rows)
        buf_printf(&what,
                   "; %" PRId64 " of the %" PRId64 " rows sampled so far count from here on: those that are frames",
                   x->kept, x->rows);
    const json_t *after = json_object_get(head, "exchange_after");
    if (after)
        buf_printf(&what, "; new windows make %lld steps alone, and the others wait; then all exchange replicas",
                   (long long)json_integer_value(after));
    if (!x->err.code && x->revision != x->ensemble->revision)
        err_set(&x->err, ERR_BUSY, "ensemble %s was extended meanwhile: try again", x->ensemble->id);
    const json_t *ladder = json_object_get(head, "placed");
    char *placed = json_is_object(ladder) ? json_dumps(ladder, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    struct ensemble *en = ensemble_hold(x->ensemble);
    const int before = en->nreplicas;
    const int64_t first = service_next_replica(sv);
    struct growth g = {.replicas = (int64_t)(windows - en->windows) * en->repeats,
                       .spec_bytes = (int64_t)strlen(spec) - (int64_t)x->spec_bytes};
    if (!x->err.code && !en->removed)
        charge(&g, en, &x->err);
    if (!x->err.code)
        sv->next_replica += g.replicas;
    answer(x, &(struct sched_event){.kind = SCHED_ADD_WINDOWS,
                                    .ensemble = x->ensemble,
                                    .window = windows,
                                    .origin = origin,
                                    .spec = spec,
                                    .windows = placed,
                                    .replica = first,
                                    .step = x->made,
                                    .message = what.data});
    free(origin);
    free(placed);
    buf_free(&what);
    settle(&g, en, en->nreplicas > before);
    ensemble_free(en);
}

/* ---- the spec ---- */

static void checked(void *arg, const struct err *err, const json_t *head, const char *spec, size_t len)
{
    struct extension *x = arg;
    if (err) {
        reply_error(x->request, err);
        free_extension(x);
    } else if (x->windows) {
        windows_read(x, head, spec);
    } else {
        time_read(x, head);
    }
}

static void spec_read(void *arg)
{
    struct extension *x = arg;
    if (!x->err.code) {
        check_begin(&x->api->checks, x->request, CHECK_EXTEND, &x->asked, checked, x);
        return;
    }
    reply_error(x->request, &x->err);
    free_extension(x);
}

/* Of one that has ended. That there are none, as of one that was cancelled, is no error. */
static void read_results(struct extension *x)
{
    const int64_t made = x->estimate.made;
    struct buf results = {0};
    struct err unread = {0};
    if (x->results && !buf_read_file(&results, x->results, &unread))
        service_read_estimate(&results, &x->estimate);
    x->estimate.made = made;
    buf_free(&results);
}

static void read_spec(void *arg)
{
    struct extension *x = arg;
    struct buf spec = {0};
    read_results(x);
    if (!store_read_inputs(x->api->service->store, x->ensemble->number, &spec, NULL, NULL, &x->err)) {
        json_t *asked = json_pack("{s:s%,s:s,s:s,s:b,s:b,s:I}", "spec", spec.data, spec.len, "spec_name",
                                  x->ensemble->spec_name, x->windows ? "windows" : "time", x->text, "nearest",
                                  x->nearest, "more", x->more, "made", (json_int_t)x->made);
        char *text = json_dumps(asked, JSON_COMPACT);
        buf_add(&x->asked, text, strlen(text));
        x->spec_bytes = spec.len;
        free(text);
        json_decref(asked);
    }
    buf_free(&spec);
}

struct reply api_extend(struct api_call *c)
{
    struct err e = {0};
    const char *by = c->text[0], *until = c->text[1], *windows = c->text[2];
    bool nearest = c->value[3] == 1, dry = c->value[4] == 1;
    if (!by + !until + !windows != 2 || (nearest && !by) || (dry && !windows)) {
        err_set(&e, ERR_USAGE,
                "extend: expected one of time, by how much production becomes longer, until, how long it is to be, and "
                "windows, which the ladder is to have too; nearest only with time, dry_run only with windows");
        return reply_error(c->request, &e);
    }
    const char *text = by ? by : until ? until : windows;
    if (!printable(text)) {
        err_set(&e, ERR_USAGE, "extend: expected a text in one line, without control characters");
        return reply_error(c->request, &e);
    }
    struct extension *x = xcalloc(1, sizeof *x);
    *x = (struct extension){
        .api = c->api,
        .request = c->request,
        .ensemble = ensemble_hold(c->ensemble),
        .text = xstrdup(text),
        .windows = windows != NULL,
        .more = by != NULL,
        .nearest = nearest,
        .dry = dry,
        .made = ensemble_furthest(c->ensemble),
        .revision = c->ensemble->shown.revision,
        .results = ensemble_ended(c->ensemble) ? service_path(c->service, c->ensemble, "results.json") : NULL,
        .estimate.made = c->ensemble->shown.changed};
    service_offload(c->service, read_spec, spec_read, x);
    return reply_later(c->request);
}
