/* SPDX-License-Identifier: Apache-2.0
 *
 * How ensembles look in a table: list, status.
 */
#include "client/ensembles/list.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/command/handlers.h"
#include "client/show/show.h"
#include "engine/base/json/text_json.h"

static void labels_cell(struct table *t, const json_t *e)
{
    struct buf text = {0};
    answer_labels(&text, e);
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

/* On a page it leads to the ensemble's own. */
static void id_cell(struct table *t, const char *id)
{
    struct buf place = {0};
    http_escape(&place, id);
    table_cell(t, "%s", id);
    table_link(t, place.len ? place.data : "");
    buf_free(&place);
}

static void windows_cell(struct table *t, const json_t *e)
{
    struct buf text = {0};
    buf_printf(&text, "%lld/%lld", answer_whole(e, "done"), answer_replicas(e));
    if (answer_whole(e, "failed"))
        buf_printf(&text, ", %lld failed", answer_whole(e, "failed"));
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

static void time_cell(struct table *t, const char *time)
{
    struct buf text = {0};
    show_time(&text, time);
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

void ensembles_owner(struct table *t, const json_t *ensemble)
{
    const json_t *owner = json_object_get(ensemble, "owner");
    const struct passwd *user = json_is_integer(owner) ? getpwuid((uid_t)json_integer_value(owner)) : NULL;
    if (user)
        table_cell(t, "%s", user->pw_name);
    else
        table_cell(t, "%lld", (long long)json_integer_value(owner));
}

static void estimate_cell(struct table *t, const json_t *e)
{
    struct buf text = {0};
    answer_estimate(&text, e);
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

void ensembles_put(const struct client *c, const json_t *ensembles, struct table *t)
{
    bool admin = geteuid() == 0 || c->owner || c->all_users;
    static const char *const heads[] = {"id",      "name", "state",  "windows", "progress",
                                        "created", "key",  "labels", "reason"};
    const json_t *e;
    size_t i;
    table_setup(t, admin ? "l l== l r2 r1 l5 l=7 l~8 l~3 l6 l~4" : "l l== l r2 r1 l5 l=6 l~7 l~3 l~4");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(t, "%s", heads[h]);
    if (admin)
        table_cell(t, "owner");
    table_cell(t, "so far");
    json_array_foreach (ensembles, i, e) {
        id_cell(t, answer_text(e, "id"));
        table_cell(t, "%s", answer_text(e, "name"));
        table_state(t, answer_text(e, "state"));
        windows_cell(t, e);
        table_cell(t, "%d %%", (int)(100 * answer_number(e, "progress")));
        time_cell(t, answer_text(e, "created"));
        table_cell(t, "%s", answer_text(e, "key"));
        labels_cell(t, e);
        table_cell(t, "%s", answer_text(e, "reason"));
        if (admin)
            ensembles_owner(t, e);
        estimate_cell(t, e);
    }
}

int list_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    struct table t;
    json_t *ensembles = ensembles_get(c, &e), *ensemble;
    size_t i;
    if (!ensembles)
        return client_fail(c, &e);
    if (c->json) {
        json_t *answer = json_pack("{s:O}", "ensembles", ensembles);
        client_print(answer);
        json_decref(answer);
    } else if (c->jsonl) {
        json_array_foreach (ensembles, i, ensemble)
            client_print(ensemble);
    } else {
        ensembles_put(c, ensembles, &t);
        client_table(c, &t);
    }
    json_decref(ensembles);
    return EXIT_OK;
}
