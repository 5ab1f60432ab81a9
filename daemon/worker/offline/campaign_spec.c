/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/offline/campaign_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/campaign/pilot.h"
#include "daemon/spec/document/value.h"

#define SEED_MAX INT64_C(9007199254740991) /* of the schema */

/* The seed of a repeat, where its spec has a number, or none; else it is random, which the service draws, or wrong,
 * which is said later. */
static bool find_seed(const struct node *spec, int repeat, int64_t *seed)
{
    const struct node *integrator = node_get(spec, "integrator");
    const struct node *given = node_get(integrator, "seed");
    *seed = 1;
    if (integrator && integrator->kind != NODE_MAP)
        return false;
    if (given && (given->kind != NODE_SCALAR || !value_integer(given->text, seed) || *seed < 0 || *seed > SEED_MAX))
        return false;
    *seed = *seed > SEED_MAX - repeat ? *seed - SEED_MAX + repeat - 1 : *seed + repeat;
    return true;
}

static int write_layers(const struct campaign_item *it, const struct layer *own, struct written *out, struct err *e)
{
    struct layer layers[CAMPAIGN_LAYERS + 1];
    memcpy(layers, it->layers, sizeof it->layers);
    layers[it->nlayers] = *own;
    return template_write(layers, it->nlayers + 1, it->vars, it->nvars, out, e);
}

/* What a pilot has in place of the spec's protocol; `text` is its own part so far. */
static int add_protocol(const struct listing *l, const struct campaign_item *it, const char *key, struct buf *text,
                        struct err *e)
{
    struct written whole = {0};
    struct node *own = NULL;
    int rc = node_parse(&own, key, text->data, text->len, e);
    if (!rc)
        rc = write_layers(it, &(struct layer){key, own}, &whole, e);
    if (!rc && pilot_protocol(it->leg->spec, &whole.text, l->campaign->ladder.pilot, text, e)) {
        struct buf traced = {0};
        template_trace(&whole, it->leg->spec, e->msg, &traced);
        rc = err_set(e, e->code, "%s", traced.data);
        buf_free(&traced);
    }
    node_free(own);
    template_free(&whole);
    return rc;
}

/* Name and seed of one repeat, as a part of its spec, and what a pilot and a ladder put in place of what it says. */
static int own_part(const struct listing *l, const struct campaign_item *it, const char *key, int repeat,
                    struct node **out, struct err *e)
{
    struct written shared = {0};
    struct node *spec = NULL;
    struct buf text = {0};
    int64_t seed;
    int rc = template_write(it->layers, it->nlayers, it->vars, it->nvars, &shared, e);
    if (!rc)
        rc = node_parse(&spec, key, shared.text.data ? shared.text.data : "", shared.text.len, e);
    buf_printf(&text, "name: %s\n", key);
    if (!rc && find_seed(spec, repeat, &seed))
        buf_printf(&text, "integrator: {seed: %" PRId64 "}\n", seed);
    if (!rc && it->pilot)
        rc = add_protocol(l, it, key, &text, e);
    if (!rc && it->windows)
        pilot_windows(it->windows, &text);
    if (!rc)
        rc = node_parse(out, key, text.data, text.len, e);
    node_free(spec);
    template_free(&shared);
    buf_free(&text);
    return rc;
}

int campaign_write_spec(const struct listing *l, const struct campaign_item *it, const char *key, int repeat,
                        struct written *out, struct err *e)
{
    struct campaign_item few = *it;
    struct node *own = NULL, *copies[CAMPAIGN_LAYERS] = {NULL};
    int rc = own_part(l, it, key, repeat, &own, e);
    for (int i = 0; i < it->nlayers && it->pilot; i++)
        few.layers[i] = pilot_without(&it->layers[i], &copies[i]);
    if (!rc)
        rc = write_layers(&few, &(struct layer){key, own}, out, e);
    for (int i = 0; i < out->lines; i++) /* lines of our own are traced to the leg */
        if (out->origins[i].file == key)
            out->origins[i] = (struct origin){it->leg->spec, 1};
    for (int i = 0; i < it->nlayers; i++)
        free(copies[i]);
    node_free(own);
    return rc;
}
