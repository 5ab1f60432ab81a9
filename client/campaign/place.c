/* SPDX-License-Identifier: Apache-2.0
 *
 * Campaigns that place the windows of their legs themselves (`ladder`). A leg of a system or an edge goes this way, in
 * rounds:
 *
 *   pilot 1, on the ladder of the spec --> windows at equal thermodynamic length --> pilot 2, on these
 *     pilot 2 overlaps as results need, and would put windows nearly there again --> all repeats have these
 *     else --> windows anew, from what it sampled --> pilot 3, and so on
 *
 * What there is to do next follows from what the service has: pilots are ensembles with keys and labels of their own,
 * and the same results give the same windows. So this may end at any moment and be said again. Repeats that are there
 * say which windows were chosen by their label `ladder`, the key of the pilot that proved them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/results.h"
#include "client/campaign/campaign.h"
#include "client/division/kept.h"
#include "engine/base/ladder/pilot.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

#define PROVEN 0.03 /* overlap of neighbours that results need */

enum { ROUNDS = 5 };

struct pilot_placing {
    const struct client *c;
    const struct campaign_view *k;
    json_t *ladders;  /* LEG/ITEM -> what shoal-worker takes */
    json_t *unplaced; /* as of the campaign */
    int waiting;      /* pilots that are missing, or have not ended */
};

/* ---- one pilot ---- */

/* The service's ensemble of a pilot; NULL: there is none. */
static const json_t *find_pilot(const struct pilot_placing *p, const json_t *planned, int round)
{
    const json_t *one, *labels = json_object_get(planned, "labels");
    const char *key, *of = answer_text(planned, "of"), *item = answer_text(labels, of),
                     *leg = answer_text(planned, "leg");
    char number[16];
    snprintf(number, sizeof number, "%d", round);
    json_object_foreach (p->k->present, key, one) {
        const json_t *its = json_object_get(one, "labels");
        if (json_object_get(its, "pilot") && !strcmp(answer_text(its, of), item) &&
            !strcmp(answer_text(its, "leg"), leg) && !strcmp(answer_text(its, "round"), number))
            return one;
    }
    return NULL;
}

/* {component: [lambdas]} of n windows. */
static json_t *windows_json(const struct pilot *of, const double *lambda, int n)
{
    json_t *windows = json_object();
    const int nc = of->path.ncomponents;
    for (int c = 0; c < nc; c++) {
        json_t *values = json_array();
        for (int k = 0; k < n; k++)
            json_array_append_new(values, json_real(lambda[k * nc + c]));
        json_object_set_new(windows, of->name[c], values);
    }
    return windows;
}

/* The windows that a pilot proposes. */
static json_t *proposed(const struct pilot_placing *p, const struct pilot *of, const char *key, struct err *e)
{
    const json_t *wanted = json_object_get(p->k->plan, "ladder");
    const double aim = answer_number(wanted, "overlap");
    const int most = (int)answer_whole(wanted, "windows"), n = spacing_fewest(&of->path, aim);
    struct spacing s = {0};
    json_t *windows = NULL;
    if (!n || n > most)
        err_set(
            e, ERR_ESTIMATE,
            "%s: an overlap of %g of all neighbours takes %s%d windows; expected a larger ladder.windows, a smaller "
            "ladder.overlap, or another path (soft-core)",
            key, aim, n ? "" : "more than ", n ? n : SPACING_MOST);
    else if (!spacing_make(&s, &of->path, n, e))
        windows = windows_json(of, s.lambda, n);
    spacing_close(&s);
    return windows;
}

/* Whether the repeats are to have this pilot's windows: neighbours overlap as results need, by what was aimed at or
 * nearly as expected, and no more than one window in eight is spare. The first round's windows are the spec's, which
 * nobody placed. The last round takes what results need. */
static bool is_proven(const struct pilot_placing *p, const struct pilot *of, int round)
{
    const double aim = answer_number(json_object_get(p->k->plan, "ladder"), "overlap");
    const int n = of->path.nstates, spare = n - spacing_fewest(&of->path, aim);
    const bool placed = of->measured >= aim || pilot_expected(of) >= 0.5 * aim;
    return round > 1 && of->measured >= PROVEN && ((placed && spare <= (n > 8 ? n / 8 : 1)) || round == ROUNDS);
}

/* Of a pilot that has ended; without a service, what its share has kept. */
static json_t *results_of(const struct client *c, const json_t *there, struct err *e)
{
    if (c->http)
        return results_get(c, answer_text(there, "id"), false, NULL, e);
    struct buf text = {0};
    json_t *results = kept_file(&text, c->division, there, ".json", e)
                          ? NULL
                          : json_loadb(text.data ? text.data : "", text.len, 0, NULL);
    if (!results && !e->code)
        err_set(e, ERR_PROTOCOL, "%s: its results, which its share has kept, are no JSON", answer_text(there, "key"));
    buf_free(&text);
    return results;
}

/* What follows from a pilot that has ended: an entry of the ladders; NULL with *e. */
static json_t *judge(const struct pilot_placing *p, const json_t *there, int round, struct err *e)
{
    const char *key = answer_text(there, "key");
    struct pilot of = {0};
    json_t *entry = NULL, *windows, *results = results_of(p->c, there, e);
    int rc = results ? pilot_read(&of, results, e) : -(int)e->code;
    if (!rc && is_proven(p, &of, round)) {
        windows = windows_json(&of, of.lambda, of.path.nstates);
        entry = json_pack("{s:o,s:s,s:f,s:f}", "windows", windows, "from", key, "overlap", of.measured, "length",
                          pilot_length(&of));
    } else if (!rc && round == ROUNDS) {
        err_set(e, ERR_ESTIMATE,
                "%s: neighbours of the last of %d pilots overlap by %.2g at the least, and results need %g; expected a "
                "longer ladder.pilot, or another path (soft-core)",
                key, ROUNDS, of.measured, PROVEN);
    } else if (!rc && (windows = proposed(p, &of, key, e))) {
        entry = json_pack("{s:o,s:i}", "windows", windows, "pilot", round + 1);
    }
    if (e->code && strncmp(e->msg, key, strlen(key)) != 0)
        err_prefix(e, "%s", key);
    pilot_close(&of);
    json_decref(results);
    return entry;
}

/* ---- one leg of a system or an edge ---- */

/* What keeps one leg from windows, and no other: its pilots do not overlap, or one of them has failed or was cancelled.
 */
static bool is_of_leg(const struct err *why)
{
    return why->code == ERR_ESTIMATE || why->code == ERR_CONFLICT;
}

static int place_item(struct pilot_placing *p, const json_t *planned, struct err *e)
{
    struct buf name = {0};
    buf_printf(&name, "%s/%s", answer_text(planned, "leg"), answer_text(planned, "item"));
    json_t *entry = NULL;
    int round = 1;
    for (;; round++) {
        const json_t *there = find_pilot(p, planned, round);
        const char *state = answer_text(there, "state");
        if (!there || !ensemble_ended(state)) {
            p->waiting++;
            break;
        }
        json_decref(entry);
        entry = NULL;
        if (strcmp(state, "done") != 0)
            err_set(e, ERR_CONFLICT, "%s is %s%s%s; `shoal retry` or `shoal rm` it", answer_text(there, "key"), state,
                    *answer_text(there, "reason") ? ": " : "", answer_text(there, "reason"));
        else
            entry = judge(p, there, round, e);
        if (!entry || json_object_get(entry, "from"))
            break;
    }
    if (entry)
        json_object_set(p->ladders, name.data, entry);
    json_decref(entry);
    buf_free(&name);
    return -(int)e->code;
}

/* Entries of the ladders, from the pilots that have ended. */
static int place_all(struct campaign_view *k, const struct client *c, struct err *e)
{
    struct pilot_placing p = {.c = c, .k = k, .ladders = json_object(), .unplaced = json_array()};
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one) {
        struct err why = {0};
        if (!e->code && place_item(&p, one, &why) && is_of_leg(&why))
            json_array_append_new(p.unplaced, json_pack("{s:i,s:s}", "code", (int)why.code, "text", why.msg));
        else if (!e->code)
            *e = why;
    }
    json_decref(k->ladders);
    json_decref(k->unplaced);
    k->ladders = p.ladders;
    k->unplaced = p.unplaced;
    k->waiting = p.waiting;
    return -(int)e->code;
}

int campaign_place(struct campaign_view *k, const struct client *c, struct err *e)
{
    if (!json_is_object(json_object_get(k->plan, "ladder")) || json_array_size(json_object_get(k->plan, "errors")))
        return EXIT_OK;
    if ((!k->present && campaign_look(k, c, e)) || place_all(k, c, e))
        return err_exit(e->code);
    return json_object_size(k->ladders) ? campaign_reopen(k, c) : EXIT_OK;
}

int campaign_unplaced(const struct campaign_view *k, bool say)
{
    const json_t *one;
    size_t i;
    json_array_foreach (k->unplaced, i, one)
        if (say)
            printable_line(stderr, "shoal: %s", answer_text(one, "text"));
    return i ? err_exit((enum err_code)answer_whole(json_array_get(k->unplaced, 0), "code")) : EXIT_OK;
}

/* ---- what was chosen ---- */

void campaign_say_ladders(const struct campaign_view *k, const struct client *c)
{
    const char *name, *component;
    const json_t *entry, *ladder, *value;
    size_t i;
    json_object_foreach (k->ladders, name, entry) {
        struct buf text = {0};
        if (!json_object_get(entry, "from"))
            continue;
        json_object_foreach ((json_t *)json_object_get(entry, "windows"), component, ladder) {
            buf_printf(&text, "%s%s: [", text.len ? ", " : "", component);
            json_array_foreach (ladder, i, value)
                buf_printf(&text, "%s%.4g", i ? ", " : "", json_number_value(value));
            buf_printf(&text, "]");
        }
        client_say(c, "%s: %s; neighbours overlap by %.2g or more in %s, thermodynamic length %.3g", name, text.data,
                   answer_number(entry, "overlap"), answer_text(entry, "from"), answer_number(entry, "length"));
        buf_free(&text);
    }
}
