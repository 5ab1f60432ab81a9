/* SPDX-License-Identifier: Apache-2.0 */
#include "client/campaign/campaign.h"

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

/* ladders: a file for --ladders, NULL: none. */
static int read_plan(struct campaign *k, const struct client *c, bool names, const char *ladders)
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
    if (rc == EXIT_OK && campaign_is_part(c) && campaign_choose(k, c, &e))
        rc = client_fail(c, &e);
    buf_free(&text);
    return rc;
}

int campaign_open(struct campaign *k, const struct client *c, const char *file, bool names)
{
    *k = (struct campaign){.file = file};
    return read_plan(k, c, names, NULL);
}

/* The worker gets the ladders by a file without a name, which it inherits. */
int campaign_reopen(struct campaign *k, const struct client *c)
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

void campaign_close(struct campaign *k)
{
    json_decref(k->plan);
    json_decref(k->present);
    json_decref(k->ladders);
    *k = (struct campaign){0};
}

/* ---- the service's ---- */

struct client campaign_choice(const struct campaign *k, const struct client *c, const char *kind, struct buf *label)
{
    struct client choice = *c;
    buf_printf(label, "%s=%s", kind, answer_text(k->plan, "name"));
    choice.labels[0] = label->data;
    choice.nlabels = 1;
    return choice;
}

static int look_for(struct campaign *k, const struct client *c, const char *kind, struct err *e)
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

int campaign_look(struct campaign *k, const struct client *c, struct err *e)
{
    json_decref(k->present);
    k->present = json_object();
    int rc = look_for(k, c, "campaign", e);
    if (!rc && json_is_object(json_object_get(k->plan, "ladder")))
        rc = look_for(k, c, "pilot", e);
    if (rc) {
        json_decref(k->present);
        k->present = NULL;
    }
    return rc;
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

/* Their keys, as those of an object. */
static json_t *keys_of(const struct campaign *k)
{
    json_t *keys = json_object();
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        json_object_set_new(keys, answer_text(one, "key"), json_true());
    return keys;
}

/* What the command chooses by the campaign's label, and of a part of the campaign. */
static int labelled(struct client *c, const struct campaign *k, const char *command,
                    int (*run)(struct client *, int, char **))
{
    struct buf label = {0};
    struct client choice = campaign_choice(k, c, "campaign", &label);
    json_t *keys = campaign_is_part(c) ? keys_of(k) : NULL;
    choice.command = command_find(command);
    choice.among = keys;
    int rc = run(&choice, 0, NULL);
    json_decref(keys);
    buf_free(&label);
    return rc;
}

/* As another command does it to what has the campaign's label. */
static int each(struct client *c, const char *file, const char *command, int (*run)(struct client *, int, char **))
{
    struct campaign k;
    int rc = campaign_open(&k, c, file, true);
    if (rc == EXIT_OK)
        rc = labelled(c, &k, command, run);
    campaign_close(&k);
    return rc;
}

static int wait_all(struct client *c, const char *file)
{
    return each(c, file, "wait", wait_main);
}

static int pause_all(struct client *c, const char *file)
{
    return each(c, file, "pause", pause_main);
}

static int resume_all(struct client *c, const char *file)
{
    return each(c, file, "resume", resume_main);
}

static int retry_all(struct client *c, const char *file)
{
    return each(c, file, "retry", retry_main);
}

static int remove_all(struct client *c, const char *file)
{
    return each(c, file, "rm", rm_main);
}

static int extend_all(struct client *c, const char *file)
{
    return each(c, file, "extend", extend_main);
}

/* Of all of it pilots too, which have another label: by their ids. */
static int cancel_all(struct client *c, const char *file)
{
    struct campaign k;
    struct err e = {0};
    int rc = campaign_open(&k, c, file, true), n = 0;
    if (rc == EXIT_OK && campaign_look(&k, c, &e))
        rc = client_fail(c, &e);
    char **ids = xcalloc(json_object_size(k.present) + 1, sizeof *ids);
    const json_t *one;
    const char *key;
    json_object_foreach (k.present, key, one)
        if (!campaign_is_part(c) && !ensemble_ended(answer_text(one, "state")))
            ids[n++] = (char *)answer_text(one, "id");
    struct client choice = *c;
    choice.command = command_find("cancel");
    if (rc == EXIT_OK)
        rc = n ? cancel_main(&choice, n, ids) : labelled(c, &k, "cancel", cancel_main);
    free(ids);
    campaign_close(&k);
    return rc;
}

/* Options that go with some actions alone. */
static int check_options(const struct client *c, const char *action, struct err *e)
{
    const bool works = c->here && !strcmp(action, "run");
    bool device = false;
    for (int i = 0; i < c->ngiven; i++)
        device |= c->given[i].option == OPTION_DEVICE;
    if (!works && (device || c->run_for > 0))
        return err_set(e, ERR_USAGE, "--%s: expected with campaign run --here DIR alone", device ? "device" : "for");
    if (c->replace && strcmp(action, "submit") != 0)
        return err_set(e, ERR_USAGE, "--replace goes with campaign submit, not with campaign %s", action);
    if (works && c->timeout > 0)
        return err_set(e, ERR_USAGE, "--timeout with --here: expected --for, after which the service of --here stops");
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct client *c, const char *file);
} actions[] = {{"plan", campaign_plan},     {"submit", campaign_submit}, {"run", campaign_run},
               {"status", campaign_status}, {"wait", wait_all},          {"gather", campaign_gather},
               {"report", campaign_report}, {"pause", pause_all},        {"resume", resume_all},
               {"retry", retry_all},        {"extend", extend_all},      {"cancel", cancel_all},
               {"rm", remove_all}};
enum { ACTIONS = sizeof actions / sizeof *actions };

int campaign_main(struct client *c, int argc, char **argv)
{
    const char *known[ACTIONS];
    struct err e = {0};
    struct buf all = {0};
    for (int i = 0; i < ACTIONS; i++) {
        if (!strcmp(actions[i].name, argv[0]))
            return check_options(c, argv[0], &e) ? client_fail(c, &e) : actions[i].run(c, argv[1]);
        known[i] = actions[i].name;
    }
    for (int i = 0; i < ACTIONS; i++)
        buf_printf(&all, "%s%s", !i ? "" : i + 1 < ACTIONS ? ", " : " or ", known[i]);
    const char *near = suggest_nearest(argv[0], known, ACTIONS);
    err_set(&e, ERR_USAGE, "%.60s: expected %s%s%s%s", argv[0], all.data, near ? "; did you mean " : "",
            near ? near : "", near ? "?" : "");
    buf_free(&all);
    return client_fail(c, &e);
}
