/* SPDX-License-Identifier: Apache-2.0
 *
 * What owners ask for, answered once it is committed: cancel, pause, resume, retry, another priority, another device,
 * estimate again, remove.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/host/users.h"

struct action {
    struct request *request;
    struct ensemble *ensemble;
};

static void action_free(void *arg)
{
    struct action *a = arg;
    ensemble_free(a->ensemble);
    free(a);
}

static void action_committed(void *arg)
{
    struct action *a = arg;
    act_done(a->request, NULL);
    api_reply_ensemble(a->request, 200, a->ensemble, NULL);
    action_free(a);
}

static void tell_who(struct service *sv, struct request *r, struct ensemble *en, const char *what)
{
    char name[USERS_NAME], text[160];
    users_name(request_uid(r), name);
    snprintf(text, sizeof text, "%s by the administrator %s", what, name);
    service_put_event(sv, en, NULL, "administrator", -1, text);
}

void api_moved(struct service *sv, struct request *r, struct ensemble *en, const char *what)
{
    en->owner_acts++;
    if (request_uid(r) != en->owner)
        tell_who(sv, r, en, what);
    struct action *a = xcalloc(1, sizeof *a);
    *a = (struct action){r, ensemble_hold(en)};
    store_after_commit(sv->store, action_committed, action_free, a);
}

static struct reply wish(struct api_call *c, struct sched_event ev, const char *what)
{
    struct err e = {0};
    char name[USERS_NAME];
    users_name(request_uid(c->request), name);
    ev.ensemble = c->ensemble;
    ev.by = request_uid(c->request) == c->ensemble->owner ? NULL : name;
    if (service_step(c->service, &ev, &e))
        return reply_error(c->request, &e);
    api_moved(c->service, c->request, c->ensemble, what);
    return reply_later(c->request);
}

struct reply api_cancel(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_CANCEL}, "cancelled");
}

struct reply api_pause(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_PAUSE}, "paused");
}

/* Whether the caller may have it go on. */
static int may_go_on(const struct api_call *c, struct err *e)
{
    const struct ensemble *en = c->ensemble;
    if (!en->paused_by || service_is_admin(c->service, request_uid(c->request)))
        return 0;
    return err_set(e, ERR_FORBIDDEN,
                   "ensemble %s was paused by the administrator %s: ask %s, or another administrator, to resume it",
                   en->id, en->paused_by, en->paused_by);
}

struct reply api_resume(struct api_call *c)
{
    struct err e = {0};
    if (may_go_on(c, &e))
        return reply_error(c->request, &e);
    return wish(c, (struct sched_event){.kind = SCHED_RESUME}, "resumed");
}

struct reply api_reestimate(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_REESTIMATE}, "estimated again");
}

struct reply api_retry(struct api_call *c)
{
    int64_t window = c->value[0];
    struct err e = {0};
    if (may_go_on(c, &e))
        return reply_error(c->request, &e);
    if (window >= c->ensemble->windows) {
        err_set(&e, ERR_USAGE, "window=%lld: ensemble %s has windows 0 to %d", (long long)window, c->ensemble->id,
                c->ensemble->windows - 1);
        return reply_error(c->request, &e);
    }
    return wish(c, (struct sched_event){.kind = SCHED_RETRY, .one = window >= 0, .window = (int)window}, "retried");
}

int api_priority_of(const struct api_call *c, const char *text, int *out, struct err *e)
{
    if (!text || !ensemble_find_priority(text, out))
        return err_set(e, ERR_USAGE, "priority \"%.40s\": expected low, normal, high or, of administrators, urgent",
                       text ? text : "");
    if (*out == PRIORITY_URGENT && !service_is_admin(c->service, request_uid(c->request)))
        return err_set(e, ERR_FORBIDDEN, "only administrators give the priority urgent: expected low, normal or high");
    return 0;
}

struct reply api_priority(struct api_call *c)
{
    struct err e = {0};
    int priority;
    char what[40];
    if (api_priority_of(c, c->text[0], &priority, &e))
        return reply_error(c->request, &e);
    snprintf(what, sizeof what, "given the priority %s", c->text[0]);
    return wish(c, (struct sched_event){.kind = SCHED_PRIORITY, .priority = priority}, what);
}

struct reply api_move(struct api_call *c)
{
    const char *device = c->text[0] ? c->text[0] : "";
    struct err e = {0};
    int worker = -1;
    char what[200];
    if (strcmp(device, "any") && api_find_device(c->service, device, &worker, &e))
        return reply_error(c->request, &e);
    snprintf(what, sizeof what, "moved to %s", worker < 0 ? "any device" : device);
    return wish(c, (struct sched_event){.kind = SCHED_MOVE, .worker = worker, .device = device}, what);
}

/* ---- for good ---- */

struct removing {
    struct request *request;
    char id[16];
};

static void removed(void *arg, int64_t bytes)
{
    struct removing *r = arg;
    act_done(r->request, NULL);
    reply_json(r->request, 200, json_pack("{s:s,s:I}", "id", r->id, "bytes", (json_int_t)bytes));
    free(r);
}

struct reply api_remove(struct api_call *c)
{
    struct err e = {0};
    struct removing *r = xcalloc(1, sizeof *r);
    r->request = c->request;
    memcpy(r->id, c->ensemble->id, sizeof r->id);
    if (service_remove(c->service, c->ensemble, removed, r, &e) == 0)
        return reply_later(c->request);
    free(r);
    return reply_error(c->request, &e);
}
