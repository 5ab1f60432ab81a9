/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.json of a divided campaign: {"campaign", "file": its text, "shares", "ensembles": [{"key", "hash", "share"}],
 * "budgets": [ns of each share]}, the last where the campaign has a budget. Where it has a ladder, keys are those of
 * units.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/division/divide.h"
#include "client/division/division.h"
#include "client/division/lines.h"
#include "client/division/units.h"
#include "engine/base/json/text_json.h"
#include "engine/base/path.h"

/* ---- making one ---- */

/* share[units] */
static int64_t *find_shares(const json_t *units, int64_t shares)
{
    const int n = (int)json_array_size(units);
    double *cost = xcalloc((size_t)n + 1, sizeof *cost);
    int64_t *share = xcalloc((size_t)n + 1, sizeof *share);
    for (int i = 0; i < n; i++)
        cost[i] = divide_cost(json_array_get(units, (size_t)i));
    divide(cost, n, shares, share);
    free(cost);
    return share;
}

static json_t *list_units(const json_t *units, const int64_t *share)
{
    json_t *list = json_array();
    const json_t *one;
    size_t i;
    json_array_foreach (units, i, one)
        json_array_append_new(list, json_pack("{s:O,s:O,s:I}", "key", json_object_get(one, "key"), "hash",
                                              json_object_get(one, "hash"), "share", (json_int_t)share[i]));
    return list;
}

static json_t *make(const json_t *plan, const json_t *units, const struct buf *text, int64_t shares)
{
    shares = shares ? shares : divide_count(units);
    int64_t *share = find_shares(units, shares);
    json_t *made = json_pack("{s:O,s:o,s:I,s:o}", "campaign", json_object_get(plan, "name"), "file",
                             text_json(text->data ? text->data : "", text->len), "shares", (json_int_t)shares,
                             "ensembles", list_units(units, share));
    if (json_is_object(json_object_get(plan, "budget")))
        json_object_set_new(made, "budgets", units_budgets(plan, units, share, shares));
    free(share);
    return made;
}

/* Shares that begin at once all write it: the first counts, and all read what it wrote. */
static int write_once(const char *folder, const json_t *division, struct err *e)
{
    char *text = json_dumps(division, JSON_INDENT(1));
    char host[256] = "";
    struct buf path = {0}, own = {0};
    gethostname(host, sizeof host - 1);
    buf_printf(&path, "%s/plan.json", folder);
    buf_printf(&own, "%s.%s.%ld", path.data, host, (long)getpid());
    int rc = path_make_parents(path.data, 0777, e);
    if (!rc)
        rc = buf_write_file(own.data, text, strlen(text), e);
    if (!rc && link(own.data, path.data) && errno != EEXIST)
        rc = err_errno(e, "%s", path.data);
    unlink(own.data);
    buf_free(&own);
    buf_free(&path);
    free(text);
    return rc;
}

/* ---- holding a plan to it ---- */

static int check_file(const json_t *division, const char *file, const struct buf *text, const char *folder,
                      struct err *e)
{
    const char *there = json_string_value(json_object_get(division, "file"));
    json_t *now = text_json(text->data ? text->data : "", text->len);
    const char *here = json_string_value(now);
    struct buf before = {0}, after = {0};
    const int line = 1 + lines_same(&there, &here);
    if (*there || *here) {
        lines_quote(&before, there);
        lines_quote(&after, here);
        err_set(e, ERR_CONFLICT,
                "%s:%d: %s was divided, %s is there now; %s/plan.json has the file as it was: expected that, or "
                "another folder",
                file, line, before.data, after.data, folder);
    }
    buf_free(&before);
    buf_free(&after);
    json_decref(now);
    return -(int)e->code;
}

/* {key: unit} */
static json_t *by_key(const json_t *units)
{
    json_t *keys = json_object(), *one;
    size_t i;
    json_array_foreach (units, i, one)
        json_object_set(keys, answer_text(one, "key"), one);
    return keys;
}

/* Tables, specs, topologies and coordinates are not in the campaign's file. */
static int check_units(json_t *divided, json_t *planned, const char *folder, struct err *e)
{
    json_t *one;
    const char *key;
    json_object_foreach (planned, key, one) {
        const json_t *there = json_object_get(divided, key);
        const char *hash = answer_text(one, "hash");
        if (!there)
            return err_set(e, ERR_CONFLICT, "%s: it was not there when %s was divided: expected another folder", key,
                           folder);
        if (*hash && strcmp(hash, answer_text(there, "hash")) != 0)
            return err_set(e, ERR_CONFLICT,
                           "%s: its spec, topology or coordinates have changed since %s was divided: expected them as "
                           "they were, or another folder",
                           key, folder);
    }
    json_object_foreach (divided, key, one)
        if (!json_object_get(planned, key))
            return err_set(e, ERR_CONFLICT, "%s: it was there when %s was divided, and is not planned now", key,
                           folder);
    return 0;
}

static int check_same(const json_t *division, const json_t *units, const char *folder, struct err *e)
{
    json_t *divided = by_key(json_object_get(division, "ensembles")), *planned = by_key(units);
    int rc = check_units(divided, planned, folder, e);
    json_decref(divided);
    json_decref(planned);
    return rc;
}

static int check_shares(const json_t *division, int64_t shares, const char *folder, struct err *e)
{
    const long long said = answer_whole(division, "shares");
    return shares && said != shares
               ? err_set(e, ERR_USAGE, "%s: this campaign is divided in %lld shares, and not in %lld", folder, said,
                         (long long)shares)
               : 0;
}

/* ---- all of it ---- */

json_t *division_read(const char *folder, struct err *e)
{
    struct buf path = {0}, text = {0};
    json_t *division = NULL;
    buf_printf(&path, "%s/plan.json", folder);
    if (!buf_read_file(&text, path.data, e)) {
        division = json_loadb(text.data ? text.data : "", text.len, 0, NULL);
        if (answer_whole(division, "shares") < 1 || !json_is_string(json_object_get(division, "file")))
            err_set(e, ERR_PROTOCOL, "%s: expected the plan of a divided campaign, as shoal writes it", path.data);
    }
    if (e->code) {
        json_decref(division);
        division = NULL;
    }
    buf_free(&text);
    buf_free(&path);
    return division;
}

static int check_most(const json_t *plan, const json_t *units, int64_t shares, struct err *e)
{
    const size_t most = json_array_size(units);
    const bool families = json_is_object(json_object_get(plan, "ladder"));
    return shares > (int64_t)most
               ? err_set(e, ERR_USAGE, "%lld shares of %zu %s: expected at most as many shares as %s",
                         (long long)shares, most,
                         families ? "legs of systems and edges, whose repeats have one ladder" : "ensembles",
                         families ? "of these" : "ensembles")
               : 0;
}

/* plan.json, or what it would be. */
static json_t *find(const struct client *c, const json_t *plan, const json_t *units, const struct buf *text,
                    int64_t shares, bool writes, struct err *e)
{
    if (division_is(c->division))
        return division_read(c->division, e);
    if (check_most(plan, units, shares, e))
        return NULL;
    json_t *made = make(plan, units, text, shares);
    if (!writes)
        return made;
    int rc = write_once(c->division, made, e);
    json_decref(made);
    return rc ? NULL : division_read(c->division, e);
}

json_t *division_plan(const struct client *c, const char *file, const json_t *plan, int64_t shares, bool writes,
                      struct err *e)
{
    struct buf text = {0};
    json_t *division = NULL, *units = units_of(plan);
    if (!buf_read_file(&text, file, e))
        division = find(c, plan, units, &text, shares, writes, e);
    if (division &&
        (check_shares(division, shares, c->division, e) || check_file(division, file, &text, c->division, e) ||
         check_same(division, units, c->division, e))) {
        json_decref(division);
        division = NULL;
    }
    json_decref(units);
    buf_free(&text);
    return division;
}

/* The share's part in place of the whole, which is "all". */
static void choose_budget(json_t *plan, const json_t *division, int64_t share)
{
    json_t *budget = json_object_get(plan, "budget");
    if (!json_is_object(budget))
        return;
    json_object_set(budget, "all", json_object_get(budget, "ns"));
    json_object_set(budget, "ns", json_array_get(json_object_get(division, "budgets"), (size_t)share));
}

static void choose(json_t *plan, const json_t *division, int64_t share)
{
    json_t *chosen = json_array(), *divided = by_key(json_object_get(division, "ensembles")), *one;
    size_t i;
    json_array_foreach (json_object_get(plan, "ensembles"), i, one) {
        struct buf key = {0};
        units_key(&key, plan, one);
        if (answer_whole(json_object_get(divided, key.data), "share") == share)
            json_array_append(chosen, one);
        buf_free(&key);
    }
    json_object_set_new(plan, "ensembles", chosen);
    choose_budget(plan, division, share);
    json_decref(divided);
}

int division_choose(const struct client *c, const char *file, json_t *plan, struct err *e)
{
    json_t *division = division_plan(c, file, plan, c->share.of, true, e);
    if (division)
        choose(plan, division, c->share.at);
    json_decref(division);
    return -(int)e->code;
}
