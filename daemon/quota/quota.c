/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/quota/quota.h"

#include <stdlib.h>

#include "daemon/quota/rules.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"

#define RESERVE 16 /* one part in so many is root's */

struct quota_user {
    struct quota *quota;
    struct quota_user *next, **link;
    uint32_t uid;
    int charges; /* that name this user; freed with the last */
    int64_t held[QUOTA_COUNT];
};

struct quota {
    int64_t each[QUOTA_COUNT], all[QUOTA_COUNT];
    int64_t held[QUOTA_COUNT]; /* by everybody */
    struct quota_user *users;
    struct quota_rules *rules;
};

static const char *text_of(enum quota_kind kind, int64_t n)
{
    switch (kind) {
#define X(name, one, text, option, each, all)                                                                          \
    case QUOTA_##name:                                                                                                 \
        return number_word(n, one, text);
        QUOTA_KINDS(X)
#undef X
    case QUOTA_COUNT:
        break;
    }
    abort();
}

struct quota *quota_new(void)
{
    struct quota *q = xcalloc(1, sizeof *q);
#define X(name, one, text, option, of_one, of_all) quota_limit(q, QUOTA_##name, of_one, of_all);
    QUOTA_KINDS(X)
#undef X
    return q;
}

void quota_free(struct quota *q)
{
    if (q && q->users)
        abort(); /* somebody still holds something and would write into freed memory */
    if (q)
        rules_free(q->rules);
    free(q);
}

void quota_take_rules(struct quota *q, struct quota_rules *rules)
{
    rules_free(q->rules);
    q->rules = rules;
}

void quota_limit(struct quota *q, enum quota_kind kind, int64_t each, int64_t all)
{
    q->each[kind] = each;
    q->all[kind] = all;
}

int64_t quota_limit_of(const struct quota *q, uint32_t uid, enum quota_kind kind)
{
    const struct quota_rule *r = rules_find(q->rules, uid);
    return r && r->each[kind] >= 0 ? r->each[kind] : q->each[kind];
}

double quota_weight(const struct quota *q, uint32_t uid)
{
    const struct quota_rule *r = rules_find(q->rules, uid);
    return r ? r->weight : 1;
}

bool quota_administrates(const struct quota *q, uint32_t uid)
{
    return rules_administrate(q->rules, uid);
}

int64_t quota_limit_all(const struct quota *q, enum quota_kind kind)
{
    return q->all[kind];
}

static struct quota_user *find(const struct quota *q, uint32_t uid)
{
    struct quota_user *u = q->users;
    while (u && u->uid != uid)
        u = u->next;
    return u;
}

static struct quota_user *find_or_make(struct quota *q, uint32_t uid)
{
    struct quota_user *u = find(q, uid);
    if (u)
        return u;
    u = xcalloc(1, sizeof *u);
    *u = (struct quota_user){.quota = q, .uid = uid, .next = q->users, .link = &q->users};
    if (u->next)
        u->next->link = &u->next;
    q->users = u;
    return u;
}

static void leave(struct quota_user *u)
{
    if (u->charges)
        return;
    *u->link = u->next;
    if (u->next)
        u->next->link = u->link;
    free(u);
}

static int check(const struct quota_user *u, enum quota_kind kind, int64_t more, struct err *e)
{
    const struct quota *q = u->quota;
    int64_t each = quota_limit_of(q, u->uid, kind), all = q->all[kind];
    if (quota_limits(u->uid)) {
        all -= all / RESERVE;
        if (more > each - u->held[kind])
            return err_set(e, ERR_LIMIT, "your limit of %lld %s is reached (%lld held, %lld more asked for)",
                           (long long)each, text_of(kind, each), (long long)u->held[kind], (long long)more);
    }
    if (more > all - q->held[kind])
        return err_set(e, ERR_BUSY, "the service's limit of %lld %s for all users is reached: try again",
                       (long long)all, text_of(kind, all));
    return 0;
}

static void add(struct quota_user *u, enum quota_kind kind, int64_t more)
{
    u->held[kind] += more;
    u->quota->held[kind] += more;
}

static void hold(struct quota_user *u, enum quota_kind kind, int64_t amount, struct quota_charge *c)
{
    u->charges++;
    add(u, kind, amount);
    *c = (struct quota_charge){u, kind, amount};
}

int quota_take(struct quota *q, uint32_t uid, enum quota_kind kind, int64_t amount, struct quota_charge *c,
               struct err *e)
{
    struct quota_user *u = find_or_make(q, uid);
    int rc = check(u, kind, amount, e);
    if (rc) {
        leave(u);
        return rc;
    }
    hold(u, kind, amount, c);
    return 0;
}

void quota_hold(struct quota *q, uint32_t uid, enum quota_kind kind, int64_t amount, struct quota_charge *c)
{
    hold(find_or_make(q, uid), kind, amount, c);
}

int quota_grow(struct quota_charge *c, int64_t more, struct err *e)
{
    int rc = check(c->user, c->kind, more, e);
    if (rc == 0)
        quota_set(c, c->amount + more);
    return rc;
}

void quota_set(struct quota_charge *c, int64_t amount)
{
    add(c->user, c->kind, amount - c->amount);
    c->amount = amount;
}

void quota_return(struct quota_charge *c)
{
    struct quota_user *u = c->user;
    if (!u)
        return;
    add(u, c->kind, -c->amount);
    u->charges--;
    leave(u);
    *c = (struct quota_charge){0};
}

bool quota_limits(uint32_t uid)
{
    return uid != 0;
}

bool quota_exceeded(const struct quota *q, uint32_t uid, enum quota_kind kind, struct err *e)
{
    int64_t held = quota_held(q, uid, kind), each = quota_limit_of(q, uid, kind);
    if (!quota_limits(uid) || held <= each)
        return false;
    err_set(e, ERR_LIMIT, "%lld %s %s held, your limit is %lld: remove ensembles that are not needed", (long long)held,
            text_of(kind, held), number_word(held, "is", "are"), (long long)each);
    return true;
}

int64_t quota_held(const struct quota *q, uint32_t uid, enum quota_kind kind)
{
    const struct quota_user *u = find(q, uid);
    return u ? u->held[kind] : 0;
}
