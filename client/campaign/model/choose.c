/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of a campaign's ensembles are meant: those of a system or an edge, or with a key (--only, --skip), and those of
 * legs (--leg).
 */
#include <string.h>

#include "client/ask/answer.h"
#include "client/campaign/model/model.h"

static bool is_named(const json_t *planned, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(words[i], answer_text(planned, "item")) || !strcmp(words[i], answer_text(planned, "key")))
            return true;
    return false;
}

static bool is_of_leg(const json_t *planned, const char *const *legs, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(legs[i], answer_text(planned, "leg")))
            return true;
    return n == 0;
}

static bool is_chosen(const struct client *c, const json_t *planned)
{
    return is_of_leg(planned, c->legs, c->nlegs) && (!c->nonly || is_named(planned, c->only, c->nonly)) &&
           !is_named(planned, c->skip, c->nskip);
}

/* Whether a word names any ensemble that is planned. */
static bool stands(const json_t *all, const char *word, bool leg)
{
    const json_t *one;
    size_t i;
    json_array_foreach (all, i, one)
        if (leg ? is_of_leg(one, &word, 1) : is_named(one, &word, 1))
            return true;
    return false;
}

static int check_words(const struct campaign_view *k, const char *const *words, int n, const char *option,
                       struct err *e)
{
    const json_t *all = json_object_get(k->plan, "ensembles");
    bool leg = !strcmp(option, "leg");
    for (int i = 0; i < n; i++)
        if (!stands(all, words[i], leg))
            return err_set(e, ERR_USAGE, "--%s %.200s: %s has no %s of this name", option, words[i], k->file,
                           leg ? "leg" : "system, edge or key");
    return 0;
}

bool campaign_is_part(const struct client *c)
{
    return c->nonly || c->nskip || c->nlegs;
}

int campaign_choose(struct campaign_view *k, const struct client *c, struct err *e)
{
    json_t *chosen = json_array(), *one;
    size_t i;
    int rc = check_words(k, c->only, c->nonly, "only", e);
    rc = rc ? rc : check_words(k, c->skip, c->nskip, "skip", e);
    rc = rc ? rc : check_words(k, c->legs, c->nlegs, "leg", e);
    json_array_foreach (json_object_get(k->plan, "ensembles"), i, one)
        if (is_chosen(c, one))
            json_array_append(chosen, one);
    if (!rc && !json_array_size(chosen))
        rc = err_set(e, ERR_USAGE, "%s: --only, --skip and --leg together leave none of its ensembles", k->file);
    if (!rc)
        json_object_set(k->plan, "ensembles", chosen);
    json_decref(chosen);
    return rc;
}
