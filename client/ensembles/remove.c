/* SPDX-License-Identifier: Apache-2.0
 *
 * What ensembles take on disk, and giving it back: du, rm.
 */
#include <stdio.h>
#include <stdlib.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/command/handlers.h"
#include "client/ensembles/confirm.h"
#include "client/ensembles/list.h"
#include "client/ensembles/on_each.h"
#include "client/show/show.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

static void bytes_text(struct buf *out, const json_t *bytes)
{
    if (json_is_integer(bytes))
        number_bytes(out, (double)json_integer_value(bytes));
    else
        buf_printf(out, "not measured yet");
}

/* ---- rm ---- */

static json_t *get_one(const struct client *c, const char *id, struct err *e)
{
    struct buf path = {0};
    client_path(&path, id, "");
    json_t *ensemble = client_get(c, path.data, e);
    buf_free(&path);
    return ensemble;
}

static void print_removed(const struct client *c, struct on_each *m, const json_t *ensemble, const json_t *bytes)
{
    struct buf freed = {0};
    bytes_text(&freed, bytes);
    m->bytes += (double)json_integer_value(bytes);
    if (!c->json)
        printable_line(stdout, "%s %s %s: %s", answer_text(ensemble, "id"), answer_text(ensemble, "name"),
                       c->dry_run ? "would be removed" : "removed", freed.data);
    json_array_append_new(m->ensembles, json_pack("{s:s,s:s,s:O?}", "id", answer_text(ensemble, "id"), "name",
                                                  answer_text(ensemble, "name"), "bytes", bytes));
    buf_free(&freed);
}

/* The ensemble is asked for first: a key or a name is said as what it stood for, once it is gone. */
static int remove_one(const struct client *c, const json_t *item, struct on_each *m, struct err *e)
{
    json_t *ensemble = get_one(c, answer_text(item, "id"), e), *gone = NULL;
    struct buf path = {0};
    if (!ensemble)
        return -(int)e->code;
    client_path(&path, answer_text(ensemble, "id"), "");
    if (c->dry_run && !ensemble_ended(answer_text(ensemble, "state")))
        err_set(e, ERR_CONFLICT, "ensemble %s is %s: cancel it first", answer_text(ensemble, "id"),
                answer_text(ensemble, "state"));
    else if (c->dry_run)
        print_removed(c, m, ensemble, json_object_get(ensemble, "bytes"));
    else if ((gone = client_ask(c, "DELETE", path.data, e)))
        print_removed(c, m, ensemble, json_object_get(gone, "bytes"));
    buf_free(&path);
    json_decref(gone);
    json_decref(ensemble);
    return -(int)e->code;
}

/* Several are not removed from a terminal unasked. */
static bool may_remove(const struct client *c, const json_t *chosen)
{
    char what[80];
    snprintf(what, sizeof what, "remove %zu ensembles with all their files, for ever", json_array_size(chosen));
    return json_array_size(chosen) < 2 || c->dry_run || ask_about(c, what, chosen);
}

int rm_main(struct client *c, int argc, char **argv)
{
    struct on_each m = {.agree = may_remove};
    int rc = on_each(c, argc, argv, "done,failed,cancelled", remove_one, &m);
    struct buf all = {0};
    number_bytes(&all, m.bytes);
    if (m.several)
        client_say(c, "%s %s", all.data, c->dry_run ? "would be freed" : "freed");
    buf_free(&all);
    return rc;
}

/* ---- du ---- */

static int by_bytes(const void *a, const void *b)
{
    long long x = answer_whole(*(json_t *const *)a, "bytes"), y = answer_whole(*(json_t *const *)b, "bytes");
    return x > y ? -1 : x < y;
}

/* The same ensembles, the largest first: a new reference. */
static json_t *sorted(const json_t *ensembles)
{
    size_t n = json_array_size(ensembles);
    json_t **items = xcalloc(n, sizeof *items), *out = json_array();
    for (size_t i = 0; i < n; i++)
        items[i] = json_array_get(ensembles, i);
    qsort(items, n, sizeof *items, by_bytes);
    for (size_t i = 0; i < n; i++)
        json_array_append(out, items[i]);
    free(items);
    return out;
}

static void print_space(const struct client *c, const json_t *ensembles)
{
    static const char *const heads[] = {"id", "name", "state", "bytes", "size"};
    const bool others = c->owner || c->all_users;
    struct table t;
    const json_t *e;
    size_t i;
    table_setup(&t, others ? "l l= l r2 r l" : "l l= l r2 r");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    if (others)
        table_cell(&t, "owner");
    json_array_foreach (ensembles, i, e) {
        const json_t *bytes = json_object_get(e, "bytes");
        struct buf size = {0};
        bytes_text(&size, bytes);
        table_cell(&t, "%s", answer_text(e, "id"));
        table_cell(&t, "%s", answer_text(e, "name"));
        table_state(&t, answer_text(e, "state"));
        if (json_is_integer(bytes))
            table_cell(&t, "%lld", (long long)json_integer_value(bytes));
        else
            table_cell(&t, "-");
        table_cell(&t, "%s", size.data);
        if (others)
            ensembles_owner(&t, e);
        buf_free(&size);
    }
    client_table(c, &t);
}

/* What the caller has of what the caller may have. */
static void say_usage(const struct client *c, const json_t *usage)
{
    const json_t *own = json_array_get(json_object_get(usage, "users"), 0);
    struct buf has = {0}, may = {0};
    number_bytes(&has, (double)answer_whole(own, "bytes"));
    number_bytes(&may, (double)answer_whole(own, "bytes_limit"));
    long long limit = answer_whole(own, "ensembles_limit"), n = answer_whole(own, "ensembles");
    if (json_is_false(json_object_get(own, "limited")))
        client_say(c, "you have %lld %s and %s; limits of one user do not hold for you", n,
                   number_word(n, "ensemble", "ensembles"), has.data);
    else
        client_say(c, "you have %lld of %lld %s and %s of %s", n, limit, number_word(limit, "ensemble", "ensembles"),
                   has.data, may.data);
    buf_free(&has);
    buf_free(&may);
}

/* Those named, or those that the filters leave. */
static json_t *space_get(const struct client *c, int argc, char **argv, struct err *e)
{
    json_t *found = argc ? json_array() : ensembles_get(c, e);
    for (int i = 0; i < argc; i++) {
        json_t *one = get_one(c, argv[i], e);
        if (!one) {
            json_decref(found);
            return NULL;
        }
        json_object_del(one, "replicas");
        json_array_append_new(found, one);
    }
    json_t *out = found ? sorted(found) : NULL;
    json_decref(found);
    return out;
}

int du_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    json_t *ensembles = space_get(c, argc, argv, &e), *usage = ensembles ? client_get(c, "/v1/usage", &e) : NULL;
    if (!usage) {
        json_decref(ensembles);
        return client_fail(c, &e);
    }
    if (c->json) {
        json_object_set(usage, "ensembles", ensembles);
        client_print(usage);
    } else {
        print_space(c, ensembles);
        say_usage(c, usage);
    }
    json_decref(usage);
    json_decref(ensembles);
    return EXIT_OK;
}
