/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of every ensemble that has ended, a few at a time.
 */
#include "client/gather/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/division/kept.h"
#include "client/programs/here.h"
#include "client/show/out.h"
#include "engine/base/json/number_json.h"

struct fetching {
    struct gathered *g;
    int *wanted; /* numbers of rows */
};

static void fill(void *arg, int i, struct buf *path, struct buf *body)
{
    const struct fetching *f = arg;
    const json_t *present = f->g->rows[f->wanted[i]].present;
    client_path(path, answer_text(present, "id"),
                ensemble_ended(answer_text(present, "state")) ? "/results" : "/results?live=1");
}

static double kj_of(const json_t *quantity)
{
    return answer_magnitude(quantity) * GATHER_KCAL; /* kcal/mol, as the schema says */
}

static enum verdict verdict_of(const json_t *results)
{
    const char *word = answer_text(json_object_get(results, "verdict"), "verdict");
    return !strcmp(word, "converged")     ? VERDICT_CONVERGED
           : !strcmp(word, "unconverged") ? VERDICT_UNCONVERGED
                                          : VERDICT_FAILED;
}

/* Of a part of the results that the estimate lacks. */
static double correction_of(const json_t *results, const char *part)
{
    const json_t *energy = json_object_get(json_object_get(results, part), "correction");
    return number_from_json(json_object_get(json_object_get(energy, "kJ/mol"), "value"));
}

/* Behind what the service says of an ensemble that has not come to its end; of any other there is nothing else to say.
 */
static void add_reason(struct gathered_ensemble *r, const char *reason)
{
    size_t n = strcmp(answer_text(r->present, "state"), "done") != 0 ? strlen(r->reason) : 0;
    snprintf(r->reason + n, sizeof r->reason - n, "%s%s", n && *reason ? "; " : "", reason);
}

/* Live results have none. */
static void take_torsions(struct gathered_ensemble *r, const json_t *torsions)
{
    const json_t *list = json_object_get(torsions, "list"), *one;
    size_t i;
    if (answer_whole(torsions, "windows") == 0)
        r->unwatched = (int)json_array_size(list);
    else
        json_array_foreach (list, i, one)
            r->still += answer_whole(one, "transitions") == 0;
}

static void take_results(struct gathered_ensemble *r, const json_t *results)
{
    r->estimate =
        (struct number){kj_of(json_object_get(results, "estimate")), kj_of(json_object_get(results, "uncertainty"))};
    const bool ended = r->verdict != VERDICT_PENDING;
    r->so_far = !ended && !isnan(r->estimate.value);
    if (!isnan(r->estimate.value))
        r->verdict = verdict_of(results);
    r->standard_state = correction_of(results, "standard_state");
    r->finite_size = correction_of(results, "finite_size");
    r->reasons = json_incref(json_object_get(json_object_get(results, "verdict"), "reasons"));
    take_torsions(r, json_object_get(results, "torsions"));
    if (ended)
        add_reason(r, answer_text(results, "reason"));
    else if (isnan(r->estimate.value)) /* one cause is enough while it runs */
        add_reason(r, answer_text(json_array_get(r->reasons, 0), "text"));
}

/* What pages show of it. */
static void take_details(struct gathered_ensemble *r, const json_t *results)
{
    r->overlap = number_from_json(json_object_get(json_object_get(results, "overlap"), "minimum"));
    r->run = json_pack("{s:O?,s:O?,s:O?,s:O?,s:O?,s:O?,s:O?}", "windows", json_object_get(results, "windows"),
                       "version", json_object_get(results, "version"), "estimator",
                       json_object_get(results, "estimator"), "temperature", json_object_get(results, "temperature"),
                       "pressure", json_object_get(results, "pressure"), "methods", json_object_get(results, "methods"),
                       "ensemble", json_object_get(results, "ensemble"));
    r->convergence = json_incref(json_object_get(results, "convergence"));
}

static void done(void *arg, int i, long status, const struct buf *reply)
{
    const struct fetching *f = arg;
    struct gathered_ensemble *r = &f->g->rows[f->wanted[i]];
    struct err e = {0};
    json_t *results = answer_object(status, reply, &e);
    if (results)
        take_results(r, results);
    else
        add_reason(r, e.msg);
    if (results && f->g->detailed)
        take_details(r, results);
    json_decref(results);
}

/* What can be said of it without its results. */
static void begin_row(struct gathered_ensemble *r, const json_t *planned, const json_t *present)
{
    *r = (struct gathered_ensemble){.planned = planned,
                                    .present = present,
                                    .estimate = {NAN, NAN},
                                    .standard_state = NAN,
                                    .finite_size = NAN,
                                    .overlap = NAN};
    bool ended = present && ensemble_ended(answer_text(present, "state"));
    r->verdict = ended ? VERDICT_FAILED : VERDICT_PENDING;
    snprintf(r->reason, sizeof r->reason, "%s", present ? answer_text(present, "reason") : "not submitted");
}

static void begin_rows(struct gathered *g)
{
    const json_t *planned = json_object_get(g->campaign->plan, "ensembles"), *one;
    size_t i;
    g->services = json_array();
    g->rows = xcalloc(json_array_size(planned), sizeof *g->rows);
    json_array_foreach (planned, i, one)
        begin_row(&g->rows[g->nrows++], one, NULL);
}

/* Takes a row's ensemble where this service has it, and no other had it before. Whether it may have results. */
static bool find_row(struct gathered *g, struct gathered_ensemble *r)
{
    const json_t *present = campaign_present(g->campaign, r->planned);
    if (present && r->present)
        g->twice++;
    if (!present || r->present)
        return false;
    begin_row(r, r->planned, present);
    return r->verdict == VERDICT_FAILED || answer_number(present, "progress") > 0;
}

/* Results that shares have kept in their folders. */
static void read_kept(const struct client *c, struct fetching *f, int count)
{
    for (int i = 0; i < count; i++) {
        struct buf text = {0};
        struct err none = {0};
        if (!kept_file(&text, c->division, f->g->rows[f->wanted[i]].present, ".json", &none))
            done(f, i, 200, &text);
        buf_free(&text);
    }
}

/* What one service has of it, or the shares of a division. */
static int fetch(const struct client *c, struct gathered *g, struct campaign_view *k, struct err *e)
{
    struct fetching f = {g, xcalloc((size_t)g->nrows + 1, sizeof *f.wanted)};
    struct http_batch batch = {.method = "GET", .arg = &f, .fill = fill, .done = done};
    int rc = campaign_look(k, c, e);
    for (int i = 0; !rc && i < g->nrows; i++)
        if (find_row(g, &g->rows[i]))
            f.wanted[batch.count++] = i;
    if (!rc && c->http)
        rc = http_batch(c->http, &batch, e);
    else if (!rc)
        read_kept(c, &f, batch.count);
    if (!rc && g->detailed)
        gather_specs(g, c);
    json_array_append_new(g->services, k->present ? k->present : json_null());
    k->present = NULL;
    free(f.wanted);
    return rc;
}

/* What the service that works, or is started for it, on each folder has. */
static int fetch_from_folders(const struct client *c, struct gathered *g, struct campaign_view *k, struct err *e)
{
    int rc = 0;
    for (int i = 0; !rc && i < c->nheres; i++) {
        struct client one = *c;
        struct here h;
        struct err closing = {0};
        one.here = c->heres[i];
        rc = here_open(&h, &one, false, e);
        if (!rc) {
            one.http = http_new(h.socket.data, h.socket.data);
            rc = fetch(&one, g, k, e);
            http_free(one.http);
        }
        if (here_close(&h, &closing) && !rc) {
            *e = closing;
            rc = -(int)e->code;
        }
    }
    return rc;
}

static int gather_exit(const struct gathered *g)
{
    enum verdict worst = VERDICT_CONVERGED;
    for (int i = 0; i < g->nrows; i++)
        worst = gather_worse(worst, g->rows[i].so_far ? VERDICT_PENDING : g->rows[i].verdict);
    return worst == VERDICT_PENDING ? EXIT_TRY_LATER : worst == VERDICT_FAILED ? EXIT_FAILED : EXIT_OK;
}

static void print_gathered(const struct client *c, const struct gathered *g)
{
    struct buf out = {0};
    if (c->json) {
        json_t *all = gather_json(g);
        client_print(all);
        json_decref(all);
    } else if (c->plain) {
        gather_tsv(g, false, &out);
        fputs(out.data, stdout);
    } else {
        gather_put(&(struct out){&out, client_width(), false}, g);
        fputs(out.data, stdout);
    }
    buf_free(&out);
}

/* All of it, for `use` to make something of. */
static int gather(struct client *c, const char *file, bool detailed,
                  void (*use)(const struct client *c, const struct gathered *g, void *arg, struct err *e), void *arg)
{
    struct campaign_view k;
    struct gathered g = {.campaign = &k, .detailed = detailed};
    struct err e = {0};
    int rc = campaign_open(&k, c, file, true);
    if (rc == EXIT_OK) {
        begin_rows(&g);
        if (!(c->nheres > 1 ? fetch_from_folders(c, &g, &k, &e) : fetch(c, &g, &k, &e))) {
            gather_sum(&g);
            use(c, &g, arg, &e);
        }
        rc = e.code ? client_fail(c, &e) : gather_exit(&g);
    }
    gather_free(&g);
    campaign_close(&k);
    return rc;
}

static void write_tables(const struct client *c, const struct gathered *g, void *arg, struct err *e)
{
    if (!c->output || !gather_files(g, c->output, e))
        print_gathered(c, g);
}

static void write_page(const struct client *c, const struct gathered *g, void *arg, struct err *e)
{
    struct buf page = {0};
    gather_page(g, &page);
    client_page(c, answer_text(g->campaign->plan, "name"), &page, e);
    buf_free(&page);
}

int campaign_gather(struct client *c, const char *file)
{
    return gather(c, file, c->output != NULL, write_tables, NULL);
}

int campaign_report(struct client *c, const char *file)
{
    return gather(c, file, true, write_page, NULL);
}

static void keep_json(const struct client *c, const struct gathered *g, void *arg, struct err *e)
{
    *(json_t **)arg = gather_json(g);
}

json_t *campaign_gathered(struct client *c, const char *file, int *rc)
{
    json_t *all = NULL;
    *rc = gather(c, file, false, keep_json, &all);
    *rc = all ? EXIT_OK : *rc;
    return all;
}
