/* SPDX-License-Identifier: Apache-2.0
 *
 * The ensembles of a campaign: their keys, and what their specs are made of.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/campaign/campaign.h"
#include "engine/base/checksum.h"

int campaign_items(const struct campaign *c, const struct campaign_leg *leg)
{
    return leg->of_edges ? c->nedges : c->nsystems;
}

const char *campaign_item(const struct campaign *c, const struct campaign_leg *leg, int item)
{
    return leg->of_edges ? c->edges[item].name : c->systems[item].name;
}

static void make_key(const struct campaign *c, const struct campaign_leg *leg, int item, const char *word, int number,
                     char key[CAMPAIGN_KEY + 1])
{
    enum { DIGITS = 16 };
    struct buf whole = {0};
    buf_printf(&whole, "%s.%s.%s.%s%d", c->name, campaign_item(c, leg, item), leg->name, word, number);
    if (whole.len <= CAMPAIGN_KEY)
        memcpy(key, whole.data, whole.len + 1);
    else
        snprintf(key, CAMPAIGN_KEY + 1, "%.*s-%016" PRIx64, CAMPAIGN_KEY - DIGITS - 1, whole.data,
                 checksum(whole.data, whole.len));
    buf_free(&whole);
}

void campaign_key(const struct campaign *c, const struct campaign_leg *leg, int item, int repeat,
                  char key[CAMPAIGN_KEY + 1])
{
    make_key(c, leg, item, "", repeat + 1, key);
}

void campaign_pilot_key(const struct campaign *c, const struct campaign_leg *leg, int item, int round,
                        char key[CAMPAIGN_KEY + 1])
{
    make_key(c, leg, item, "pilot", round, key);
}

int campaign_layers(const struct campaign *c, const struct campaign_leg *leg, int item, const struct node *spec,
                    struct layer layers[CAMPAIGN_LAYERS])
{
    int n = 0;
    layers[n++] = (struct layer){leg->spec, spec};
    layers[n++] = (struct layer){c->file, c->shared};
    layers[n++] = (struct layer){c->file, leg->override};
    if (!leg->of_edges)
        layers[n++] = (struct layer){c->file, c->systems[item].override};
    return n;
}

struct list {
    struct variable *items;
    int n;
};

static void add_item(struct list *l, const char *of, const char *name, const char *value)
{
    l->items = xrealloc(l->items, (size_t)l->n + 1, sizeof *l->items);
    l->items[l->n++] = (struct variable){of, name, value};
}

static void add_all(struct list *l, const char *of, const struct values *values)
{
    for (int i = 0; i < values->n; i++)
        add_item(l, of, values->items[i].name, values->items[i].value);
}

struct variable *campaign_variables(const struct campaign *c, const struct campaign_leg *leg, int item, int *n)
{
    struct list l = {0};
    add_item(&l, NULL, "campaign", c->name);
    add_item(&l, NULL, "leg", leg->name);
    if (leg->of_edges) {
        const struct campaign_edge *edge = &c->edges[item];
        const struct campaign_system *i = &c->systems[edge->ligand[0]], *j = &c->systems[edge->ligand[1]];
        add_item(&l, NULL, "ligand_i", i->name);
        add_item(&l, NULL, "ligand_j", j->name);
        add_all(&l, NULL, &edge->values);
        add_all(&l, "ligand_i", &i->values);
        add_all(&l, "ligand_j", &j->values);
    } else {
        add_item(&l, NULL, "system", c->systems[item].name);
        add_all(&l, NULL, &c->systems[item].values);
    }
    *n = l.n;
    return l.items;
}
