/* SPDX-License-Identifier: Apache-2.0
 *
 * Ladders that grow. Where neighbours of an ensemble that has ended overlap less than results need, a window is added
 * between them, in the middle of the thermodynamic length from one to the other, and in all repeats. What windows
 * repeats have says what is to be done: one that lacks a window of another gets it. So this may end at any moment and
 * be said again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/ask/results.h"
#include "client/campaign/campaign.h"
#include "engine/base/ladder/pilot.h"
#include "engine/base/number.h"

#define NEEDED 0.03 /* overlap of neighbours that results need */
#define SAME 5e-5   /* lambdas are told to 4 decimals */

enum { REPEATS_MOST = 100 };

/* The repeats of one leg of a system or an edge. */
struct family {
    const struct client *c;
    const struct campaign_view *k;
    int n;
    const json_t *planned[REPEATS_MOST];
    json_t *results[REPEATS_MOST];
    json_t *windows; /* that they are to have: [{component: lambda}] */
};

/* ---- windows ---- */

static bool is_same(const json_t *a, const json_t *b)
{
    const json_t *value;
    const char *key;
    json_object_foreach ((json_t *)a, key, value)
        if (fabs(json_number_value(value) - answer_number(b, key)) > SAME)
            return false;
    return true;
}

static bool has_window(const json_t *list, const json_t *lambda)
{
    const json_t *one;
    size_t i;
    json_array_foreach (list, i, one)
        if (is_same(one, lambda))
            return true;
    return false;
}

/* Whether one lies between two others and is neither. */
static bool is_between(const json_t *lambda, const json_t *from, const json_t *to)
{
    const json_t *value;
    const char *key;
    json_object_foreach ((json_t *)lambda, key, value) {
        const double x = json_number_value(value), a = answer_number(from, key), b = answer_number(to, key);
        if (x < fmin(a, b) - SAME || x > fmax(a, b) + SAME)
            return false;
    }
    return !is_same(lambda, from) && !is_same(lambda, to);
}

static const json_t *lambda_of(const json_t *results, int window)
{
    return json_object_get(json_array_get(json_object_get(results, "windows"), (size_t)window), "lambda");
}

/* The windows of results, once each. */
static json_t *windows_of(const json_t *results)
{
    json_t *list = json_array();
    for (int i = 0; i < (int)json_array_size(json_object_get(results, "windows")); i++)
        if (!has_window(list, lambda_of(results, i)))
            json_array_append(list, (json_t *)lambda_of(results, i));
    return list;
}

/* What lies in the middle of one step of a ladder; NULL: lambdas are too close. */
static json_t *middle_of(const json_t *results, int from)
{
    struct err e = {0};
    struct pilot p = {0};
    struct spacing s = {0};
    json_t *lambda = NULL;
    int step = 0;
    int rc = pilot_read(&p, results, &e);
    while (!rc && step < p.path.nsteps && p.steps[step].from != from)
        step++;
    if (!rc && step < p.path.nsteps) {
        const struct spacing_step one = {0, 1, {p.steps[step].deviation[0], p.steps[step].deviation[1]}};
        const int nc = p.path.ncomponents;
        double *ends = xcalloc(2 * (size_t)nc, sizeof *ends);
        memcpy(ends, p.lambda + p.steps[step].from * nc, (size_t)nc * sizeof *ends);
        memcpy(ends + nc, p.lambda + p.steps[step].to * nc, (size_t)nc * sizeof *ends);
        const struct spacing_pilot path = {2, nc, 1, ends, &one};
        lambda = spacing_make(&s, &path, 3, &e) ? NULL : json_object();
        for (int c = 0; c < nc && lambda; c++)
            json_object_set_new(lambda, p.name[c], json_real(s.lambda[nc + c]));
        free(ends);
    }
    spacing_close(&s);
    pilot_close(&p);
    return lambda;
}

/* ---- a family ---- */

/* The windows of all repeats, once each. */
static json_t *all_windows(json_t *const *results, int n)
{
    json_t *all = json_array();
    for (int i = 0; i < n; i++) {
        json_t *own = windows_of(results[i]);
        const json_t *one;
        size_t k;
        json_array_foreach (own, k, one)
            if (!has_window(all, one))
                json_array_append(all, (json_t *)one);
        json_decref(own);
    }
    return all;
}

static bool is_filled(const json_t *windows, const json_t *from, const json_t *to)
{
    const json_t *one;
    size_t k;
    json_array_foreach (windows, k, one)
        if (is_between(one, from, to))
            return true;
    return false;
}

json_t *campaign_gap_windows(json_t *const *results, int n)
{
    json_t *windows = all_windows(results, n);
    for (int i = 0; i < n; i++) {
        const json_t *pair;
        size_t k;
        json_array_foreach (json_object_get(json_object_get(results[i], "overlap"), "neighbours"), k, pair) {
            const int from = (int)answer_whole(pair, "from"), to = (int)answer_whole(pair, "to");
            if (answer_number(pair, "overlap") >= NEEDED ||
                is_filled(windows, lambda_of(results[i], from), lambda_of(results[i], to)))
                continue;
            json_t *middle = middle_of(results[i], from);
            if (middle)
                json_array_append_new(windows, middle);
        }
    }
    return windows;
}

/* ---- a family ---- */

static void put_window(const json_t *lambda, struct buf *out)
{
    const json_t *value;
    const char *key;
    buf_printf(out, "%s", out->len ? "; " : "");
    const char *join = "";
    json_object_foreach ((json_t *)lambda, key, value) {
        buf_printf(out, "%s%s: %.10g", join, key, json_number_value(value));
        join = ", ";
    }
}

/* One repeat gets what it lacks. Whether it lacked something, and got it. */
static bool fill_up(const struct family *f, int i)
{
    const json_t *one;
    size_t k;
    struct buf text = {0}, path = {0};
    struct err e = {0};
    json_t *own = windows_of(f->results[i]), *answer = NULL;
    json_array_foreach (f->windows, k, one)
        if (!has_window(own, one))
            put_window(one, &text);
    if (text.len) {
        client_path(&path, answer_text(campaign_present(f->k, f->planned[i]), "id"), "/extend?windows=");
        http_escape(&path, text.data);
        answer = client_ask(f->c, "POST", path.data, &e);
        client_say(f->c, "%s: %s %s, which closes a gap or which another repeat has%s%s",
                   answer_text(f->planned[i], "key"), answer ? "gets" : "lacks", text.data, answer ? "" : ": ",
                   answer ? "" : e.msg);
    }
    const bool got = answer != NULL;
    json_decref(answer);
    json_decref(own);
    buf_free(&text);
    buf_free(&path);
    return got;
}

static bool is_of(const json_t *a, const json_t *b)
{
    return !strcmp(answer_text(a, "leg"), answer_text(b, "leg")) &&
           !strcmp(answer_text(a, "item"), answer_text(b, "item"));
}

/* Its results, where all of them are done. ERR: the service is away. */
static int gather_family(struct family *f, const json_t *first, struct err *e)
{
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(f->k->plan, "ensembles"), i, one) {
        const json_t *there = campaign_present(f->k, one);
        if (!is_of(one, first) || f->n == REPEATS_MOST)
            continue;
        if (strcmp(answer_text(there, "state"), "done") != 0)
            return 0;
        f->planned[f->n] = one;
        f->results[f->n] = results_get(f->c, answer_text(there, "id"), false, NULL, e);
        if (!f->results[f->n])
            return -(int)e->code;
        f->n++;
    }
    f->windows = campaign_gap_windows(f->results, f->n);
    const size_t most = (size_t)answer_whole(json_object_get(f->k->plan, "ladder"), "windows");
    if (json_array_size(f->windows) <= most)
        return 0;
    client_say(f->c, "%s: %zu windows would close its gaps, and ladder.windows is %zu: it stays as it is",
               answer_text(first, "key"), json_array_size(f->windows), most);
    json_array_clear(f->windows);
    return 0;
}

int campaign_grow(const struct campaign_view *k, const struct client *c, struct err *e)
{
    const json_t *one;
    size_t i;
    int grown = 0, rc = 0;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one) {
        struct family f = {.c = c, .k = k};
        if (rc || answer_whole(one, "repeat") != 1)
            continue;
        rc = gather_family(&f, one, e);
        for (int r = 0; r < f.n; r++) {
            if (!rc && f.windows)
                grown += fill_up(&f, r);
            json_decref(f.results[r]);
        }
        json_decref(f.windows);
    }
    return rc ? rc : grown;
}
