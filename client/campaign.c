/* SPDX-License-Identifier: Apache-2.0 */
#include "client/campaign.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/commands.h"
#include "engine/base/suggest.h"

/* ---- the file ---- */

static int take_plan(struct campaign *k, const struct buf *text)
{
    struct err e = {0};
    k->plan = json_loadb(text->data ? text->data : "", text->len, 0, NULL);
    if (k->plan)
        return EXIT_OK;
    err_set(&e, ERR_INTERNAL, "shoal-worker campaign printed no JSON");
    return client_fail(&(struct client){0}, &e);
}

/* ---- --only ---- */

static bool is_called(const json_t *ensemble, const char *kind, const char *name)
{
    return !strcmp(answer_text(ensemble, kind), name);
}

/* Whether one of the names that are of this kind is the ensemble's, or none is of it. */
static bool fits(const struct client *c, const json_t *all, const json_t *ensemble, const char *kind)
{
    bool asked = false, fit = false;
    const json_t *one;
    size_t i;
    for (int n = 0; n < c->nonly; n++)
        json_array_foreach (all, i, one)
            if (is_called(one, kind, c->only[n])) {
                asked = true;
                fit |= is_called(ensemble, kind, c->only[n]);
            }
    return !asked || fit;
}

static int check_names(const struct client *c, const json_t *all, struct err *e)
{
    const json_t *one;
    size_t i;
    for (int n = 0; n < c->nonly; n++) {
        bool known = false;
        json_array_foreach (all, i, one)
            known |= is_called(one, "item", c->only[n]) || is_called(one, "leg", c->only[n]) ||
                     is_called(one, "key", c->only[n]);
        if (!known)
            return err_set(e, ERR_USAGE, "--only %.100s: the campaign has no system, edge, leg or key of this name",
                           c->only[n]);
    }
    return 0;
}

/* Leaves the ensembles whose item, leg and key fit. */
static int choose(struct campaign *k, const struct client *c)
{
    json_t *all = json_object_get(k->plan, "ensembles"), *one, *chosen;
    struct err e = {0};
    size_t i;
    if (!c->nonly)
        return EXIT_OK;
    if (check_names(c, all, &e))
        return client_fail(c, &e);
    chosen = json_array();
    json_array_foreach (all, i, one)
        if (fits(c, all, one, "item") && fits(c, all, one, "leg") && fits(c, all, one, "key"))
            json_array_append(chosen, one);
    json_object_set_new(k->plan, "ensembles", chosen);
    return EXIT_OK;
}

int campaign_open(struct campaign *k, const struct client *c, const char *file, bool names)
{
    char *words[2 * LISTED_MAX + 6];
    int n = 0;
    struct buf text = {0};
    *k = (struct campaign){.file = file};
    words[n++] = "shoal-worker";
    words[n++] = "campaign";
    for (int i = 0; i < c->nincludes; i++) {
        words[n++] = "--include";
        words[n++] = (char *)c->includes[i];
    }
    if (names)
        words[n++] = "--names";
    words[n++] = "--";
    words[n++] = (char *)file;
    words[n] = NULL;
    fflush(stdout);
    int rc = ask_worker(c, words, &text);
    if (rc == EXIT_OK)
        rc = take_plan(k, &text);
    if (rc == EXIT_OK)
        rc = choose(k, c);
    buf_free(&text);
    return rc;
}

void campaign_close(struct campaign *k)
{
    json_decref(k->plan);
    json_decref(k->present);
}

/* ---- the service's ---- */

struct client campaign_choice(const struct campaign *k, const struct client *c, struct buf *label)
{
    struct client choice = *c;
    buf_printf(label, "campaign=%s", answer_text(k->plan, "name"));
    choice.labels[0] = label->data;
    choice.nlabels = 1;
    return choice;
}

int campaign_look(struct campaign *k, const struct client *c, struct err *e)
{
    struct buf label = {0};
    struct client choice = campaign_choice(k, c, &label);
    json_t *all = ensembles_get(&choice, e), *one;
    size_t i;
    k->present = all ? json_object() : NULL;
    json_array_foreach (all, i, one)
        if (answer_whole(one, "owner") == (long long)geteuid() && *answer_text(one, "key"))
            json_object_set(k->present, answer_text(one, "key"), one);
    json_decref(all);
    buf_free(&label);
    return k->present ? 0 : -(int)e->code;
}

const json_t *campaign_present(const struct campaign *k, const json_t *planned)
{
    return json_object_get(k->present, answer_text(planned, "key"));
}

bool campaign_differs(const struct campaign *k, const json_t *planned)
{
    const char *there = answer_text(campaign_present(k, planned), "spec_hash"), *here = answer_text(planned, "hash");
    return *there && *here && strcmp(there, here) != 0;
}

/* ---- what is done to all of them ---- */

/* As another command does it to what has the campaign's label. */
static int each(struct client *c, const char *file, const char *command, int (*run)(struct client *, int, char **))
{
    struct campaign k;
    struct buf label = {0};
    int rc = campaign_open(&k, c, file, true);
    if (rc == EXIT_OK) {
        struct client choice = campaign_choice(&k, c, &label);
        choice.command = command_find(command);
        rc = run(&choice, 0, NULL);
    }
    buf_free(&label);
    campaign_close(&k);
    return rc;
}

static int extend_all(struct client *c, const char *file)
{
    return each(c, file, "extend", extend_main);
}

static int cancel_all(struct client *c, const char *file)
{
    return each(c, file, "cancel", cancel_main);
}

/* Options that say how a service of one's own works. */
static int check_options(const struct client *c, const char *action, struct err *e)
{
    const bool works = c->here && !strcmp(action, "run");
    bool device = false;
    for (int i = 0; i < c->ngiven; i++)
        device |= c->given[i].option == OPTION_DEVICE;
    if (!works && (device || c->run_for > 0))
        return err_set(e, ERR_USAGE, "--%s: expected with campaign run --here DIR alone", device ? "device" : "for");
    if (c->nonly && (!strcmp(action, "extend") || !strcmp(action, "cancel")))
        return err_set(e, ERR_USAGE,
                       "--only: expected with plan, submit, run, status or gather; shoal %s KEY is for one ensemble",
                       action);
    if (works && c->timeout > 0)
        return err_set(e, ERR_USAGE, "--timeout with --here: expected --for, after which the service of --here stops");
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct client *c, const char *file);
} actions[] = {{"plan", campaign_plan},     {"submit", campaign_submit}, {"run", campaign_run},
               {"status", campaign_status}, {"gather", campaign_gather}, {"extend", extend_all},
               {"cancel", cancel_all}};

int campaign_main(struct client *c, int argc, char **argv)
{
    const char *known[sizeof actions / sizeof *actions];
    struct err e = {0};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (!strcmp(actions[i].name, argv[0]))
            return check_options(c, argv[0], &e) ? client_fail(c, &e) : actions[i].run(c, argv[1]);
        known[i] = actions[i].name;
    }
    const char *near = suggest_nearest(argv[0], known, sizeof actions / sizeof *actions);
    err_set(&e, ERR_USAGE, "%.60s: expected plan, submit, run, status, gather, extend or cancel%s%s%s", argv[0],
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return client_fail(c, &e);
}
