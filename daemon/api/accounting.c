/* SPDX-License-Identifier: Apache-2.0
 *
 * What was used, by whom and where: sums over days, read on the thread pool.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"
#include "daemon/host/users.h"

#define DAY_S 86400
#define USUAL_DAYS 30

static const char *const kinds[ACCOUNT_KINDS] = {[ACCOUNT_USER] = "user",
                                                 [ACCOUNT_ENSEMBLE] = "ensemble",
                                                 [ACCOUNT_CAMPAIGN] = "campaign",
                                                 [ACCOUNT_DEVICE] = "device",
                                                 [ACCOUNT_DAY] = "day"};

struct accounting {
    struct service *service;
    struct request *request;
    enum account_by by;
    int64_t since, uid; /* a day since 1970; -1: all users */
    json_t *rows;
    struct err err;
};

/* The date alone. */
static json_t *date_json(int64_t day)
{
    json_t *time = api_time_json(day * DAY_S * 1000), *date = json_stringn(json_string_value(time), 10);
    json_decref(time);
    return date;
}

/* As openapi.yaml's Account. Steals the row. */
static json_t *account_json(json_t *row)
{
    const json_t *uid = json_object_get(row, "uid"), *day = json_object_get(row, "day");
    const double ms = json_real_value(json_object_get(row, "device_ms")),
                 ps = json_real_value(json_object_get(row, "ps"));
    char name[USERS_NAME] = "";
    if (json_is_integer(uid))
        users_name((uint32_t)json_integer_value(uid), name);
    json_t *j = json_pack("{s:O,s:s?,s:O,s:O,s:O,s:O}", "owner", uid, "user", *name ? name : NULL, "id",
                          json_object_get(row, "id"), "name", json_object_get(row, "name"), "campaign",
                          json_object_get(row, "campaign"), "device", json_object_get(row, "device"));
    json_object_set_new(j, "day", json_is_integer(day) ? date_json(json_integer_value(day)) : json_null());
    json_object_set_new(j, "device_seconds", json_real(ms / 1000));
    json_object_set(j, "steps", json_object_get(row, "steps"));
    json_object_set_new(j, "ns", json_real(ps / 1000));
    json_object_set(j, "energy_joules", json_object_get(row, "joules"));
    json_decref(row);
    return j;
}

static void sum_up(void *arg)
{
    struct accounting *a = arg;
    json_t *rows, *row;
    size_t i;
    if (store_read_accounts(a->service->store, a->by, a->since, a->uid, &rows, &a->err))
        return;
    a->rows = json_array();
    json_array_foreach (rows, i, row)
        json_array_append_new(a->rows, account_json(json_incref(row)));
    json_decref(rows);
}

static void answer_sums(void *arg)
{
    struct accounting *a = arg;
    if (a->err.code)
        reply_error(a->request, &a->err);
    else
        reply_json(a->request, 200,
                   json_pack("{s:s,s:o,s:o}", "by", kinds[a->by], "since", date_json(a->since), "rows", a->rows));
    free(a);
}

static int find_kind(const char *text, enum account_by *by, struct err *e)
{
    for (int i = 0; i < ACCOUNT_KINDS; i++)
        if (!strcmp(text, kinds[i])) {
            *by = (enum account_by)i;
            return 0;
        }
    return err_set(e, ERR_USAGE, "by=%.40s: expected user, ensemble, campaign, device or day", text);
}

struct reply api_accounting(struct api_call *c)
{
    const int64_t now = service_now() / 1000,
                  ago = c->value[API_ACCOUNTING_SINCE] < 0 ? USUAL_DAYS * DAY_S : c->value[API_ACCOUNTING_SINCE];
    const char *by = c->text[API_ACCOUNTING_BY];
    struct accounting *a = xcalloc(1, sizeof *a);
    struct err e = {0};
    *a =
        (struct accounting){.service = c->service, .request = c->request, .since = ago > now ? 0 : (now - ago) / DAY_S};
    if (find_kind(by ? by : "user", &a->by, &e) ||
        api_whose(c, c->text[API_ACCOUNTING_OWNER], c->value[API_ACCOUNTING_ALL] > 0, &a->uid, &e)) {
        free(a);
        return reply_error(c->request, &e);
    }
    service_offload(c->service, sum_up, answer_sums, a);
    return reply_later(c->request);
}
