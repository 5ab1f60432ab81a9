/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal campaign: what can be done with the file of one.
 */
#include "client/campaign/campaign.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/command/command.h"
#include "client/command/handlers.h"
#include "client/command/option_rows.h"
#include "client/gather/diff.h"
#include "client/gather/gather.h"
#include "engine/base/suggest.h"

/* Their keys, as those of an object. */
static json_t *keys_of(const struct campaign_view *k)
{
    json_t *keys = json_object();
    const json_t *one;
    size_t i;
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        json_object_set_new(keys, answer_text(one, "key"), json_true());
    return keys;
}

/* What the command chooses by the campaign's label, and of a part of the campaign. */
static int labelled(struct client *c, const struct campaign_view *k, const char *command,
                    int (*run)(struct client *, int, char **))
{
    struct buf label = {0};
    struct client choice = campaign_choice(k, c, "campaign", &label);
    json_t *keys = campaign_is_part(c) ? keys_of(k) : NULL;
    choice.command = &(struct command){.name = command};
    choice.among = keys;
    int rc = run(&choice, 0, NULL);
    json_decref(keys);
    buf_free(&label);
    return rc;
}

/* As another command does it to what has the campaign's label. */
static int each(struct client *c, const char *file, const char *command, int (*run)(struct client *, int, char **))
{
    struct campaign_view k;
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
    if (c->division)
        return campaign_cancel_shares(c);
    struct campaign_view k;
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
    choice.command = &(struct command){.name = "cancel"};
    if (rc == EXIT_OK)
        rc = n ? cancel_main(&choice, n, ids) : labelled(c, &k, "cancel", cancel_main);
    free(ids);
    campaign_close(&k);
    return rc;
}

/* Those of campaigns in shares. */
static int check_share_options(const struct client *c, const char *action, struct err *e)
{
    const bool queues = !strcmp(action, "slurm");
    if ((c->share.of || queues) && c->nheres != 1)
        return err_set(e, ERR_USAGE, "%s: expected --here DIR, the folder that all shares have",
                       queues ? "campaign slurm" : "--share");
    if (c->share.of && queues)
        return err_set(e, ERR_USAGE, "--share with campaign slurm: expected --shares N");
    if (c->division && !strcmp(action, "cancel") && (c->share.of || campaign_is_part(c)))
        return err_set(e, ERR_USAGE,
                       "%s: campaign cancel stops all of its shares; of a share it is campaign cancel "
                       "--here %s/share-000",
                       c->division, c->division);
    if (!queues && (c->shares || c->at_once))
        return err_set(e, ERR_USAGE, "--%s goes with campaign slurm, not with campaign %s",
                       c->shares ? "shares" : "at-once", action);
    if (c->share.of && !strcmp(action, "run") && (campaign_is_part(c) || c->output))
        return err_set(e, ERR_USAGE, "--%s with campaign run --share: expected with campaign gather --here DIR",
                       c->output ? "output" : "only, --skip or --leg");
    return 0;
}

/* Options that go with some actions alone. */
static int check_options(const struct client *c, const char *action, struct err *e)
{
    const bool works = c->here && !strcmp(action, "run"), queues = !strcmp(action, "slurm");
    bool device = false;
    for (int i = 0; i < c->ngiven; i++)
        device |= c->given[i].option == OPTION_DEVICE;
    if (!works && ((device && !queues) || c->run_for > 0))
        return err_set(e, ERR_USAGE, "--%s: expected with campaign run --here DIR alone", device ? "device" : "for");
    if (c->replace && strcmp(action, "submit") != 0)
        return err_set(e, ERR_USAGE, "--replace goes with campaign submit, not with campaign %s", action);
    if (c->dry_run && strcmp(action, "rm") != 0 && !queues)
        return err_set(e, ERR_USAGE, "--dry-run goes with campaign rm and slurm, not with campaign %s", action);
    if (c->json && !strcmp(action, "report"))
        return err_set(e, ERR_USAGE, "campaign report makes a page; `shoal campaign gather --json` has its numbers");
    if (works && c->timeout > 0)
        return err_set(e, ERR_USAGE, "--timeout with --here: expected --for, after which the service of --here stops");
    return check_share_options(c, action, e);
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
static const char diff[] = "diff";   /* the action of two campaigns */
static const char slurm[] = "slurm"; /* the action that takes words for sbatch behind the file */

/* How many files go with the action. */
static int check_files(const char *action, int files, struct err *e)
{
    const bool two = !strcmp(action, diff), more = !strcmp(action, slurm);
    if (two && files != 2)
        return err_set(e, ERR_USAGE, "campaign diff: expected two campaigns, each FILE.yaml or a gather.json");
    if (!two && files != 1 && !(more && files > 1))
        return err_set(e, ERR_USAGE, "campaign %s: too many words: expected one FILE.yaml", action);
    return 0;
}

static int unknown(const struct client *c, const char *action)
{
    const char *known[ACTIONS + 2] = {[ACTIONS] = diff, [ACTIONS + 1] = slurm};
    struct err e = {0};
    struct buf all = {0};
    for (int i = 0; i < ACTIONS; i++)
        known[i] = actions[i].name;
    buf_words(&all, known, ACTIONS + 2, "or");
    const char *near = suggest_nearest(action, known, ACTIONS + 2);
    err_set(&e, ERR_USAGE, "%.60s: expected %s%s%s%s", action, all.data, near ? "; did you mean " : "",
            near ? near : "", near ? "?" : "");
    buf_free(&all);
    return client_fail(c, &e);
}

int campaign_main(struct client *c, int argc, char **argv)
{
    const char *action = argv[0];
    struct err e = {0};
    int i = 0;
    while (i < ACTIONS && strcmp(actions[i].name, action) != 0)
        i++;
    if (i == ACTIONS && strcmp(action, diff) != 0 && strcmp(action, slurm) != 0)
        return unknown(c, action);
    if (check_files(action, argc - 1, &e) || check_options(c, action, &e))
        return client_fail(c, &e);
    if (i < ACTIONS)
        return actions[i].run(c, argv[1]);
    return !strcmp(action, diff) ? campaign_diff(c, argv[1], argv[2]) : campaign_slurm(c, argv[1], argc - 2, argv + 2);
}
