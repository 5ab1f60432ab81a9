/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/quota/rules.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define GROUPS_MOST 4096 /* of one user */

/* A user who was met, and which rule fits; -1: none. */
struct rules_known {
    uint32_t uid;
    int rule;
    bool administrates;
};

struct quota_rules {
    int n, nknown;
    struct quota_rule *rules;
    char *admins; /* a group; NULL: none */
    struct rules_known *known;
};

struct quota_rules *rules_new(const struct quota_rule *rules, int n, const char *admins)
{
    struct quota_rules *r = xcalloc(1, sizeof *r);
    r->n = n;
    r->admins = admins ? xstrdup(admins) : NULL;
    r->rules = xcalloc((size_t)n + 1, sizeof *r->rules);
    for (int i = 0; i < n; i++) {
        r->rules[i] = rules[i];
        r->rules[i].user = rules[i].user ? xstrdup(rules[i].user) : NULL;
        r->rules[i].group = rules[i].group ? xstrdup(rules[i].group) : NULL;
    }
    return r;
}

void rules_free(struct quota_rules *r)
{
    for (int i = 0; r && i < r->n; i++) {
        free((char *)r->rules[i].user);
        free((char *)r->rules[i].group);
    }
    if (r) {
        free(r->rules);
        free(r->known);
        free(r->admins);
    }
    free(r);
}

const char *rules_unknown(const struct quota_rule *rule)
{
    if (rule->user && !getpwnam(rule->user))
        return rule->user;
    return rule->group && !getgrnam(rule->group) ? rule->group : NULL;
}

static bool is_user(const char *name, uint32_t uid)
{
    const struct passwd *p = getpwnam(name);
    return p && p->pw_uid == uid;
}

static bool is_member(const char *name, uint32_t uid)
{
    static gid_t groups[GROUPS_MOST];
    const struct group *g = getgrnam(name);
    gid_t gid = g ? g->gr_gid : 0;
    const struct passwd *p = g ? getpwuid(uid) : NULL;
    int n = GROUPS_MOST;
    if (!p || getgrouplist(p->pw_name, p->pw_gid, groups, &n) < 0)
        return false;
    for (int i = 0; i < n; i++)
        if (groups[i] == gid)
            return true;
    return false;
}

static int first_that_fits(const struct quota_rules *r, uint32_t uid)
{
    for (int i = 0; i < r->n; i++)
        if ((!r->rules[i].user || is_user(r->rules[i].user, uid)) &&
            (!r->rules[i].group || is_member(r->rules[i].group, uid)))
            return i;
    return -1;
}

static const struct rules_known *know(struct quota_rules *r, uint32_t uid)
{
    int at = 0;
    while (at < r->nknown && r->known[at].uid != uid)
        at++;
    if (at == r->nknown) {
        r->known = xrealloc(r->known, (size_t)r->nknown + 1, sizeof *r->known);
        r->known[r->nknown++] =
            (struct rules_known){uid, first_that_fits(r, uid), r->admins && is_member(r->admins, uid)};
    }
    return &r->known[at];
}

const struct quota_rule *rules_find(struct quota_rules *r, uint32_t uid)
{
    int rule = r && r->n ? know(r, uid)->rule : -1;
    return rule < 0 ? NULL : &r->rules[rule];
}

bool rules_administrate(struct quota_rules *r, uint32_t uid)
{
    return r && r->admins && know(r, uid)->administrates;
}
