/* SPDX-License-Identifier: Apache-2.0
 *
 * What only administrators may ask for: what is other users', devices and admission out of use.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/host/users.h"
#include "engine/base/printable.h"

#define REASON_MOST 200 /* bytes */

static int need_administrator(const struct api_call *c, const char *what, struct err *e)
{
    if (service_is_admin(c->service, request_uid(c->request)))
        return 0;
    return err_set(
        e, ERR_FORBIDDEN,
        "only administrators may %s: root, the user that the service runs as, and the group that admins names "
        "in shoald.yaml",
        what);
}

/* ---- whose ---- */

int api_whose(const struct api_call *c, const char *owner, bool all, int64_t *uid, struct err *e)
{
    const uint32_t caller = request_uid(c->request);
    uint32_t named = caller;
    if (owner && !users_find(owner, &named))
        return err_set(e, ERR_NOT_FOUND, "no user \"%.40s\" is known here", owner);
    *uid = all || (!owner && service_owns(caller)) ? -1 : (int64_t)named;
    return *uid == (int64_t)caller ? 0 : need_administrator(c, "see what is other users'", e);
}

/* ---- out of use ---- */

struct told {
    struct request *request;
    json_t *answer;
};

static void told_free(void *arg)
{
    struct told *t = arg;
    json_decref(t->answer);
    free(t);
}

static void told_committed(void *arg)
{
    struct told *t = arg;
    act_done(t->request, NULL);
    reply_json(t->request, 200, json_incref(t->answer));
    told_free(t);
}

/* Once it is committed, what is out of use. */
static struct reply tell_out_of_use(struct api_call *c)
{
    struct told *t = xcalloc(1, sizeof *t);
    *t = (struct told){c->request,
                       json_pack("{s:o,s:o}", "devices", api_devices_json(c->service, request_uid(c->request)), "held",
                                 api_hold_json(&c->service->admission))};
    store_after_commit(c->service->store, told_committed, told_free, t);
    return reply_later(c->request);
}

static int check_reason(const char *reason, struct err *e)
{
    if (!reason || (strlen(reason) <= REASON_MOST && printable(reason)))
        return 0;
    return err_set(e, ERR_USAGE, "reason: expected a text of at most %d bytes in one line, without control characters",
                   REASON_MOST);
}

static struct hold hold_of(const char *name, const char *reason)
{
    return (struct hold){
        .by = (char *)name, .reason = reason && *reason ? (char *)reason : NULL, .since = service_now()};
}

int api_find_device(const struct service *sv, const char *device, int *worker, struct err *e)
{
    struct buf all = {0};
    *worker = service_worker_of(sv, device);
    for (int w = 0; w < sv->sched.nworkers; w++)
        buf_printf(&all, "%s%s", w ? ", " : "", supervisor_device(sv->supervisor, w));
    if (*worker < 0)
        err_set(e, ERR_NOT_FOUND, "no device \"%.80s\"; there is %s", device, all.data);
    buf_free(&all);
    return *worker < 0 ? -ERR_NOT_FOUND : 0;
}

/* `by` NULL: back into use. */
static void use_device(struct service *sv, int worker, const struct hold *by)
{
    struct sched_event ev = {.kind = by ? SCHED_DRAINED : SCHED_UNDRAINED, .worker = worker, .hold = by};
    const char *device = supervisor_device(sv->supervisor, worker);
    struct err e = {0};
    service_step(sv, &ev, &e);
    if (by)
        store_put_hold(sv->store, device, by);
    else
        store_end_hold(sv->store, device);
}

static struct reply use_devices(struct api_call *c, const struct hold *by)
{
    const char *device = c->text[0];
    struct service *sv = c->service;
    struct err e = {0};
    int meant = -1;
    if (need_administrator(c, by ? "drain devices" : "undrain devices", &e) ||
        (device && api_find_device(sv, device, &meant, &e)))
        return reply_error(c->request, &e);
    for (int w = 0; w < sv->sched.nworkers; w++)
        if (!device || w == meant)
            use_device(sv, w, by);
    return tell_out_of_use(c);
}

struct reply api_drain(struct api_call *c)
{
    char name[USERS_NAME];
    struct err e = {0};
    users_name(request_uid(c->request), name);
    const struct hold by = hold_of(name, c->text[1]);
    return check_reason(c->text[1], &e) ? reply_error(c->request, &e) : use_devices(c, &by);
}

struct reply api_undrain(struct api_call *c)
{
    return use_devices(c, NULL);
}

struct reply api_hold(struct api_call *c)
{
    const char *reason = c->text[0];
    struct err e = {0};
    char name[USERS_NAME];
    if (need_administrator(c, "hold admission", &e) || check_reason(reason, &e))
        return reply_error(c->request, &e);
    users_name(request_uid(c->request), name);
    const struct hold by = hold_of(name, reason);
    hold_set(&c->service->admission, &by);
    store_put_hold(c->service->store, STORE_ADMISSION, &by);
    return tell_out_of_use(c);
}

struct reply api_release(struct api_call *c)
{
    struct err e = {0};
    if (need_administrator(c, "release admission", &e))
        return reply_error(c->request, &e);
    hold_clear(&c->service->admission);
    store_end_hold(c->service->store, STORE_ADMISSION);
    return tell_out_of_use(c);
}
