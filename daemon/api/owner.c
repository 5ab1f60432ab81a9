/* SPDX-License-Identifier: Apache-2.0
 *
 * What owners ask for, answered once it is committed: cancel, pause, resume, retry, another priority, estimate again,
 * remove.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"

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

void api_moved(struct service *sv, struct request *r, struct ensemble *en)
{
    en->owner_acts++;
    struct action *a = xcalloc(1, sizeof *a);
    *a = (struct action){r, ensemble_hold(en)};
    store_after_commit(sv->store, action_committed, action_free, a);
}

static struct reply wish(struct api_call *c, struct sched_event ev)
{
    struct err e = {0};
    ev.ensemble = c->ensemble;
    if (service_step(c->service, &ev, &e))
        return reply_error(c->request, &e);
    api_moved(c->service, c->request, c->ensemble);
    return reply_later(c->request);
}

struct reply api_cancel(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_CANCEL});
}

struct reply api_pause(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_PAUSE});
}

struct reply api_resume(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_RESUME});
}

struct reply api_reestimate(struct api_call *c)
{
    return wish(c, (struct sched_event){.kind = SCHED_REESTIMATE});
}

struct reply api_retry(struct api_call *c)
{
    int64_t window = c->value[0];
    struct err e = {0};
    if (window >= c->ensemble->windows) {
        err_set(&e, ERR_USAGE, "window=%lld: ensemble %s has windows 0 to %d", (long long)window, c->ensemble->id,
                c->ensemble->windows - 1);
        return reply_error(c->request, &e);
    }
    return wish(c, (struct sched_event){.kind = SCHED_RETRY, .one = window >= 0, .window = (int)window});
}

int api_priority_of(const char *text, int *out, struct err *e)
{
    if (text && ensemble_find_priority(text, out))
        return 0;
    return err_set(e, ERR_USAGE, "priority \"%.40s\": expected low, normal or high", text ? text : "");
}

struct reply api_priority(struct api_call *c)
{
    struct err e = {0};
    int priority;
    if (api_priority_of(c->text[0], &priority, &e))
        return reply_error(c->request, &e);
    return wish(c, (struct sched_event){.kind = SCHED_PRIORITY, .priority = priority});
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
