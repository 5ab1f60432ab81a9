/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ensembles/on_each.h"

#include <stdio.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/command/command.h"
#include "client/command/handlers.h"
#include "client/ensembles/add_windows.h"
#include "client/need/shares.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

static void print(const struct on_each *m)
{
    json_t *answer = json_pack("{s:O,s:O}", "ensembles", m->ensembles, "errors", m->errors);
    if (m->bytes > 0)
        json_object_set_new(answer, "bytes", json_integer((json_int_t)m->bytes));
    client_print(answer);
    json_decref(answer);
}

static int note_error(struct on_each *m, const char *id, const struct err *e)
{
    printable_line(stderr, "shoal: %s%s%s", m->several ? id : "", m->several ? ": " : "", e->msg);
    json_array_append_new(m->errors,
                          json_pack("{s:s,s:s,s:s}", "id", id, "code", err_name(e->code), "message", e->msg));
    return err_exit(e->code);
}

static int each(const struct client *c, const json_t *chosen, act_fn *act, struct on_each *m)
{
    const json_t *item;
    size_t i;
    int rc = EXIT_OK;
    m->several = json_array_size(chosen) > 1;
    m->ensembles = json_array();
    m->errors = json_array();
    json_array_foreach (chosen, i, item) {
        struct err e = {0};
        if (!act(c, item, m, &e))
            continue;
        int code = note_error(m, answer_text(item, "id"), &e);
        rc = rc ? rc : code;
        if (e.code == ERR_UNREACHABLE) /* so it will be for the others */
            break;
    }
    if (c->json)
        print(m);
    json_decref(m->ensembles);
    json_decref(m->errors);
    return rc;
}

int on_each(const struct client *c, int argc, char **argv, const char *states, act_fn *act, struct on_each *m)
{
    struct err e = {0};
    json_t *chosen = ensembles_chosen(c, argc, argv, states, &e);
    int rc = EXIT_REFUSED;
    if (!chosen)
        rc = client_fail(c, &e);
    else if (!m->agree || m->agree(c, chosen))
        rc = each(c, chosen, act, m);
    json_decref(chosen);
    return rc;
}

/* At most one of them is given. */
static void add_query(struct buf *path, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(path, "?%s=", name);
    http_escape(path, value);
}

/* All of them, as the service wants them. */
static void add_windows(struct buf *path, const struct client *c)
{
    struct buf all = {0};
    for (int i = 0; i < c->nadded; i++)
        buf_printf(&all, "%s%s", i ? ";" : "", c->added[i]);
    add_query(path, "windows", all.data);
    buf_free(&all);
}

static void say_share(const struct client *c, const json_t *ensemble, const json_t *share)
{
    bool longer = answer_whole(ensemble, "revision") > answer_whole(share, "revision");
    client_say(c,
               longer ? "%s: %s more for each window, in whole timesteps" : "%s: nothing: %s is less than a timestep",
               answer_text(ensemble, "name"), answer_text(share, "time"));
}

/* "methane, revision 2: production longer by 2 ns in each of 16 windows": of an extension by hand. */
static void say_extended(const struct client *c, const json_t *ensemble)
{
    const char *name = answer_text(ensemble, "name");
    long long revision = answer_whole(ensemble, "revision"), windows = answer_whole(ensemble, "windows");
    if (c->nadded)
        client_say(c, "%s, revision %lld: %d %s more, %lld in all", name, revision, c->nadded,
                   number_word(c->nadded, "window", "windows"), windows);
    else if ((c->time && !c->by_need) || c->until)
        client_say(c, "%s, revision %lld: production %s %s in each of %lld %s", name, revision,
                   c->time ? "longer by" : "of", c->time ? c->time : c->until, windows,
                   number_word(windows, "window", "windows"));
}

static int post_action(const struct client *c, const json_t *item, struct on_each *m, struct err *e)
{
    const char *id = answer_text(item, "id");
    const json_t *share = json_object_get(m->times, id);
    struct buf path = {0};
    if (m->times && !share)
        return 0;
    client_path(&path, id, "/");
    buf_printf(&path, "%s", c->command->name);
    add_query(&path, "time", share ? answer_text(share, "time") : c->time);
    if (share)
        buf_printf(&path, "&nearest=1");
    add_query(&path, "until", c->until);
    add_query(&path, "window", c->window);
    add_query(&path, "to", m->device ? m->device : c->priority);
    add_windows(&path, c);
    int rc = c->nadded ? add_windows_agree(c, path.data, m, e) : 0;
    json_t *ensemble = rc ? NULL : client_ask(c, "POST", path.data, e);
    buf_free(&path);
    if (!ensemble)
        return -(int)e->code;
    if (share)
        say_share(c, ensemble, share);
    say_extended(c, ensemble);
    client_say(c, "%s is %s; `shoal %s %s` %s", answer_text(ensemble, "name"), answer_text(ensemble, "state"), m->next,
               id, m->does);
    if (!c->json && m->several)
        printf("%s ", answer_text(ensemble, "id"));
    if (!c->json)
        printf("%s\n", answer_text(ensemble, "state"));
    json_array_append_new(m->ensembles, ensemble);
    return 0;
}

int cancel_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "retry", .does = "goes on with it; `shoal results` shows what finished"};
    return on_each(c, argc, argv, "queued,running,paused,finishing", post_action, &m);
}

int pause_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "resume", .does = "goes on with it"};
    return on_each(c, argc, argv, "queued,running", post_action, &m);
}

int resume_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "watch", .does = "follows it"};
    return on_each(c, argc, argv, "paused", post_action, &m);
}

int retry_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "watch", .does = "follows it"};
    return on_each(c, argc, argv, "failed,cancelled", post_action, &m);
}

int priority_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "status", .does = "shows what it waits for"};
    struct err e = {0};
    if (c->priority)
        return on_each(c, argc, argv, "queued,running,paused", post_action, &m);
    err_set(&e, ERR_USAGE, "priority wants --to LEVEL: low, normal or high; of administrators urgent");
    return client_fail(c, &e);
}

/* The last word is the device. */
int move_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "status", .does = "shows where it runs", .device = argv[argc - 1]};
    return on_each(c, argc - 1, argv, "queued,running,paused", post_action, &m);
}

int reestimate_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "results", .does = "shows the new results once they are computed"};
    return on_each(c, argc, argv, "done,failed,cancelled", post_action, &m);
}

#define EXTENDED "queued,running,paused,done,failed"

static int by_need(const struct client *c, int argc, char **argv, struct on_each *m)
{
    struct err e = {0};
    json_t *chosen = ensembles_chosen(c, argc, argv, EXTENDED, &e);
    json_t *times = chosen ? shares_find(c, chosen, &e) : NULL;
    m->times = times;
    int rc = times ? each(c, chosen, post_action, m) : client_fail(c, &e);
    json_decref(times);
    json_decref(chosen);
    return rc;
}

int extend_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.next = "watch", .does = "follows it"};
    struct err e = {0};
    if (!c->time + !c->until + !c->nadded != 2) {
        err_set(&e, ERR_USAGE,
                "extend wants one of --time TIME, which is added, --until TIME, which production is to last, and "
                "--add-window LAMBDAS, a window more");
        return client_fail(c, &e);
    }
    if (c->dry_run && !c->nadded) {
        err_set(&e, ERR_USAGE, "extend --dry-run wants --add-window LAMBDAS: it says what more windows cost");
        return client_fail(c, &e);
    }
    if (c->by_need && !c->time) {
        err_set(&e, ERR_USAGE,
                "extend --by-need wants --time TIME, in fs, ps, ns or us: as much as would be added to each ensemble "
                "alike");
        return client_fail(c, &e);
    }
    return c->by_need ? by_need(c, argc, argv, &m) : on_each(c, argc, argv, EXTENDED, post_action, &m);
}
