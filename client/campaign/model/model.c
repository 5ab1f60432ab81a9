/* SPDX-License-Identifier: Apache-2.0 */
#include "client/campaign/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/division/division.h"
#include "client/division/kept.h"
#include "client/programs/worker.h"

/* ---- the file ---- */

static int take_plan(struct campaign_view *k, const struct buf *text)
{
    struct err e = {0};
    k->plan = json_loadb(text->data ? text->data : "", text->len, 0, NULL);
    if (k->plan)
        return EXIT_OK;
    err_set(&e, ERR_INTERNAL, "shoal-worker campaign printed no JSON");
    return client_fail(&(struct client){0}, &e);
}

/* Where something is wrong with a plan, nothing of it is submitted, and it is not divided. */
static bool takes_share(const struct client *c, const struct campaign_view *k)
{
    return c->share.of && !json_array_size(json_object_get(k->plan, "errors"));
}

/* ladders: a file for --ladders, NULL: none. */
static int read_plan(struct campaign_view *k, const struct client *c, bool names, const char *ladders)
{
    char *words[2 * LISTED_MAX + 8];
    struct err e = {0};
    int n = 0;
    struct buf text = {0};
    words[n++] = "shoal-worker";
    words[n++] = "campaign";
    for (int i = 0; i < c->nincludes; i++) {
        words[n++] = "--include";
        words[n++] = (char *)c->includes[i];
    }
    if (names)
        words[n++] = "--names";
    if (ladders) {
        words[n++] = "--ladders";
        words[n++] = (char *)ladders;
    }
    words[n++] = "--";
    words[n++] = (char *)k->file;
    words[n] = NULL;
    fflush(stdout);
    int rc = ask_worker(c, words, &text);
    if (rc == EXIT_OK)
        rc = take_plan(k, &text);
    if (rc == EXIT_OK && ((takes_share(c, k) && division_choose(c, k->file, k->plan, &e)) ||
                          (campaign_is_part(c) && campaign_choose(k, c, &e))))
        rc = client_fail(c, &e);
    buf_free(&text);
    return rc;
}

int campaign_open(struct campaign_view *k, const struct client *c, const char *file, bool names)
{
    *k = (struct campaign_view){.file = file};
    return read_plan(k, c, names, NULL);
}

/* The worker gets the ladders by a file without a name, which it inherits. */
int campaign_reopen(struct campaign_view *k, const struct client *c)
{
    char path[32];
    struct err e = {0};
    FILE *f = tmpfile();
    if (!f || json_dumpf(k->ladders, f, JSON_COMPACT) || fflush(f)) {
        err_errno(&e, "a temporary file for ladders");
        if (f)
            fclose(f);
        return client_fail(c, &e);
    }
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(f));
    json_decref(k->plan);
    k->plan = NULL;
    int rc = read_plan(k, c, false, path);
    fclose(f);
    return rc;
}

void campaign_close(struct campaign_view *k)
{
    json_decref(k->plan);
    json_decref(k->present);
    json_decref(k->ladders);
    json_decref(k->unplaced);
    *k = (struct campaign_view){0};
}

/* ---- the service's ---- */

struct client campaign_choice(const struct campaign_view *k, const struct client *c, const char *kind,
                              struct buf *label)
{
    struct client choice = *c;
    buf_printf(label, "%s=%s", kind, answer_text(k->plan, "name"));
    choice.labels[0] = label->data;
    choice.nlabels = 1;
    return choice;
}

static int look_for(struct campaign_view *k, const struct client *c, const char *kind, struct err *e)
{
    struct buf label = {0};
    struct client choice = campaign_choice(k, c, kind, &label);
    json_t *all = ensembles_get(&choice, e), *one;
    size_t i;
    json_array_foreach (all, i, one)
        if (answer_whole(one, "owner") == (long long)geteuid() && *answer_text(one, "key"))
            json_object_set(k->present, answer_text(one, "key"), one);
    json_decref(all);
    buf_free(&label);
    return all ? 0 : -(int)e->code;
}

int campaign_look(struct campaign_view *k, const struct client *c, struct err *e)
{
    json_decref(k->present);
    k->present = json_object();
    int rc = c->http ? look_for(k, c, "campaign", e) : kept_look(k->present, c->division, e);
    if (!rc && c->http && json_is_object(json_object_get(k->plan, "ladder")))
        rc = look_for(k, c, "pilot", e);
    if (rc) {
        json_decref(k->present);
        k->present = NULL;
    }
    return rc;
}

const json_t *campaign_present(const struct campaign_view *k, const json_t *planned)
{
    return json_object_get(k->present, answer_text(planned, "key"));
}

bool campaign_differs(const struct campaign_view *k, const json_t *planned)
{
    const char *there = answer_text(campaign_present(k, planned), "spec_hash"), *here = answer_text(planned, "hash");
    return *there && *here && strcmp(there, here) != 0;
}
