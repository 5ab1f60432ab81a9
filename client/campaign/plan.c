/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign plan: what would be submitted. campaign status: what became of it.
 */
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/campaign/campaign.h"
#include "client/division/kept.h"
#include "client/show/show.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

/* ---- plan ---- */

/* Of one leg, or of all. */
struct sum {
    long long ensembles, replicas, there, missing, differ, wrong;
    double ns, bytes;
};

static void sum_add(struct sum *s, const struct campaign_view *k, const json_t *one)
{
    s->ensembles++;
    s->replicas += answer_whole(one, "replicas");
    s->ns += answer_number(one, "ns") * (double)answer_whole(one, "replicas");
    s->bytes += answer_number(one, "disk_bytes");
    s->there += campaign_present(k, one) != NULL;
    s->differ += campaign_differs(k, one);
    const bool right = json_is_string(json_object_get(one, "spec"));
    s->missing += right && !campaign_present(k, one);
    s->wrong += !right;
}

static struct sum sum_of_leg(const struct campaign_view *k, const char *leg)
{
    struct sum s = {0};
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        if (!leg || !strcmp(leg, answer_text(one, "leg")))
            sum_add(&s, k, one);
    return s;
}

static void put_sum(const struct campaign_view *k, struct table *t, const char *leg, const char *of,
                    const struct sum *s, bool any_wrong)
{
    struct buf bytes = {0};
    number_bytes(&bytes, s->bytes);
    table_cell(t, "%s", leg);
    table_cell(t, "%s", of);
    table_cell(t, "%lld", s->ensembles);
    table_cell(t, "%lld", s->replicas);
    table_cell(t, "%.6g", s->ns);
    table_cell(t, "%s", bytes.data);
    if (k->present)
        table_cell(t, "%lld", s->there);
    else
        table_cell(t, "?");
    if (k->present)
        table_cell(t, "%lld", s->missing);
    else
        table_cell(t, "?");
    table_cell(t, "%lld", s->differ);
    if (any_wrong)
        table_cell(t, "%lld", s->wrong);
    else
        table_cell(t, "%s", "");
    buf_free(&bytes);
}

static void print_plan(const struct client *c, const struct campaign_view *k)
{
    static const char *const heads[] = {"leg",  "of",        "ensembles", "replicas", "ns",
                                        "disk", "submitted", "missing",   "differ",   "wrong"};
    struct table t;
    const json_t *leg;
    size_t i;
    table_setup(&t, "l l r r r r4 r r r r");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    struct sum all = sum_of_leg(k, NULL);
    json_array_foreach (json_object_get(k->plan, "legs"), i, leg) {
        struct sum s = sum_of_leg(k, answer_text(leg, "name"));
        if (s.ensembles || !campaign_is_part(c))
            put_sum(k, &t, answer_text(leg, "name"), answer_text(leg, "of"), &s, all.wrong > 0);
    }
    put_sum(k, &t, "all", "", &all, all.wrong > 0);
    client_table(c, &t);
}

/* "missing", "differs" or the state it is in; NULL: not known. */
static const char *state_of(const struct campaign_view *k, const json_t *one)
{
    const json_t *there = campaign_present(k, one);
    return !k->present ? NULL : !there ? "missing" : campaign_differs(k, one) ? "differs" : answer_text(there, "state");
}

static void print_plan_json(const struct campaign_view *k)
{
    struct sum all = sum_of_leg(k, NULL);
    json_t *ensembles = json_array(), *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one) {
        json_t *copy = json_copy(one);
        json_object_del(copy, "inputs");
        json_object_del(copy, "production");
        json_object_del(copy, "family");
        json_object_set_new(copy, "state", state_of(k, one) ? json_string(state_of(k, one)) : json_null());
        json_array_append_new(ensembles, copy);
    }
    json_t *out = json_pack("{s:O,s:I,s:I,s:f,s:f,s:O,s:o,s:O,s:O}", "name", json_object_get(k->plan, "name"), "count",
                            (json_int_t)all.ensembles, "replicas", (json_int_t)all.replicas, "ns", all.ns, "disk_bytes",
                            all.bytes, "budget", json_object_get(k->plan, "budget"), "ensembles", ensembles, "errors",
                            json_object_get(k->plan, "errors"), "warnings", json_object_get(k->plan, "warnings"));
    client_print(out);
    json_decref(out);
}

static void say_budget(const struct client *c, const struct campaign_view *k)
{
    const json_t *budget = json_object_get(k->plan, "budget"), *one;
    double first = 0;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        first += answer_number(json_object_get(one, "production"), "ns") * (double)answer_whole(one, "replicas");
    if (json_is_object(budget))
        client_say(c, "of %.6g ns of production %.6g are as the specs say, the rest is handed out by need in %lld %s",
                   answer_number(budget, "ns"), first, answer_whole(budget, "rounds"),
                   number_word(answer_whole(budget, "rounds"), "round", "rounds"));
}

int campaign_plan(struct client *c, const char *file)
{
    struct campaign_view k;
    struct err e = {0};
    const json_t *one;
    size_t i;
    int rc = campaign_open(&k, c, file, false);
    if (rc == EXIT_OK && campaign_look(&k, c, &e))
        client_say(c, "what was submitted is not known: %s", e.msg);
    if (rc == EXIT_OK && k.present)
        rc = campaign_place(&k, c, &e);
    if (k.present && e.code) {
        rc = client_fail(c, &e);
    } else if (rc == EXIT_OK) {
        if (c->json)
            print_plan_json(&k);
        else
            print_plan(c, &k);
        say_budget(c, &k);
        campaign_say_ladders(&k, c);
        if (k.waiting)
            client_say(c, "%d %s for a pilot that places its windows; its repeats are not counted yet", k.waiting,
                       number_word(k.waiting, "leg waits", "legs wait"));
        json_array_foreach (json_object_get(k.plan, "warnings"), i, one)
            client_say(c, "warning: %s", json_string_value(one));
        json_array_foreach (json_object_get(k.plan, "errors"), i, one)
            printable_line(stderr, "shoal: %s", json_string_value(one));
        rc = campaign_unplaced(&k, true);
        rc = json_array_size(json_object_get(k.plan, "errors")) ? EXIT_BAD_SPEC : rc;
    }
    campaign_close(&k);
    return rc;
}

/* ---- status ---- */

static void status_row(const struct campaign_view *k, struct table *t, const json_t *one)
{
    const json_t *there = campaign_present(k, one);
    struct buf so_far = {0};
    if (there)
        answer_estimate(&so_far, there);
    table_cell(t, "%s", answer_text(one, "item"));
    table_cell(t, "%s", answer_text(one, "leg"));
    table_cell(t, "%lld", answer_whole(one, "repeat"));
    table_cell(t, "%s", there ? answer_text(there, "id") : "-");
    table_state(t, there ? answer_text(there, "state") : "missing");
    if (there)
        table_cell(t, "%d %%", (int)(100 * answer_number(there, "progress")));
    else
        table_cell(t, "-");
    table_cell(t, "%s", so_far.data ? so_far.data : "");
    table_cell(t, "%s", there ? answer_text(there, "reason") : "");
    buf_free(&so_far);
}

static void status_table(const struct client *c, const struct campaign_view *k)
{
    static const char *const heads[] = {"item", "leg", "repeat", "id", "state", "progress", "so far", "reason"};
    struct table t;
    const json_t *one;
    size_t i;
    table_setup(&t, "l~ l r l l r l4 l~5");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        status_row(k, &t, one);
    client_table(c, &t);
}

static void print_status_json(const struct campaign_view *k)
{
    json_t *ensembles = json_array(), *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one) {
        const json_t *there = campaign_present(k, one);
        json_t *copy = json_copy(one);
        json_object_set_new(copy, "state", json_string(there ? answer_text(there, "state") : "missing"));
        json_object_set(copy, "ensemble", there ? (json_t *)there : json_null());
        json_array_append_new(ensembles, copy);
    }
    json_t *out = json_pack("{s:O,s:o}", "name", json_object_get(k->plan, "name"), "ensembles", ensembles);
    client_print(out);
    json_decref(out);
}

void campaign_status_print(const struct client *c, const struct campaign_view *k)
{
    if (c->json)
        print_status_json(k);
    else
        status_table(c, k);
}

/* Of pilots that have not ended, whose legs have no repeats yet. */
static void say_pilots(const struct client *c, const struct campaign_view *k)
{
    const json_t *one;
    const char *key;
    int n = 0;
    json_object_foreach (k->present, key, one)
        n += json_object_get(json_object_get(one, "labels"), "pilot") && !ensemble_ended(answer_text(one, "state"));
    if (n)
        client_say(c, "%d %s under way: repeats follow when the windows are placed", n,
                   number_word(n, "pilot is", "pilots are"));
}

int campaign_status(struct client *c, const char *file)
{
    struct campaign_view k;
    struct err e = {0};
    int rc = campaign_open(&k, c, file, true);
    if (rc == EXIT_OK && campaign_look(&k, c, &e))
        rc = client_fail(c, &e);
    else if (rc == EXIT_OK)
        campaign_status_print(c, &k);
    if (rc == EXIT_OK && c->division)
        kept_say(c, file);
    say_pilots(c, &k);
    campaign_close(&k);
    return rc;
}
