/* SPDX-License-Identifier: Apache-2.0
 *
 * What was run: of every leg how much, at which temperature and pressure, when and by which version; and the methods
 * and the spec of its first ensemble.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/division/kept.h"
#include "client/gather/gather.h"
#include "client/results/methods.h"
#include "client/show/page.h"
#include "engine/base/number.h"

/* ---- what the service knows ---- */

static bool has_spec(const struct gathered *g, const char *leg)
{
    bool any = false;
    for (int i = 0; i < g->nrows; i++)
        any |= g->rows[i].spec && !strcmp(answer_text(g->rows[i].planned, "leg"), leg);
    return any;
}

static bool ask_spec(const struct client *c, const json_t *present, struct buf *reply)
{
    struct buf path = {0};
    struct err e = {0};
    long status = 0;
    client_path(&path, answer_text(present, "id"), "/files/input/spec.yaml");
    const bool got = !http_request(c->http, "GET", path.data, NULL, &status, reply, &e) && status == 200;
    buf_free(&path);
    return got;
}

static char *get_spec(const struct client *c, const json_t *present)
{
    struct buf reply = {0};
    struct err e = {0};
    const bool got = c->http ? ask_spec(c, present, &reply) : !kept_file(&reply, c->division, present, ".yaml", &e);
    char *spec = got ? xstrdup(reply.data) : NULL;
    buf_free(&reply);
    return spec;
}

void gather_specs(struct gathered *g, const struct client *c)
{
    for (int i = 0; i < g->nrows; i++) {
        struct gathered_ensemble *r = &g->rows[i];
        bool here = r->present && campaign_present(g->campaign, r->planned) == r->present;
        if (here && !has_spec(g, answer_text(r->planned, "leg")))
            r->spec = get_spec(c, r->present);
    }
}

/* ---- a leg ---- */

struct leg_run {
    const char *name;
    int ensembles;
    long long fewest, most; /* windows */
    struct sampled sampled;
    double temperature, pressure;    /* of the first that has results; 0: none */
    const char *version, *estimator; /* the same */
    const char *began, *changed;     /* the first and the last time; they compare as texts */
};

static void add_results(struct leg_run *leg, const json_t *run)
{
    struct sampled s = results_sampled(json_object_get(run, "windows"));
    leg->sampled.least = fmin(leg->sampled.least, s.least);
    leg->sampled.most = fmax(leg->sampled.most, s.most);
    leg->sampled.all += s.all;
    if (*leg->version)
        return;
    leg->temperature = answer_number(json_object_get(run, "temperature"), "magnitude");
    leg->pressure = answer_number(json_object_get(run, "pressure"), "magnitude");
    leg->version = answer_text(run, "version");
    leg->estimator = answer_text(run, "estimator");
}

static struct leg_run leg_run_of(const struct gathered *g, const char *name)
{
    struct leg_run leg = {.name = name,
                          .fewest = INT64_MAX,
                          .sampled = {INFINITY, 0, 0},
                          .version = "",
                          .estimator = "",
                          .began = "",
                          .changed = ""};
    for (int i = 0; i < g->nrows; i++) {
        const struct gathered_ensemble *r = &g->rows[i];
        if (!r->present || strcmp(answer_text(r->planned, "leg"), name) != 0)
            continue;
        long long windows = answer_whole(r->present, "windows");
        const char *began = answer_text(r->present, "created"), *changed = answer_text(r->present, "changed");
        leg.ensembles++;
        leg.fewest = windows < leg.fewest ? windows : leg.fewest;
        leg.most = windows > leg.most ? windows : leg.most;
        leg.began = !*leg.began || strcmp(began, leg.began) < 0 ? began : leg.began;
        leg.changed = strcmp(changed, leg.changed) > 0 ? changed : leg.changed;
        add_results(&leg, r->run);
    }
    return leg;
}

static void range_cell(struct table *t, double least, double most)
{
    if (!(most > 0))
        table_cell(t, "-");
    else if (most - least < 1e-6 * most)
        table_cell(t, "%.4g", most);
    else
        table_cell(t, "%.4g to %.4g", least, most);
}

static void number_or_dash(struct table *t, double x, const char *format)
{
    char text[32];
    snprintf(text, sizeof text, format, x);
    table_cell(t, "%s", x > 0 ? text : "-");
}

static void time_cell(struct table *t, const char *time)
{
    struct buf text = {0};
    show_time(&text, time);
    table_cell(t, "%s", text.len ? text.data : "-");
    buf_free(&text);
}

static void leg_row(struct table *t, const struct leg_run *leg)
{
    table_cell(t, "%s", leg->name);
    table_cell(t, "%d", leg->ensembles);
    range_cell(t, (double)leg->fewest, (double)leg->most);
    range_cell(t, leg->sampled.least, leg->sampled.most);
    number_or_dash(t, leg->sampled.all, "%.6g");
    number_or_dash(t, leg->temperature, "%.2f");
    number_or_dash(t, leg->pressure, "%.5g");
    table_cell(t, "%s", *leg->estimator ? leg->estimator : "-");
    time_cell(t, leg->began);
    time_cell(t, leg->changed);
    table_cell(t, "%s", *leg->version ? leg->version : "-");
}

static void legs_table(const struct gathered *g, struct buf *out)
{
    static const char *const heads[] = {"leg",     "ensembles", "windows",   "ns a window", "ns in all", "T (K)",
                                        "p (bar)", "estimator", "submitted", "last change", "Shoal"};
    const struct out s = {out, 0, true};
    const json_t *leg;
    struct table t;
    size_t i;
    table_setup(&t, "l r r r r r r l l l l");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (json_object_get(g->campaign->plan, "legs"), i, leg) {
        struct leg_run run = leg_run_of(g, answer_text(leg, "name"));
        leg_row(&t, &run);
    }
    out_title(&s, "What was run",
              "windows and production sampled so far; times are UTC; p is - where the volume is constant");
    out_table(&s, &t);
}

static void put_spec(const struct gathered_ensemble *r, struct buf *out)
{
    char summary[300];
    snprintf(summary, sizeof summary, "Spec of leg %.60s, of %.120s", answer_text(r->planned, "leg"),
             answer_text(r->planned, "key"));
    buf_printf(out, "<details>\n");
    page_element(out, "summary", "", summary);
    page_element(out, "pre", "", r->spec);
    buf_printf(out, "</details>\n");
}

static bool has_methods(const struct gathered_ensemble *r)
{
    return json_array_size(json_object_get(r->run, "methods")) > 0;
}

/* Of the first ensemble of every leg that has some. */
static void leg_methods(const struct gathered *g, const char *leg, struct buf *out)
{
    char summary[300];
    int i = 0;
    while (i < g->nrows && (strcmp(answer_text(g->rows[i].planned, "leg"), leg) != 0 || !has_methods(&g->rows[i])))
        i++;
    if (i == g->nrows)
        return;
    snprintf(summary, sizeof summary, "Methods of leg %.60s, of %.120s", leg, answer_text(g->rows[i].planned, "key"));
    buf_printf(out, "<details>\n");
    page_element(out, "summary", "", summary);
    methods_put(out, g->rows[i].run, g->rows[i].present);
    buf_printf(out, "</details>\n");
}

void gather_run(const struct gathered *g, struct buf *out)
{
    const json_t *leg;
    size_t k;
    legs_table(g, out);
    json_array_foreach (json_object_get(g->campaign->plan, "legs"), k, leg)
        leg_methods(g, answer_text(leg, "name"), out);
    for (int i = 0; i < g->nrows; i++)
        if (g->rows[i].spec)
            put_spec(&g->rows[i], out);
}
