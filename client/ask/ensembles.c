/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ask/ensembles.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/command/command.h"
#include "engine/base/json/text_json.h"

bool ensemble_ended(const char *state)
{
    return !strcmp(state, "done") || !strcmp(state, "failed") || !strcmp(state, "cancelled");
}

/* ---- which ---- */

static void add_parameter(struct buf *path, const char *name, const char *value)
{
    buf_printf(path, "%c%s=", strchr(path->data, '?') ? '&' : '?', name);
    http_escape(path, value);
}

/* One page; *next (emptied first) is where the one after it begins, empty after the last. */
static json_t *get_page(const struct client *c, int64_t limit, struct buf *next, struct err *e)
{
    struct buf path = {0};
    char number[24];
    buf_printf(&path, "/v1/ensembles");
    snprintf(number, sizeof number, "%" PRId64, limit);
    if (limit)
        add_parameter(&path, "limit", number);
    if (next->len)
        add_parameter(&path, "after", next->data);
    if (c->owner)
        add_parameter(&path, "owner", c->owner);
    if (c->all_users)
        add_parameter(&path, "all_users", "1");
    for (int i = 0; i < c->nstates; i++)
        add_parameter(&path, "state", c->states[i]);
    snprintf(number, sizeof number, "%.0f", c->older_than);
    if (c->older_than > 0)
        add_parameter(&path, "older_than", number);
    for (int i = 0; i < c->nlabels; i++)
        add_parameter(&path, "label", c->labels[i]);
    json_t *page = client_get(c, path.data, e);
    next->len = 0;
    buf_printf(next, "%s", answer_text(page, "next"));
    buf_free(&path);
    return page;
}

json_t *ensembles_get(const struct client *c, struct err *e)
{
    json_t *all = json_array(), *page, *listed;
    struct buf next = {0};
    int64_t left = c->limit;
    do {
        if (!(page = get_page(c, left, &next, e))) {
            json_decref(all);
            all = NULL;
            break;
        }
        listed = json_object_get(page, "ensembles");
        left -= c->limit ? (int64_t)json_array_size(listed) : 0;
        json_array_extend(all, listed);
        json_decref(page);
    } while (next.len && left >= (c->limit ? 1 : 0));
    buf_free(&next);
    return all;
}

/* Whether a comma-separated list has a word. */
static bool lists(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ',') && (p[n] == ',' || !p[n]))
            return true;
    return false;
}

static bool is_chosen(const struct client *c, const json_t *ensemble, const char *states)
{
    const json_t *owner = json_object_get(ensemble, "owner");
    if (!c->owner && !c->all_users && json_is_integer(owner) && json_integer_value(owner) != (json_int_t)geteuid())
        return false;
    if (c->among && !json_object_get(c->among, answer_text(ensemble, "key")))
        return false;
    return c->nstates || lists(states, answer_text(ensemble, "state"));
}

json_t *ensembles_chosen(const struct client *c, int argc, char **argv, const char *states, struct err *e)
{
    bool choice = c->all || c->owner || c->all_users || c->nstates || c->nlabels || c->older_than > 0;
    json_t *chosen = json_array(), *all, *ensemble;
    size_t i;
    if (choice == (argc > 0)) {
        json_decref(chosen);
        err_set(e, ERR_USAGE, "%s wants either IDs or a choice: --all, --state or --label", c->command->name);
        return NULL;
    }
    for (int k = 0; k < argc; k++)
        json_array_append_new(chosen, json_pack("{s:o}", "id", text_json(argv[k], strlen(argv[k]))));
    if (argc)
        return chosen;
    if (!(all = ensembles_get(c, e))) {
        json_decref(chosen);
        return NULL;
    }
    json_array_foreach (all, i, ensemble)
        if (is_chosen(c, ensemble, states))
            json_array_append(chosen, ensemble);
    json_decref(all);
    if (!json_array_size(chosen))
        client_say(c, "nothing to %s", c->command->name);
    return chosen;
}
