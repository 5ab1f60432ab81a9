/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign submit: what of it is right and the service does not have yet; the rest is told of (campaign run submits
 * nothing unless all of it is right). What the service has under a key with other content stays as it is, and is told
 * of, unless --replace says otherwise.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/campaign/campaign.h"
#include "client/ensembles/confirm.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

enum { TOLD = 5 }; /* that are told by name */
enum { REMOVE_TRIES = 300, REMOVE_US = 200000 };

struct submitting {
    const struct client *c;
    const struct campaign_view *k;
    json_t *missing; /* planned ensembles */
    json_t *made;    /* what the service answered */
    json_t *files;   /* of inputs number `inputs` */
    int inputs, failed;
    struct err first; /* of those that were refused */
};

/* ---- sending ---- */

/* A file that is gone since it was looked at is missed by the service. */
static void fill(void *arg, int i, struct buf *path, struct buf *body)
{
    struct submitting *s = arg;
    const json_t *one = json_array_get(s->missing, (size_t)i);
    int inputs = (int)answer_whole(one, "inputs");
    struct err e = {0};
    if (inputs != s->inputs) {
        json_decref(s->files);
        s->files = campaign_read_files(json_array_get(json_object_get(s->k->plan, "inputs"), (size_t)inputs), &e);
        s->inputs = inputs;
    }
    json_t *all = json_pack("{s:O,s:O,s:O,s:O,s:O}", "spec", json_object_get(one, "spec"), "spec_name",
                            json_object_get(one, "spec_name"), "id", json_object_get(one, "key"), "labels",
                            json_object_get(one, "labels"), "files", s->files);
    char *text = json_dumps(all, JSON_COMPACT);
    buf_printf(path, "/v1/ensembles");
    buf_add(body, text, strlen(text));
    free(text);
    json_decref(all);
}

/* One that was there, as another command may have submitted it just now. */
static bool is_ours(const struct campaign_view *k, const json_t *there)
{
    const json_t *labels = json_object_get(there, "labels");
    const char *kind = json_object_get(labels, "pilot") ? "pilot" : "campaign";
    return !strcmp(answer_text(labels, kind), answer_text(k->plan, "name"));
}

static void done(void *arg, int i, long status, const struct buf *reply)
{
    struct submitting *s = arg;
    struct err e = {0};
    const char *key = answer_text(json_array_get(s->missing, (size_t)i), "key");
    json_t *answer = answer_object(status, reply, &e);
    if (answer && status == 200 && !is_ours(s->k, answer))
        err_set(&e, ERR_CONFLICT, "%s has this key, and not the label campaign=%s; another name would tell them apart",
                answer_text(answer, "id"), answer_text(s->k->plan, "name"));
    if (answer && status == 201)
        json_array_append(s->made, answer);
    json_decref(answer);
    if (!e.code)
        return;
    if (!s->failed++)
        s->first = e;
    printable_line(stderr, "shoal: %s: %s", key, e.msg);
}

/* ---- what makes room ---- */

/* Ended, then gone: its replicas stop soon after it was cancelled. */
static int remove_one(const struct client *c, const json_t *there, struct err *e)
{
    struct buf path = {0}, cancel = {0};
    client_path(&path, answer_text(there, "id"), "");
    buf_printf(&cancel, "%s/cancel", path.data);
    json_t *answer = ensemble_ended(answer_text(there, "state")) ? json_null() : client_ask(c, "POST", cancel.data, e);
    for (int tries = 0; answer && tries < REMOVE_TRIES; tries++) {
        json_decref(answer);
        *e = (struct err){0};
        answer = client_ask(c, "DELETE", path.data, e);
        if (answer || e->code != ERR_CONFLICT)
            break;
        usleep(REMOVE_US);
        answer = json_null();
    }
    json_decref(answer);
    buf_free(&path);
    buf_free(&cancel);
    return -(int)e->code;
}

/* Those that differ are no longer present. ERR_CONFLICT: the answer to the question was no, or one does not stop. */
static int replace(const struct client *c, struct campaign_view *k, struct err *e)
{
    json_t *old = json_array(), *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        if (campaign_differs(k, one))
            json_array_append(old, (json_t *)campaign_present(k, one));
    if (json_array_size(old) &&
        !ask_about(c, "remove these ensembles with all their files, for ever, and submit them with other content", old))
        err_set(e, ERR_CONFLICT, "%s: nothing is replaced, and nothing is submitted", k->file);
    json_array_foreach (old, i, one) {
        if (e->code || remove_one(c, one, e))
            break;
        client_say(c, "%s, which was %s, is removed", answer_text(one, "key"), answer_text(one, "id"));
        json_object_del(k->present, answer_text(one, "key"));
    }
    json_decref(old);
    return -(int)e->code;
}

/* ---- all of it ---- */

/* Whether it can be submitted; what is wrong with it is among the errors of the plan. */
static bool is_right(const json_t *planned)
{
    return json_is_string(json_object_get(planned, "spec"));
}

static int count_wrong(const struct campaign_view *k)
{
    const json_t *one;
    size_t i;
    int n = 0;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        n += !is_right(one);
    return n;
}

static int send_missing(struct submitting *s)
{
    struct err e = {0};
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(s->k->plan, "ensembles"), i, one)
        if (is_right(one) && !campaign_present(s->k, one))
            json_array_append(s->missing, (json_t *)one);
    struct http_batch batch = {
        .method = "POST", .count = (int)json_array_size(s->missing), .arg = s, .fill = fill, .done = done};
    if (http_batch(s->c->http, &batch, &e))
        printable_line(stderr, "shoal: %s", e.msg);
    return e.code ? err_exit(e.code) : s->failed ? err_exit(s->first.code) : EXIT_OK;
}

/* Which ensembles have a hole; the errors before say why. */
static void say_wrong(const struct campaign_view *k, int wrong)
{
    const json_t *one;
    struct buf keys = {0};
    size_t i;
    int n = 0;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        if (!is_right(one) && n++ < TOLD)
            buf_printf(&keys, "%s%s", keys.len ? ", " : "", answer_text(one, "key"));
    if (wrong)
        printable_line(stderr,
                       "shoal: %d %s not submitted, for what is said above: %s%s; said again once that is right, this "
                       "submits them",
                       wrong, number_word(wrong, "ensemble was", "ensembles were"), keys.data,
                       wrong > TOLD ? ", .." : "");
    buf_free(&keys);
}

static int submit_all(const struct client *c, const struct campaign_view *k, json_t **answer)
{
    struct submitting s = {.c = c, .k = k, .missing = json_array(), .made = json_array(), .inputs = -1};
    size_t planned = json_array_size(json_object_get(k->plan, "ensembles"));
    int rc = send_missing(&s), differ = campaign_say_differences(c, k);
    const int wrong = count_wrong(k);
    long long before = (long long)(planned - json_array_size(s.made)) - s.failed - wrong;
    client_say(c, "%zu of %zu %s submitted, %lld %s there before%s; `shoal campaign status %s` tells how they do",
               json_array_size(s.made), planned, number_word((int64_t)planned, "ensemble", "ensembles"), before,
               number_word(before, "was", "were"), differ ? ", some with other content" : "", k->file);
    say_wrong(k, wrong);
    *answer = json_pack("{s:O,s:I,s:I,s:i,s:i,s:i}", "submitted", s.made, "planned", (json_int_t)planned, "present",
                        (json_int_t)before, "differ", differ, "refused", s.failed, "wrong", wrong);
    json_decref(s.missing);
    json_decref(s.made);
    json_decref(s.files);
    return rc != EXIT_OK ? rc : wrong ? EXIT_BAD_SPEC : differ ? EXIT_REFUSED : EXIT_OK;
}

/* Whether what is wrong keeps all of it from being submitted: it is wrong with no ensemble alone, or nothing else is
 * left. */
static bool is_hopeless(const struct campaign_view *k, bool holes, bool part)
{
    const json_t *budget = json_object_get(k->plan, "budget"), *all = json_object_get(k->plan, "ensembles"), *one;
    const int wrong = count_wrong(k);
    double ns = 0;
    size_t i;
    if (!json_array_size(json_object_get(k->plan, "errors")))
        return false;
    json_array_foreach (all, i, one)
        ns += answer_number(json_object_get(one, "production"), "ns") * (double)answer_whole(one, "replicas");
    bool beyond = json_is_object(budget) && ns > answer_number(budget, "ns") * (1 + 1e-9);
    return !holes || beyond || (!wrong && !part) || wrong == (int)json_array_size(all);
}

static void say_warning(const struct client *c, const char *text, json_t *said)
{
    if (!json_object_get(said, text))
        client_say(c, "warning: %s", text);
    if (said)
        json_object_set_new(said, text, json_true());
}

/* Those that are not in `said` (an object, its keys), which gets them; NULL: all. */
static void say_warnings(const struct campaign_view *k, const struct client *c, json_t *said)
{
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "warnings"), i, one)
        say_warning(c, json_string_value(one), said);
    json_array_foreach (k->unplaced, i, one)
        say_warning(c, answer_text(one, "text"), said);
}

/* holes: what is right is submitted, also where not all of it is. */
static int send(struct campaign_view *k, struct client *c, const char *file, bool holes, json_t *said, json_t **answer)
{
    struct err e = {0};
    const json_t *one;
    size_t i;
    int rc = campaign_open(k, c, file, false);
    *answer = NULL;
    if (rc == EXIT_OK)
        rc = campaign_place(k, c, &e);
    if (e.code)
        return client_fail(c, &e);
    if (rc != EXIT_OK)
        return rc;
    const bool part = campaign_is_part(c), bad = count_wrong(k) || !part;
    json_array_foreach (json_object_get(k->plan, "errors"), i, one)
        if (bad)
            printable_line(stderr, "shoal: %s", json_string_value(one));
    if (!holes && part && json_is_object(json_object_get(k->plan, "budget")))
        err_set(&e, ERR_USAGE, "%s: a part is meant, but its budget is for all of its ensembles together", file);
    else if (is_hopeless(k, holes, part))
        err_set(&e, ERR_SPEC,
                holes ? "%s: nothing of it can be submitted" : "%s: nothing is submitted before all of it is right",
                file);
    if (!e.code && !campaign_look(k, c, &e) && c->replace)
        replace(c, k, &e);
    if (e.code)
        return client_fail(c, &e);
    say_warnings(k, c, said);
    return submit_all(c, k, answer);
}

int campaign_send(struct campaign_view *k, struct client *c, const char *file, json_t *said, json_t **answer)
{
    return send(k, c, file, false, said, answer);
}

int campaign_submit(struct client *c, const char *file)
{
    struct campaign_view k;
    json_t *answer;
    int rc = send(&k, c, file, true, NULL, &answer);
    if (answer)
        campaign_say_ladders(&k, c);
    if (answer && k.waiting)
        client_say(c,
                   "%d %s for a pilot that places its windows: say this again when the pilots have ended, or "
                   "`shoal campaign run %s`, which waits for them",
                   k.waiting, number_word(k.waiting, "leg waits", "legs wait"), file);
    if (answer && c->json)
        client_print(answer);
    else if (answer)
        printf("%zu\n", json_array_size(json_object_get(answer, "submitted")));
    json_decref(answer);
    rc = rc == EXIT_OK ? campaign_unplaced(&k, false) : rc;
    campaign_close(&k);
    return rc;
}
