/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker campaign: the ensembles of a campaign, as one JSON object, for the client:
 *   {"name", "repeats", "legs": [{"name", "of", "sign"}],
 *    "systems": [{"name", "experiment", "error"}] (kJ/mol or null),
 *    "edges": [{"name", "ligand_i", "ligand_j"}], "budget": {"ns", "rounds"} or null,
 *    "ladder": {"overlap", "windows"} or null,
 *    "ensembles": [{"key", "leg", "of", "item", "repeat", "labels"}]}
 * and, without --names, what would be submitted, after the checks of a submission:
 *   of each ensemble {"spec", "spec_name", "hash", "inputs", "atoms", "windows", "replicas", "ns" (of a window),
 *                     "disk_bytes", "production": {"ns" and "steps" of a window, "before": steps of other stages,
 *                     "step_ns": of those added}},
 *   "inputs": [[[name, path], ..], ..], which an ensemble has one of, "errors" and "warnings": texts.
 *
 * Where the campaign says `ladder`, a leg of a system or an edge has a pilot in place of its repeats, with "pilot": its
 * round, from 1. Pilots and repeats have "family": what all repeats would be with the windows of their spec, {"hash" of
 * the first, "replicas" of all, "ns", "production"}. It stays the same whatever pilots find. The option --ladders names
 * a file that says otherwise, {"LEG/ITEM": {"windows": {component: [lambdas]}, and "pilot": the round of a pilot with
 * these windows, or "from": the key of the pilot that chose them}}: with "from" there are the repeats, with these
 * windows.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/advice/advice.h"
#include "daemon/spec/predict.h"
#include "daemon/spec/split.h"
#include "daemon/spec/submission.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/offline/campaign_spec.h"
#include "daemon/worker/offline/input.h"
#include "engine/base/gzip.h"
#include "engine/base/json/number_json.h"
#include "engine/base/path.h"
#include "engine/base/json/text_json.h"

enum { NAMED = 3 /* systems or edges that a message names */ };

/* What many systems or edges share is one text, with their names; NULL: of none. */
static void add_text(json_t *list, const char *text, const struct campaign *c, const struct campaign_item *it)
{
    const char *what = !it ? "" : it->leg->of_edges ? "edge" : "system";
    const char *name = it ? campaign_item(c, it->leg, it->number) : NULL;
    json_t *one, *names = NULL;
    size_t i;
    json_array_foreach (list, i, one)
        if (!strcmp(json_string_value(json_object_get(one, "text")), text) &&
            !strcmp(json_string_value(json_object_get(one, "what")), what))
            names = json_object_get(one, "names");
    if (!names) {
        names = json_object();
        json_array_append_new(list, json_pack("{s:o,s:s,s:o,s:i}", "text", text_json(text, strlen(text)), "what", what,
                                              "names", names, "of", it ? campaign_items(c, it->leg) : 0));
    }
    if (it)
        json_object_set_new(names, name, json_true());
}

/* " (edges a_b, a_c, b_c and 2 more)" */
static void add_names(struct buf *text, const json_t *of)
{
    const char *what = json_string_value(json_object_get(of, "what")), *name;
    json_t *names = json_object_get(of, "names"), *one;
    const size_t n = json_object_size(names);
    size_t i = 0;
    if (n > 1 && (json_int_t)n == json_integer_value(json_object_get(of, "of"))) {
        buf_printf(text, " (all %ss)", what);
        return;
    }
    buf_printf(text, " (%s", what);
    json_object_foreach (names, name, one) {
        if (i++ < NAMED)
            buf_printf(text, "%s%s", i > 1 ? i == n ? " and " : ", " : n > 1 ? "s " : " ", name);
    }
    if (n > NAMED)
        buf_printf(text, " and %zu more", n - NAMED);
    buf_printf(text, ")");
}

static json_t *texts(const json_t *list)
{
    json_t *out = json_array(), *one;
    size_t i;
    json_array_foreach (list, i, one) {
        struct buf text = {0};
        buf_printf(&text, "%s", json_string_value(json_object_get(one, "text")));
        if (json_object_size(json_object_get(one, "names")))
            add_names(&text, one);
        json_array_append_new(out, text_json(text.data, text.len));
        buf_free(&text);
    }
    return out;
}

/* ---- what is checked once for all repeats ---- */

/* By the names under which a service keeps them. */
static void take_files(struct campaign_item *it, const struct source *src, json_t *paths)
{
    struct source_file f;
    for (int i = 0; source_disk_file(src, i, &f); i++) {
        char *kept = path_kept(f.name);
        json_object_set_new(it->files, kept, text_json(f.text, f.len));
        json_array_append_new(paths, json_pack("[s,s]", kept, f.path));
        free(kept);
    }
}

static json_t *production_of(const struct spec *s)
{
    double ns = 0;
    for (int i = 0; i < s->nstages; i++)
        if (s->stages[i].kind == STAGE_PRODUCE)
            ns += (double)s->stages[i].steps * s->stages[i].timestep * 1e-3;
    return json_pack("{s:f,s:I,s:I,s:f}", "ns", ns, "steps", (json_int_t)spec_produce_steps(s), "before",
                     (json_int_t)(spec_steps(s, s->nstages) - spec_produce_steps(s)), "step_ns",
                     mesh_cycle(&s->settings.integrator) * s->stages[s->nstages - 1].timestep * 1e-3);
}

/* A budget is spent on longer production. */
static int check_last_stage(const struct listing *l, const struct spec *s, struct err *e)
{
    uint64_t steps;
    return l->campaign->budget.time > 0 ? spec_production(s, "1 steps", true, &steps, e) : 0;
}

static int look_at_system(struct listing *l, struct campaign_item *it, struct spec *spec, struct source *src,
                          struct err *e)
{
    struct system sys = {0};
    json_t *warnings = NULL, *paths = json_array();
    int rc = check_last_stage(l, spec, e);
    if (!rc)
        rc = spec_system(spec, src, &sys, e);
    if (!rc)
        rc = spec_choose_split(spec, &sys, e); /* as the service will */
    if (!rc)
        rc = spec_check_windows(spec, &sys, e);
    if (!rc)
        rc = spec_advise(spec, &sys, &warnings, e);
    if (!rc) {
        take_files(it, src, paths);
        struct prediction needs = spec_predict(spec, &sys);
        it->facts =
            json_pack("{s:i,s:i,s:i,s:f,s:I,s:i}", "atoms", sys.natoms, "windows", spec_windows(spec), "replicas",
                      needs.replicas, "ns", needs.ns, "disk_bytes", (json_int_t)(needs.replica_bytes * needs.replicas),
                      "inputs", (int)json_array_size(l->inputs));
        json_object_set_new(it->facts, "production", production_of(spec));
        l->production += json_number_value(json_object_get(json_object_get(it->facts, "production"), "ns")) *
                         needs.replicas * l->campaign->repeats;
        json_object_set_new(it->facts, "warnings", warnings ? json_incref(warnings) : json_array());
        json_array_append(l->inputs, paths);
    }
    json_decref(paths);
    json_decref(warnings);
    system_close(&sys);
    return rc;
}

static int look_at_spec(struct listing *l, struct campaign_item *it, const struct written *w, struct err *e)
{
    struct spec *spec = NULL;
    char *folder = l->campaign->inputs ? xstrdup(l->campaign->inputs) : input_folder(it->leg->spec);
    struct source *src = input_source(folder, l->includes.items, l->includes.n);
    int rc = spec_parse(&spec, it->leg->spec, w->text.data, w->text.len, e);
    if (!rc) {
        spec->seed_random = false; /* the service draws it */
        rc = spec_check_run(spec, e);
    }
    if (!rc)
        rc = look_at_system(l, it, spec, src, e);
    if (rc == -ERR_MISSING_FILE) {
        const struct err why = *e;
        err_set(e, ERR_MISSING_FILE, "%s: %s in %s", it->leg->spec, why.msg, folder);
    }
    source_free(src);
    spec_free(spec);
    free(folder);
    return rc;
}

/* Warnings of the spec, with the places that its lines are from; they are those of all repeats. A pilot has them in
 * its first round, but for those of how little it samples. */
static void trace_warnings(struct listing *l, struct campaign_item *it, const struct written *w)
{
    json_t *list = json_object_get(it->facts, "warnings"), *one;
    size_t i;
    json_array_foreach (list, i, one) {
        struct buf text = {0};
        if (it->pilot > 1 || (it->pilot && !strcmp(json_string_value(json_object_get(one, "kind")), "sampling")))
            continue;
        template_trace(w, it->leg->spec, json_string_value(json_object_get(one, "message")), &text);
        add_text(l->warnings, text.data, l->campaign, it);
        buf_free(&text);
    }
    json_object_del(it->facts, "warnings");
}

/* A campaign that places windows fills gaps that show in repeats that have ended, which takes their frames: said while
 * they can still be stored. What a pilot runs by is not the leg's own protocol. */
static void check_frames(struct listing *l, const struct campaign_item *it, const struct spec *spec,
                         const struct written *w)
{
    bool frameless = false;
    for (int i = 0; i < spec->nstages; i++)
        frameless |= spec->stages[i].kind == STAGE_PRODUCE && !spec->stages[i].frames_every;
    if (!frameless)
        return;
    struct buf text = {0}, traced = {0};
    buf_printf(&text,
               "%s:%d: protocol: production stores no frames, so a gap that shows in the ladder once repeats have "
               "ended cannot be filled (the campaign's ladder: auto): expected frames-every in produce, about as "
               "often as samples are uncorrelated, as in frames-every: 1 ps",
               it->leg->spec, spec->protocol_line);
    template_trace(w, it->leg->spec, text.data, &traced);
    add_text(l->warnings, traced.data, l->campaign, NULL);
    buf_free(&traced);
    buf_free(&text);
}

static json_t *describe_family(const struct listing *l, const struct campaign_item *it, const struct spec *spec,
                               const struct written *w)
{
    char hash[SUBMISSION_HASH];
    double ns = 0;
    submission_hash(w->text.data, it->files, hash);
    for (int i = 0; i < spec->nstages; i++)
        ns += (double)spec->stages[i].steps * spec->stages[i].timestep * 1e-3 *
              (spec->stages[i].kind == STAGE_PRODUCE ? 1 + spec_switching_share(spec) : 1);
    return json_pack("{s:s,s:i,s:f,s:o}", "hash", hash, "replicas",
                     spec_windows(spec) * spec->repeats * l->campaign->repeats, "ns", ns, "production",
                     production_of(spec));
}

/* The repeats that an item stands for, or is, on the windows of their spec. What is wrong with them was said of it. */
static void look_at_family(struct listing *l, struct campaign_item *it)
{
    struct campaign_item repeats = *it;
    struct written w = {0};
    struct spec *spec = NULL;
    struct err e = {0};
    char key[CAMPAIGN_KEY + 1];
    repeats.pilot = 0;
    repeats.windows = NULL;
    campaign_key(l->campaign, it->leg, it->number, 0, key);
    if (!campaign_write_spec(l, &repeats, key, 0, &w, &e) &&
        !spec_parse(&spec, it->leg->spec, w.text.data, w.text.len, &e)) {
        if (it->pilot < 2) /* once, as the spec's own */
            check_frames(l, it, spec, &w);
        if (it->facts)
            json_object_set_new(it->facts, "family", describe_family(l, it, spec, &w));
    }
    spec_free(spec);
    template_free(&w);
}

static void item_key(const struct listing *l, const struct campaign_item *it, int repeat, char key[CAMPAIGN_KEY + 1])
{
    if (it->pilot)
        campaign_pilot_key(l->campaign, it->leg, it->number, it->pilot, key);
    else
        campaign_key(l->campaign, it->leg, it->number, repeat, key);
}

static void look_at_item(struct listing *l, struct campaign_item *it)
{
    struct written w = {0};
    struct err e = {0};
    char key[CAMPAIGN_KEY + 1];
    item_key(l, it, 0, key);
    if (campaign_write_spec(l, it, key, 0, &w, &e)) {
        add_text(l->errors, e.msg, l->campaign, it); /* which tells its place */
    } else if (look_at_spec(l, it, &w, &e)) {
        struct buf text = {0};
        template_trace(&w, it->leg->spec, e.msg, &text);
        add_text(l->errors, text.data, l->campaign, it);
        buf_free(&text);
    } else {
        trace_warnings(l, it, &w);
        if (l->campaign->ladder.automatic)
            look_at_family(l, it);
    }
    template_free(&w);
}

/* ---- the list ---- */

/* A pilot is none of the campaign's ensembles: what is done to those is not done to it. */
static json_t *labels(const struct listing *l, const struct campaign_item *it, int repeat)
{
    char number[16];
    snprintf(number, sizeof number, "%d", it->pilot ? it->pilot : repeat + 1);
    json_t *list = json_pack("{s:s,s:s,s:s,s:s}", it->pilot ? "pilot" : "campaign", l->campaign->name,
                             it->leg->of_edges ? "edge" : "system", campaign_item(l->campaign, it->leg, it->number),
                             "leg", it->leg->name, it->pilot ? "round" : "repeat", number);
    if (it->from)
        json_object_set_new(list, "ladder", json_string(it->from));
    return list;
}

static void add_spec(const struct listing *l, const struct campaign_item *it, const char *key, int repeat,
                     json_t *ensemble)
{
    struct written w = {0};
    struct err e = {0};
    char hash[SUBMISSION_HASH];
    struct buf name = {0};
    if (!campaign_write_spec(l, it, key, repeat, &w, &e)) {
        submission_hash(w.text.data, it->files, hash);
        buf_printf(&name, "%s.yaml", key);
        json_object_update_new(ensemble,
                               json_pack("{s:s,s:s,s:s}", "spec", w.text.data, "spec_name", name.data, "hash", hash));
    }
    json_object_update(ensemble, it->facts);
    buf_free(&name);
    template_free(&w);
}

/* The windows that are known of it, or that its first pilot is to find them. */
static void take_ladder(const struct listing *l, struct campaign_item *it)
{
    struct buf name = {0};
    buf_printf(&name, "%s/%s", it->leg->name, campaign_item(l->campaign, it->leg, it->number));
    const json_t *found = json_object_get(l->ladders, name.data);
    it->windows = json_object_get(found, "windows");
    it->from = json_string_value(json_object_get(found, "from"));
    it->pilot = it->from ? 0 : found ? (int)json_integer_value(json_object_get(found, "pilot")) : 1;
    buf_free(&name);
}

static void add_item(struct listing *l, const struct campaign_leg *leg, int number, const struct node *spec)
{
    struct campaign_item it = {.leg = leg, .number = number, .files = json_object()};
    if (l->campaign->ladder.automatic && !l->names)
        take_ladder(l, &it);
    if (!l->names) {
        it.nlayers = campaign_layers(l->campaign, leg, number, spec, it.layers);
        it.vars = campaign_variables(l->campaign, leg, number, &it.nvars);
        look_at_item(l, &it);
    }
    for (int repeat = 0; repeat < (it.pilot ? 1 : l->campaign->repeats); repeat++) {
        char key[CAMPAIGN_KEY + 1];
        item_key(l, &it, repeat, key);
        json_t *one = json_pack("{s:s,s:s,s:s,s:s,s:i,s:o}", "key", key, "leg", leg->name, "of",
                                leg->of_edges ? "edge" : "system", "item", campaign_item(l->campaign, leg, number),
                                "repeat", repeat + 1, "labels", labels(l, &it, repeat));
        if (it.pilot)
            json_object_set_new(one, "pilot", json_integer(it.pilot));
        if (it.facts)
            add_spec(l, &it, key, repeat, one);
        json_array_append_new(l->ensembles, one);
    }
    free(it.vars);
    json_decref(it.facts);
    json_decref(it.files);
}

/* Specs of legs are read as they are: what is wrong with them may be set right by the campaign's parts. */
static int read_leg_spec(const struct campaign *c, const struct campaign_leg *leg, struct node **out, struct err *e)
{
    struct buf text = {0};
    struct err why = {0};
    int rc = gzip_read_file(&text, leg->spec, &why);
    if (rc)
        rc = err_set(e, ERR_MISSING_FILE, "%s:%d: leg %s: %s", c->file, leg->line, leg->name, why.msg);
    else
        rc = node_parse(out, leg->spec, text.data ? text.data : "", text.len, e);
    if (!rc && (*out)->kind != NODE_MAP) {
        rc = err_set(e, ERR_SPEC, "%s:%d: expected a mapping, the keys of an ensemble spec", leg->spec, (*out)->line);
        node_free(*out);
    }
    buf_free(&text);
    return rc;
}

static int add_leg(struct listing *l, const struct campaign_leg *leg, struct err *e)
{
    struct node *spec = NULL;
    int rc = l->names ? 0 : read_leg_spec(l->campaign, leg, &spec, e);
    for (int i = 0; !rc && i < campaign_items(l->campaign, leg); i++)
        add_item(l, leg, i, spec);
    if (!rc)
        node_free(spec);
    return rc;
}

/* Names that differ can make one key: of edges a_b to c and a to b_c. */
static int check_keys(const struct listing *l, struct err *e)
{
    json_t *seen = json_object(), *one;
    size_t i;
    int rc = 0;
    json_array_foreach (l->ensembles, i, one) {
        const char *key = json_string_value(json_object_get(one, "key"));
        if (!rc && json_object_get(seen, key))
            rc = err_set(e, ERR_SPEC, "%s:1: two ensembles would have the key %s; other names would tell them apart",
                         l->campaign->file, key);
        json_object_set_new(seen, key, json_true());
    }
    json_decref(seen);
    return rc;
}

/* What specs produce is the budget's first part. */
static void check_budget(struct listing *l)
{
    const struct campaign *c = l->campaign;
    struct buf text = {0};
    if (c->budget.time <= 0 || l->names || l->production * 1e3 <= c->budget.time * (1 + 1e-9))
        return;
    buf_printf(&text,
               "%s:%d: budget.time: %.6g ns: the specs produce %.6g ns in all, which is its first part; expected more",
               c->file, c->budget.line, c->budget.time * 1e-3, l->production);
    add_text(l->errors, text.data, c, NULL);
    buf_free(&text);
}

/* ---- all of it ---- */

static json_t *campaign_json(const struct listing *l)
{
    const struct campaign *c = l->campaign;
    json_t *legs = json_array(), *systems = json_array(), *edges = json_array();
    for (int i = 0; i < c->nlegs; i++)
        json_array_append_new(legs, json_pack("{s:s,s:s,s:i}", "name", c->legs[i].name, "of",
                                              c->legs[i].of_edges ? "edge" : "system", "sign", c->legs[i].sign));
    for (int i = 0; i < c->nsystems; i++)
        json_array_append_new(systems, json_pack("{s:s,s:o,s:o}", "name", c->systems[i].name, "experiment",
                                                 number_json(c->systems[i].experiment), "error",
                                                 number_json(c->systems[i].error)));
    for (int i = 0; i < c->nedges; i++)
        json_array_append_new(edges, json_pack("{s:s,s:s,s:s}", "name", c->edges[i].name, "ligand_i",
                                               c->systems[c->edges[i].ligand[0]].name, "ligand_j",
                                               c->systems[c->edges[i].ligand[1]].name));
    json_t *budget = c->budget.time > 0
                         ? json_pack("{s:f,s:i}", "ns", c->budget.time * 1e-3, "rounds", c->budget.rounds)
                         : json_null();
    json_t *ladder = c->ladder.automatic
                         ? json_pack("{s:f,s:i}", "overlap", c->ladder.overlap, "windows", c->ladder.windows)
                         : json_null();
    return json_pack("{s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:O,s:O,s:o,s:o}", "name", c->name, "repeats", c->repeats, "legs",
                     legs, "systems", systems, "edges", edges, "budget", budget, "ladder", ladder, "ensembles",
                     l->ensembles, "inputs", l->inputs, "errors", texts(l->errors), "warnings", texts(l->warnings));
}

static int list(struct listing *l, const char *path, struct err *e)
{
    struct campaign *c = NULL;
    int rc = campaign_read(&c, path, e);
    l->campaign = c;
    for (int i = 0; !rc && i < c->nwarnings; i++)
        add_text(l->warnings, c->warnings[i], c, NULL);
    for (int i = 0; !rc && i < c->nlegs; i++)
        rc = add_leg(l, &c->legs[i], e);
    if (!rc)
        rc = check_keys(l, e);
    if (!rc)
        check_budget(l);
    json_t *out = rc ? NULL : campaign_json(l);
    if (out && json_dumpf(out, stdout, JSON_COMPACT))
        rc = err_set(e, ERR_IO, "standard output: not all of it was written");
    json_decref(out);
    campaign_free(c);
    return rc;
}

static int take_ladders(void *fields, const char *value, struct err *e)
{
    struct listing *l = fields;
    json_decref(l->ladders);
    l->ladders = json_load_file(value, 0, NULL);
    return l->ladders ? 0 : err_set(e, ERR_USAGE, "--ladders %s: expected a file of JSON", value);
}

int campaign_main(int argc, char **argv)
{
    static const struct arg rows[] = {
        ARG(LIST, "include", "DIR", struct listing, includes),
        ARG(FLAG, "names", NULL, struct listing, names),
        ARG_CALL("ladders", "FILE", .take = take_ladders),
    };
    static const struct command_line line = {"campaign", "CAMPAIGN", 1, 1, rows, sizeof rows / sizeof *rows, NULL};
    struct listing l = {.names = false};
    struct err e = {0};
    int words, code;
    if (!command_line_read(&line, &l, argc, argv, &words, &code))
        return code;
    l.ensembles = json_array(), l.inputs = json_array(), l.errors = json_array(), l.warnings = json_array();
    int rc = list(&l, argv[1], &e);
    json_decref(l.ensembles);
    json_decref(l.inputs);
    json_decref(l.errors);
    json_decref(l.warnings);
    json_decref(l.ladders);
    return rc ? exit_with("campaign", &e) : EXIT_OK;
}
