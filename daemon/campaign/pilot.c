/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/campaign/pilot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/pilot.h"

/* What a pilot has none of, or has in another way. */
static const char *const left_out[] = {"protocol", "repeats", "exchange", "stop-when", "allocate", "observables"};

static bool is_left_out(const char *key)
{
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (!strcmp(left_out[i], key))
            return true;
    return false;
}

struct layer pilot_without(const struct layer *layer, struct node **copy)
{
    const struct node *tree = layer->tree;
    *copy = NULL;
    if (!tree || tree->kind != NODE_MAP)
        return *layer;
    struct node *few = xcalloc(1, sizeof *few + (size_t)tree->n * sizeof *tree->items);
    *few = *tree;
    few->items = (struct node_item *)(few + 1);
    few->n = 0;
    for (int i = 0; i < tree->n; i++)
        if (!is_left_out(tree->items[i].key))
            few->items[few->n++] = tree->items[i];
    *copy = few;
    return (struct layer){layer->file, few};
}

/* In one line, as YAML has it. */
static void put_value(const struct node *n, struct buf *out)
{
    if (n->kind == NODE_SCALAR) {
        buf_printf(out, n->quoted ? "\"%s\"" : "%s", n->text);
        return;
    }
    buf_printf(out, n->kind == NODE_LIST ? "[" : "{");
    for (int i = 0; i < n->n; i++) {
        buf_printf(out, i ? ", " : "");
        if (n->items[i].key)
            buf_printf(out, "%s: ", n->items[i].key);
        put_value(n->items[i].value, out);
    }
    buf_printf(out, n->kind == NODE_LIST ? "]" : "}");
}

static void put_stage(const struct node *stage, const char *times, struct buf *out)
{
    const struct node_item *kind = stage->items;
    buf_printf(out, "  - %s: {%s", kind->key, times);
    const char *join = *times ? ", " : "";
    for (int i = 0; i < kind->value->n; i++) {
        const struct node_item *item = &kind->value->items[i];
        if (*times &&
            (!strcmp(item->key, "time") || !strcmp(item->key, "sample-every") || !strcmp(item->key, "frames-every")))
            continue;
        buf_printf(out, "%s%s: ", join, item->key);
        put_value(item->value, out);
        join = ", ";
    }
    buf_printf(out, "}\n");
}

/* The stages up to the first that produces. */
static void put_stages(const struct spec *s, const struct node *protocol, double time, struct buf *out)
{
    buf_printf(out, "repeats: 1\nprotocol:\n");
    for (int i = 0; i < protocol->n; i++) {
        const struct stage *stage = &s->stages[i];
        const struct pilot_times t = pilot_times(s, stage, time);
        char times[80] = "";
        if (stage->kind == STAGE_EQUILIBRATE)
            snprintf(times, sizeof times, "time: %" PRIu64 " steps", t.steps);
        if (stage->kind == STAGE_PRODUCE)
            snprintf(times, sizeof times, "time: %" PRIu64 " steps, sample-every: %" PRIu64 " steps", t.steps,
                     t.sample_every);
        put_stage(protocol->items[i].value, times, out);
        if (stage->kind == STAGE_PRODUCE)
            return;
    }
}

/* Whether windows can be placed anew. */
static int check(const struct spec *s, const char *file, struct err *e)
{
    if (s->settings.alchemy.nwindows < 2)
        return err_set(
            e, ERR_SPEC,
            "%s:%d: alchemy.windows: the campaign says ladder; expected a ladder of two windows or more for the "
            "first pilot",
            file, s->alchemy_line ? s->alchemy_line : 1);
    if (s->ladder.automatic || s->ladder.placed)
        return err_set(e, ERR_SPEC,
                       "%s:%d: alchemy.ladder: the campaign says ladder, too; expected it in one place: the campaign's "
                       "pilots place windows for all repeats, the spec's for one ensemble",
                       file, s->alchemy_line);
    if (s->walkers)
        return err_set(
            e, ERR_SPEC,
            "%s:%d: switch: the campaign says ladder, which places windows; expected no switch, or no ladder", file,
            s->alchemy_line);
    if (s->nstarts)
        return err_set(
            e, ERR_SPEC,
            "%s:%d: system.window-coordinates: the campaign says ladder, so windows will be others; expected "
            "coordinates for all of them",
            file, s->system_line);
    return 0;
}

int pilot_protocol(const char *file, const struct buf *spec, double time, struct buf *out, struct err *e)
{
    struct spec *s = NULL;
    struct node *root = NULL;
    int rc = spec_parse(&s, file, spec->data, spec->len, e);
    if (!rc)
        rc = check(s, file, e);
    if (!rc)
        rc = node_parse(&root, file, spec->data, spec->len, e);
    if (!rc)
        put_stages(s, node_get(root, "protocol"), time, out);
    node_free(root);
    spec_free(s);
    return rc;
}

void pilot_windows(const json_t *windows, struct buf *out)
{
    const char *key;
    const json_t *ladder, *value;
    size_t i;
    buf_printf(out, "alchemy:\n  windows:\n");
    json_object_foreach ((json_t *)windows, key, ladder) {
        buf_printf(out, "    %s: [", key);
        json_array_foreach (ladder, i, value)
            buf_printf(out, "%s%.10g", i ? ", " : "", json_number_value(value));
        buf_printf(out, "]\n");
    }
}
