/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/monitor/on_end.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/log.h"

#define AT_ONCE 4
#define VARIABLES 7

struct end_command {
    uv_process_t process;
    struct on_end *of;
    struct end_command *next;
    bool started;
    int64_t number; /* of the ensemble */
    char id[16];
    char *variables[VARIABLES + 1]; /* NAME=value, owned; NULL behind them */
};

static void add_variable(struct end_command *c, const char *name, const char *value)
{
    struct buf text = {0};
    int n = 0;
    while (c->variables[n])
        n++;
    buf_printf(&text, "%s=%s", name, value);
    c->variables[n] = text.data;
}

/* Of the ensemble's campaign how many have not ended. */
static int count_left(const struct sched *s, const struct ensemble *en, const char *campaign)
{
    int left = 0;
    for (int i = 0; i < s->nensembles; i++) {
        const struct ensemble *other = s->ensembles[i];
        const char *label = other->owner == en->owner ? ensemble_label(other, "campaign") : NULL;
        left += label && !strcmp(label, campaign) && !ensemble_shown_ended(other);
    }
    return left;
}

static struct end_command *command_new(struct on_end *o, const struct ensemble *en)
{
    struct end_command *c = xcalloc(1, sizeof *c);
    const char *campaign = ensemble_label(en, "campaign");
    c->of = o;
    c->number = en->number;
    memcpy(c->id, en->id, sizeof c->id);
    add_variable(c, "SHOAL_ENSEMBLE", en->id);
    add_variable(c, "SHOAL_NAME", en->name);
    add_variable(c, "SHOAL_KEY", en->key ? en->key : "");
    add_variable(c, "SHOAL_STATE", ensemble_states.states[en->shown.state].name);
    if (o->socket)
        add_variable(c, "SHOAL_SOCKET", o->socket);
    if (campaign) {
        char left[16];
        snprintf(left, sizeof left, "%d", count_left(&o->service->sched, en, campaign));
        add_variable(c, "SHOAL_CAMPAIGN", campaign);
        add_variable(c, "SHOAL_LEFT", left);
    }
    return c;
}

static void command_free(struct end_command *c)
{
    for (int i = 0; c->variables[i]; i++)
        free(c->variables[i]);
    free(c);
}

static void command_closed(uv_handle_t *h)
{
    command_free(h->data);
}

static void take_out(struct end_command *c)
{
    struct end_command **at = &c->of->commands;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

static void start_more(struct on_end *o);

static void command_over(struct end_command *c)
{
    c->of->running--;
    take_out(c);
    uv_close((uv_handle_t *)&c->process, command_closed);
}

static void command_ended(uv_process_t *p, int64_t status, int number)
{
    struct end_command *c = p->data;
    struct on_end *o = c->of;
    if (status || number)
        log_line(LOG_WARNING, "on-end: the command for ensemble %s ended with %s %d", c->id,
                 number ? "signal" : "status", number ? number : (int)status);
    command_over(c);
    start_more(o);
}

/* The service's own variables, and those of the command in front: getenv finds the first of a name. */
static char **environment_of(const struct end_command *c)
{
    size_t n = 0, k = 0;
    while (environ[n])
        n++;
    char **all = xcalloc(n + VARIABLES + 1, sizeof *all);
    for (; c->variables[k]; k++)
        all[k] = c->variables[k];
    memcpy(all + k, environ, n * sizeof *all);
    return all;
}

/* What it prints goes where the service's log goes. */
static void start_command(struct end_command *c)
{
    char *words[] = {"sh", "-c", (char *)c->of->command, NULL};
    uv_stdio_container_t stdio[] = {
        {.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD, .data.fd = 2}, {.flags = UV_INHERIT_FD, .data.fd = 2}};
    uv_process_options_t options = {.exit_cb = command_ended,
                                    .file = "/bin/sh",
                                    .args = words,
                                    .env = environment_of(c),
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = stdio};
    c->started = true;
    c->of->running++;
    store_save_untold(c->of->service->store, c->number, false);
    c->process.data = c;
    int rc = uv_spawn(c->of->service->loop, &c->process, &options);
    free(options.env);
    if (rc) {
        log_line(LOG_WARNING, "on-end: the command for ensemble %s does not start: %s", c->id, uv_strerror(rc));
        command_over(c);
    }
}

static struct end_command *first_waiting(const struct on_end *o)
{
    struct end_command *c = o->commands;
    while (c && c->started)
        c = c->next;
    return c;
}

static void start_more(struct on_end *o)
{
    struct end_command *c;
    while (o->running < AT_ONCE && (c = first_waiting(o)))
        start_command(c);
}

static void ensemble_has_ended(void *arg, const struct ensemble *en)
{
    struct on_end *o = arg;
    struct end_command **at = &o->commands;
    if (en->owner != geteuid() || o->service->stopped) /* then the next start does it */
        return;
    while (*at)
        at = &(*at)->next;
    *at = command_new(o, en);
    start_more(o);
}

void on_end_open(struct on_end *o, struct service *sv, const char *command, const char *socket)
{
    *o = (struct on_end){.service = sv, .command = command, .socket = socket};
    if (!command)
        return;
    sv->on_ended = ensemble_has_ended;
    sv->on_ended_arg = o;
}

void on_end_go_on(struct on_end *o)
{
    const struct sched *s = &o->service->sched;
    for (int i = 0; i < s->nensembles; i++) {
        struct ensemble *en = s->ensembles[i];
        if (!en->untold)
            continue;
        if (o->command && ensemble_shown_ended(en))
            ensemble_has_ended(o, en);
        else
            store_save_untold(o->service->store, en->number, false);
    }
}

void on_end_close(struct on_end *o)
{
    for (struct end_command *c = o->commands, *next; c; c = next) {
        next = c->next;
        if (c->started) {
            command_over(c);
            continue;
        }
        log_line(LOG_INFO, "on-end: the service stops: the command for ensemble %s runs at the next start", c->id);
        command_free(c);
    }
    o->commands = NULL;
}
