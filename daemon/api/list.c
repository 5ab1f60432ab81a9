/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of ensembles, a page at a time: making one keeps the loop busy for so long at most, however many there are.
 */
#include "daemon/api/api.h"

#include <stdlib.h>
#include <string.h>

#define PAGE 100
#define PAGE_MAX 500

struct filter {
    int64_t after, older_than, now;
    int64_t states, owner; /* a bit for each state; -1: any */
    const char *name, *key;
    const struct api_call *call; /* of its labels */
};

/* Each key that is asked for, with one of the values that are. */
static bool has_labels(const struct ensemble *en, const struct api_call *c)
{
    bool all = true;
    for (int i = 0; i < c->nlabels && all; i++) {
        const char *value = ensemble_label(en, c->labels[i].key);
        bool one = false;
        for (int k = 0; k < c->nlabels && value && !one; k++)
            one = !strcmp(c->labels[k].key, c->labels[i].key) &&
                  (!c->labels[k].value || !strcmp(c->labels[k].value, value));
        all = one;
    }
    return all;
}

static bool passes(const struct filter *f, const struct ensemble *en)
{
    return en->shown.seq && en->number < f->after && (f->states >> en->shown.state & 1) &&
           (f->owner < 0 || f->owner == (int64_t)en->owner) && (!f->name || strcmp(f->name, en->name) == 0) &&
           (!f->key || (en->key && strcmp(f->key, en->key) == 0)) &&
           (!f->older_than || (ensemble_shown_ended(en) && f->now - en->shown.changed > f->older_than)) &&
           has_labels(en, f->call);
}

static struct filter filter_of(const struct api_call *c)
{
    return (struct filter){.after = c->value[API_LIST_AFTER] > 0 ? c->value[API_LIST_AFTER] : INT64_MAX,
                           .older_than = c->value[API_LIST_OLDER] > 0 ? c->value[API_LIST_OLDER] * 1000 : 0,
                           .now = service_now(),
                           .states = c->value[API_LIST_STATE],
                           .name = c->text[API_LIST_NAME],
                           .key = c->text[API_LIST_KEY],
                           .call = c};
}

struct reply api_list(struct api_call *c)
{
    const struct sched *s = &c->service->sched;
    struct filter f = filter_of(c);
    struct err e = {0};
    if (api_whose(c, c->text[API_LIST_OWNER], c->value[API_LIST_ALL] > 0, &f.owner, &e))
        return reply_error(c->request, &e);
    int64_t wanted = c->value[API_LIST_LIMIT], limit = wanted < 1 ? PAGE : wanted > PAGE_MAX ? PAGE_MAX : wanted, n = 0;
    struct buf out = {0};
    char next[32] = "null";
    int64_t last = 0;
    buf_printf(&out, "{\"ensembles\":[");
    for (int i = s->nensembles - 1; i >= 0; i--) {
        if (!passes(&f, s->ensembles[i]))
            continue;
        if (n == limit) {
            snprintf(next, sizeof next, "\"%lld\"", (long long)last);
            break;
        }
        last = s->ensembles[i]->number;
        if (n++)
            buf_printf(&out, ",");
        buf_printf(&out, "%s", api_ensemble_text(s->ensembles[i]));
    }
    buf_printf(&out, "],\"next\":%s}\n", next);
    struct reply done = reply_bytes(c->request, 200, "application/json", out.data, out.len);
    buf_free(&out);
    return done;
}

/* ---- what users have ---- */

static json_t *user_json(const struct quota *q, uint32_t uid)
{
    json_t *j = json_pack("{s:I,s:b}", "owner", (json_int_t)uid, "limited", (int)quota_limits(uid));
    static const struct {
        const char *name, *limit;
        enum quota_kind kind;
    } rows[] = {{"ensembles", "ensembles_limit", QUOTA_ENSEMBLES},
                {"replicas", "replicas_limit", QUOTA_REPLICAS},
                {"bytes", "bytes_limit", QUOTA_STORED_BYTES}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_object_set_new(j, rows[i].name, json_integer((json_int_t)quota_held(q, uid, rows[i].kind)));
        json_object_set_new(j, rows[i].limit, json_integer((json_int_t)quota_limit_of(q, uid, rows[i].kind)));
    }
    return j;
}

struct reply api_usage(struct api_call *c)
{
    const struct sched *s = &c->service->sched;
    uint32_t uid = request_uid(c->request);
    json_t *users = json_pack("[o]", user_json(c->api->quota, uid));
    for (int i = 0; i < s->nusers && service_is_admin(c->service, uid); i++)
        if (s->users[i].uid != uid && quota_held(c->api->quota, s->users[i].uid, QUOTA_ENSEMBLES))
            json_array_append_new(users, user_json(c->api->quota, s->users[i].uid));
    return reply_json(c->request, 200, json_pack("{s:o}", "users", users));
}
