/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/limits.h"

#include <stdlib.h>

#include "daemon/command_line/file.h"
#include "daemon/spec/document/value.h"
#include "engine/base/buf.h"
#include "engine/base/log.h"

#define LIMIT(name, kind, text)                                                                                        \
    ARG(AMOUNT, name, "N", struct quota_rule, each[QUOTA_##kind], .usual = -1, .about = "limit of one user",           \
        .help = text)

static const struct arg rows[] = {
    ARG(TEXT, "user", "NAME", struct quota_rule, user, .example = "ann", .help = "the user whom the rule is for"),
    ARG(TEXT, "group", "NAME", struct quota_rule, group, .example = "modelling",
        .help = "the group whose members the rule is for"),
    LIMIT("running", RUNNING, "replicas that run at once"),
    LIMIT("ensembles", ENSEMBLES, "ensembles"),
    LIMIT("replicas", REPLICAS, "replicas of all ensembles"),
    LIMIT("stored-bytes", STORED_BYTES, "bytes stored"),
};

#define ROWS (sizeof rows / sizeof *rows)

void limits_schema(json_t *schema)
{
    json_t *limits = json_object_get(json_object_get(schema, "properties"), "limits");
    args_schema(json_object_get(limits, "items"), rows, ROWS);
}

static void put_rule(struct buf *b, const struct quota_rule *r)
{
    buf_printf(b, "%s", b->len ? "; " : "");
    if (r->user)
        buf_printf(b, "user %s ", r->user);
    if (r->group)
        buf_printf(b, "group %s ", r->group);
    buf_printf(b, "weight %g", r->weight);
    for (const struct arg *row = rows; row < rows + ROWS; row++) {
        int64_t n = row->kind == ARG_AMOUNT ? *(const int64_t *)((const char *)r + row->field) : -1;
        if (n >= 0)
            buf_printf(b, " %s %lld", row->name, (long long)n);
    }
}

static int read_rule(struct quota_rule *r, const struct node *n, const char *path, struct err *e)
{
    const struct node *weight = node_get(n, "weight");
    *r = (struct quota_rule){.weight = 1};
    for (int kind = 0; kind < QUOTA_COUNT; kind++)
        r->each[kind] = -1;
    if (weight)
        value_number(weight->text, &r->weight);
    int rc = args_file_take(n, path, rows, ROWS, r, e);
    if (rc == 0 && rules_unknown(r))
        log_line(LOG_WARNING, "%s:%d: limits: no user or group %s is known here: the rule is for nobody", path, n->line,
                 rules_unknown(r));
    return rc;
}

/* The group of administrators; NULL: there is none. */
static const char *read_admins(const struct node *file, const char *path)
{
    const struct node *admins = node_get(file, "admins"), *group = admins ? node_get(admins, "group") : NULL;
    const struct quota_rule like = {.group = group ? group->text : NULL};
    if (rules_unknown(&like))
        log_line(LOG_WARNING, "%s:%d: admins: no group %s is known here: nobody but root administrates", path,
                 group->line, like.group);
    return like.group;
}

int limits_read(struct limits *l, const struct node *file, const char *path, struct err *e)
{
    const struct node *list = node_get(file, "limits");
    const char *admins = read_admins(file, path);
    int n = list ? list->n : 0, rc = 0;
    struct quota_rule *rules = xcalloc((size_t)n + 1, sizeof *rules);
    struct buf text = {0};
    for (int i = 0; i < n && rc == 0; i++) {
        rc = read_rule(&rules[i], list->items[i].value, path, e);
        put_rule(&text, &rules[i]);
    }
    if (!n)
        buf_printf(&text, "none");
    *l = (struct limits){
        .text = text.data, .admins = xstrdup(admins ? admins : "none"), .rules = rules_new(rules, rc ? 0 : n, admins)};
    if (rc)
        limits_free(l);
    free(rules);
    return rc;
}

void limits_free(struct limits *l)
{
    free(l->text);
    free(l->admins);
    rules_free(l->rules);
    *l = (struct limits){0};
}
