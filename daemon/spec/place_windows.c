/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/place_windows.h"

#include <string.h>

#include "daemon/spec/edit.h"
#include "engine/base/ladder/pilot.h"

/* The component of the pilot's path that has this name; -1: none has. */
static int path_component(const struct pilot *p, const char *name)
{
    for (int c = 0; c < p->path.ncomponents; c++)
        if (!strcmp(p->name[c], name))
            return c;
    return -1;
}

/* A ladder that is in no sample is that of all windows, or nobody knows where it goes. */
static int put_alike(const struct alchemy_settings *a, int component, int nwindows, struct buf *out, struct err *e)
{
    const double value = a->lambda[0][component];
    for (int i = 1; i < a->nwindows; i++)
        if (a->lambda[i][component] != value)
            return err_set(e, ERR_ESTIMATE, "the samples of the pilot have no lambda of the ladder %s",
                           lambda_names[component].ours);
    for (int k = 0; k < nwindows; k++)
        buf_printf(out, "%s%.10g", k ? ", " : "", value);
    return 0;
}

static int put_ladder(const struct alchemy_settings *a, int component, const struct pilot *p, const struct spacing *s,
                      struct buf *out, struct err *e)
{
    const int c = path_component(p, lambda_names[component].ours);
    if (c < 0)
        return put_alike(a, component, s->nwindows, out, e);
    for (int k = 0; k < s->nwindows; k++)
        buf_printf(out, "%s%.10g", k ? ", " : "", s->lambda[k * p->path.ncomponents + c]);
    return 0;
}

/* "{coulomb: [0, 1], vdw: [0, 0.5]}" */
static int put_spacing(const struct alchemy_settings *a, const struct pilot *p, const struct spacing *s,
                       struct buf *out, struct err *e)
{
    const char *join = "{";
    int rc = 0;
    for (int c = 0; c < LAMBDA_COUNT && !rc; c++) {
        if (!a->given[c])
            continue;
        buf_printf(out, "%s%s: [", join, lambda_names[c].ours);
        rc = put_ladder(a, c, p, s, out, e);
        buf_printf(out, "]");
        join = ", ";
    }
    buf_printf(out, "}");
    return rc;
}

static int put_placed(const char *file, const char *text, size_t len, const char *windows, struct buf *out,
                      struct err *e)
{
    struct node *root = NULL;
    struct buf entry = {0};
    if (node_parse(&root, file, text, len, e))
        return -(int)e->code;
    const struct node *ladder = node_get(node_get(root, "alchemy"), "ladder");
    const int line = ladder->line;
    bool put = ladder->kind == NODE_MAP;
    buf_printf(&entry, put ? "placed: %s" : "{placed: %s}", windows);
    if (put)
        edit_first_key(out, text, len, ladder, entry.data);
    else
        put = edit_word(out, text, len, ladder->at, "auto", entry.data);
    buf_free(&entry);
    node_free(root);
    return put ? 0 : err_set(e, ERR_SPEC, "%s:%d: alchemy.ladder: expected auto in one word in one place", file, line);
}

int spec_check_placing(const char *file, const char *text, size_t len, struct err *e)
{
    struct buf out = {0};
    int rc = put_placed(file, text, len, "{}", &out, e);
    buf_free(&out);
    return rc;
}

static int place(const struct spec *s, const char *text, const struct pilot *p, struct buf *out, struct buf *said,
                 struct err *e)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    struct spacing new = {0};
    struct buf windows = {0};
    int rc = spacing_make(&new, &p->path, s->ladder.windows ? s->ladder.windows : a->nwindows, e);
    if (!rc)
        rc = put_spacing(a, p, &new, &windows, e);
    if (!rc)
        rc = put_placed(s->file, text, strlen(text), windows.data, out, e);
    if (!rc)
        buf_printf(
            said,
            "windows placed at equal thermodynamic length, %.2f in all: %.1500s; neighbours are expected to overlap "
            "by %.2f or more, those of the pilot by %.2f",
            pilot_length(p), windows.data, new.overlap, pilot_expected(p));
    spacing_close(&new);
    buf_free(&windows);
    return rc;
}

/* Across a window without samples the path would go straight, whatever its corners are. */
static int check_whole(const struct pilot *p, struct err *e)
{
    for (int i = 0; i < p->path.nsteps; i++)
        if (p->steps[i].to > p->steps[i].from + 1)
            return err_set(e, ERR_ESTIMATE, "window %d of the pilot has no samples; expected some of all windows",
                           p->steps[i].from + 1);
    return 0;
}

/* What is wrong with the first window of which something is. */
static void add_reason(const json_t *results, struct err *e)
{
    const struct err said = *e;
    const json_t *window;
    size_t i;
    json_array_foreach (json_object_get(results, "windows"), i, window) {
        const char *reason = json_string_value(json_object_get(window, "reason"));
        if (!reason)
            continue;
        err_set(e, said.code, "%s; window %d: %s", said.msg, (int)json_integer_value(json_object_get(window, "window")),
                reason);
        return;
    }
}

int spec_place_windows(const struct spec *pilot, const char *text, const json_t *results, struct buf *out,
                       struct buf *said, struct err *e)
{
    struct pilot p = {0};
    int rc = pilot_read(&p, results, e);
    if (!rc)
        rc = check_whole(&p, e);
    if (rc)
        add_reason(results, e);
    else
        rc = place(pilot, text, &p, out, said, e);
    pilot_close(&p);
    if (rc && e->code != ERR_ESTIMATE)
        e->code = ERR_ESTIMATE; /* whatever it was, the same samples would say it again */
    return rc ? err_prefix(e, "no windows can be placed") : 0;
}
