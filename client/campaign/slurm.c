/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign slurm: a job array whose tasks are shares of a campaign. Slurm says where and when; a task that is cut puts
 * itself back into the queue, and goes on from its checkpoints there.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/campaign/campaign.h"
#include "client/campaign/queue.h"
#include "client/command/option_rows.h"
#include "client/division/division.h"
#include "client/division/kept.h"
#include "engine/base/number.h"
#include "engine/base/path.h"

struct array {
    const struct client *c;
    const char *name;    /* of the campaign */
    char file[PATH_MAX]; /* the campaign's, absolute, as the others */
    char folder[PATH_MAX];
    char program[PATH_MAX]; /* shoal */
    struct buf script;      /* path of slurm.sh */
    int64_t shares;
    char **words; /* for sbatch */
    int nwords;
};

/* ---- the script ---- */

/* As one word of a shell and of a line of sbatch. */
static void put_word(struct buf *out, const char *word)
{
    const bool plain = *word && !word[strspn(word,
                                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                             "%+,-./:=@_")];
    if (plain) {
        buf_printf(out, "%s", word);
        return;
    }
    buf_printf(out, "'");
    for (; *word; word++)
        buf_printf(out, *word == '\'' ? "'\\''" : "%c", *word);
    buf_printf(out, "'");
}

/* "0-3,7" */
static void put_ranges(struct buf *out, const bool *chosen, int64_t n)
{
    const size_t begin = out->len;
    for (int64_t i = 0; i < n; i++) {
        int64_t last = i;
        while (chosen[i] && last + 1 < n && chosen[last + 1])
            last++;
        if (chosen[i])
            buf_printf(out, "%s%" PRId64, out->len > begin ? "," : "", i);
        if (last > i)
            buf_printf(out, "-%" PRId64, last);
        i = last;
    }
}

static void put_options(struct buf *out, const struct array *a, const bool *chosen)
{
    buf_printf(out, "#SBATCH --job-name=shoal-%s --array=", a->name);
    put_ranges(out, chosen, a->shares);
    if (a->c->at_once)
        buf_printf(out, "%%%" PRId64, a->c->at_once);
    buf_printf(out, " --requeue --signal=TERM@120 --open-mode=append --output=");
    struct buf log = {0};
    buf_printf(&log, "%s/log/%%a.out", a->folder);
    put_word(out, log.data);
    buf_free(&log);
    for (int i = 0; i < a->nwords; i++) {
        buf_printf(out, i ? " " : "\n#SBATCH ");
        put_word(out, a->words[i]);
    }
    buf_printf(out, "\n");
}

static void put_given(struct buf *out, const struct client *c)
{
    char path[PATH_MAX];
    for (int i = 0; i < c->ngiven; i++) {
        const bool include = c->given[i].option == OPTION_INCLUDE;
        if (!include && c->given[i].option != OPTION_DEVICE)
            continue;
        buf_printf(out, " --%s ", option_rows[c->given[i].option].name);
        put_word(out, include && realpath(c->given[i].value, path) ? path : c->given[i].value);
    }
}

static void put_script(struct buf *out, const struct array *a, const bool *chosen)
{
    buf_printf(out, "#!/bin/sh\n");
    put_options(out, a, chosen);
    buf_printf(out, "srun --ntasks=1 ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} ");
    put_word(out, a->program);
    buf_printf(out, " campaign run ");
    put_word(out, a->file);
    buf_printf(out, " --here ");
    put_word(out, a->folder);
    put_given(out, a->c);
    buf_printf(out, " --share \"$SLURM_ARRAY_TASK_ID/%" PRId64 "\"\nrc=$?\n", a->shares);
    buf_printf(out,
               "[ $rc = 75 ] && exec scontrol requeue \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"\nexit $rc\n");
}

/* ---- which shares ---- */

/* Those with work left, and without a task in the queue. Returns how many. */
static int64_t choose_shares(const struct array *a, const json_t *tasks, bool *chosen)
{
    int64_t n = 0;
    for (int64_t i = 0; i < a->shares; i++) {
        char number[24];
        json_t *status = kept_status(a->c->division, i);
        const enum share_state state = kept_state(status);
        snprintf(number, sizeof number, "%" PRId64, i);
        chosen[i] = state != SHARE_DONE && state != SHARE_FAILED && !json_object_get(tasks, number);
        n += chosen[i];
        json_decref(status);
    }
    return n;
}

/* ---- submitting ---- */

static int write_script(const struct array *a, const struct buf *script, struct err *e)
{
    struct buf log = {0};
    buf_printf(&log, "%s/log/", a->folder);
    int rc = path_make_parents(log.data, 0777, e);
    if (!rc)
        rc = buf_write_file(a->script.data, script->data, script->len, e);
    buf_free(&log);
    return rc;
}

/* job "": none was needed. */
static void print_job(const struct client *c, const char *job, const bool *chosen, int64_t shares)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < shares; i++)
        if (chosen[i])
            json_array_append_new(list, json_integer(i));
    json_t *out = json_pack("{s:o,s:o}", "job", *job ? json_string(job) : json_null(), "shares", list);
    if (c->json)
        client_print(out);
    else if (*job)
        printf("%s\n", job);
    json_decref(out);
}

static int submit_array(const struct array *a, const json_t *tasks, struct err *e)
{
    struct buf script = {0}, job = {0};
    bool *chosen = xcalloc((size_t)a->shares, sizeof *chosen);
    const int64_t n = choose_shares(a, tasks, chosen);
    client_say(a->c, "%s: %" PRId64 " of %" PRId64 " %s submitted, %zu %s in the queue, %" PRId64 " ended", a->folder,
               n, a->shares, number_word(a->shares, "share is", "shares are"), json_object_size(tasks),
               number_word((int64_t)json_object_size(tasks), "is", "are"),
               a->shares - n - (int64_t)json_object_size(tasks));
    put_script(&script, a, chosen);
    if (!n || (!write_script(a, &script, e) && !queue_submit(a->script.data, &job, e)))
        print_job(a->c, n ? job.data : "", chosen, a->shares);
    free(chosen);
    buf_free(&script);
    buf_free(&job);
    return -(int)e->code;
}

/* The script as a first submission would have it. */
static void print_script(const struct array *a)
{
    struct buf script = {0};
    bool *chosen = xcalloc((size_t)a->shares, sizeof *chosen);
    choose_shares(a, NULL, chosen);
    put_script(&script, a, chosen);
    client_say(a->c, "by hand: `mkdir -p %s/log`, then sbatch with this script", a->folder);
    fwrite(script.data, 1, script.len, stdout);
    free(chosen);
    buf_free(&script);
}

/* ---- all of it ---- */

static int find_places(struct array *a, const char *file, struct err *e)
{
    struct buf inside = {0};
    const ssize_t n = readlink("/proc/self/exe", a->program, sizeof a->program - 1);
    a->program[n > 0 ? n : 0] = '\0';
    buf_printf(&inside, "%s/", a->c->division);
    int rc = a->c->dry_run ? 0 : path_make_parents(inside.data, 0777, e);
    if (!rc && !realpath(file, a->file))
        rc = err_errno(e, "%s", file);
    if (!rc && !realpath(a->c->division, a->folder)) /* a dry run makes none */
        snprintf(a->folder, sizeof a->folder, "%s", a->c->division);
    buf_printf(&a->script, "%s/slurm.sh", a->folder);
    buf_free(&inside);
    return rc;
}

static int submit_or_print(struct array *a, const char *file, struct err *e)
{
    json_t *tasks = NULL;
    int rc = find_places(a, file, e);
    if (!rc)
        rc = division_cancelled(a->c->division, e);
    if (!rc && a->c->dry_run)
        print_script(a);
    else if (!rc && (tasks = queue_tasks(a->script.data, e)))
        submit_array(a, tasks, e);
    json_decref(tasks);
    buf_free(&a->script);
    return -(int)e->code;
}

static int check_errors(const struct campaign_view *k, struct err *e)
{
    const json_t *first = json_array_get(json_object_get(k->plan, "errors"), 0);
    return first ? err_set(e, ERR_SPEC, "%s; nothing is submitted before all of %s is right", json_string_value(first),
                           k->file)
                 : 0;
}

int campaign_slurm(struct client *c, const char *file, int nwords, char **words)
{
    struct campaign_view k;
    struct err e = {0};
    struct array a = {.c = c, .words = words, .nwords = nwords};
    int rc = campaign_open(&k, c, file, false);
    if (rc != EXIT_OK) {
        campaign_close(&k);
        return rc;
    }
    json_t *division = check_errors(&k, &e) ? NULL : division_plan(c, file, k.plan, c->shares, !c->dry_run, &e);
    a.shares = answer_whole(division, "shares");
    a.name = answer_text(k.plan, "name");
    if (division)
        submit_or_print(&a, file, &e);
    json_decref(division);
    campaign_close(&k);
    return e.code ? client_fail(c, &e) : EXIT_OK;
}

/* Tasks that run stop by themselves, with their checkpoints made. */
static int empty_queue(const char *script, struct err *e)
{
    json_t *tasks = queue_tasks(script, e), *task;
    const char *share;
    json_object_foreach (tasks, share, task)
        if (*json_string_value(task) && !e->code)
            queue_cancel(json_string_value(task), e);
    json_decref(tasks);
    return -(int)e->code;
}

int campaign_cancel_shares(struct client *c)
{
    struct err e = {0};
    struct array a = {.c = c};
    int rc = division_cancel(c->division, &e);
    if (!rc) {
        client_say(c, "%s: shares that run stop within a minute, and none begins", c->division);
        rc = find_places(&a, c->division, &e);
    }
    if (!rc && !access(a.script.data, F_OK))
        rc = empty_queue(a.script.data, &e);
    buf_free(&a.script);
    return rc ? client_fail(c, &e) : EXIT_OK;
}
