/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows added to a spec between those that it has: its text, with numbers put into the ladders and all else as it
 * was.
 */
#include "daemon/spec/add_windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/document/node.h"
#include "daemon/spec/document/value.h"
#include "daemon/spec/edit.h"
#include "daemon/spec/sections/reader.h"
#include "engine/base/suggest.h"

/* One window as it is asked for. */
struct wish {
    char text[160];
    bool named[LAMBDA_COUNT];
    double lambda[LAMBDA_COUNT];
};

/* ---- what is asked for ---- */

static int component_of(const char *name)
{
    for (int c = 0; c < LAMBDA_COUNT; c++)
        if (!strcmp(lambda_names[c].ours, name))
            return c;
    return -1;
}

static int unknown_component(const struct wish *w, const char *name, struct err *e)
{
    const char *known[LAMBDA_COUNT];
    struct buf all = {0};
    for (int c = 0; c < LAMBDA_COUNT; c++) {
        known[c] = lambda_names[c].ours;
        buf_printf(&all, "%s%s", c ? ", " : "", known[c]);
    }
    const char *near = suggest_nearest(name, known, LAMBDA_COUNT);
    err_set(e, ERR_USAGE, "window \"%s\": lambda has no component \"%.40s\"%s%s%s; expected %s", w->text, name,
            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", all.data);
    buf_free(&all);
    return -ERR_USAGE;
}

/* "coulomb: 1" */
static int read_component(struct wish *w, char *text, struct err *e)
{
    char *colon = strchr(text, ':'), *name = text + strspn(text, " ");
    double value = NAN;
    int c = -1;
    if (colon) {
        *colon = '\0';
        name[strcspn(name, " ")] = '\0';
        c = component_of(name);
        char *number = colon + 1 + strspn(colon + 1, " ");
        number[strcspn(number, " ")] = '\0';
        if (!value_number(number, &value))
            value = NAN;
    }
    if (colon && c < 0)
        return unknown_component(w, name, e);
    if (c < 0 || w->named[c] || !(value >= 0 && value <= 1))
        return err_set(e, ERR_USAGE,
                       "window \"%s\": expected components of lambda once each, with numbers from 0 to 1, as in "
                       "\"coulomb: 1, vdw: 0.65\"",
                       w->text);
    w->named[c] = true;
    w->lambda[c] = value;
    return 0;
}

static int read_wish(struct wish *w, const char *text, size_t len, struct err *e)
{
    char copy[sizeof w->text];
    *w = (struct wish){0};
    if (len >= sizeof w->text)
        return err_set(e, ERR_USAGE, "a window of %zu characters; expected at most %zu", len, sizeof w->text - 1);
    memcpy(w->text, text, len);
    memcpy(copy, w->text, sizeof copy);
    char *state = NULL, *part = strtok_r(copy, ",", &state);
    int rc = part ? 0 : err_set(e, ERR_USAGE, "an empty window; expected one as in \"coulomb: 1, vdw: 0.65\"");
    for (; part && !rc; part = strtok_r(NULL, ",", &state))
        rc = read_component(w, part, e);
    return rc;
}

/* ---- its place ---- */

/* The windows as they become more. */
struct rung {
    int origin; /* which window of the spec it is; -1: new */
    double lambda[LAMBDA_COUNT];
};

struct rungs {
    const struct spec *spec;
    struct rung *items;
    int n;
};

static void rungs_begin(struct rungs *r, const struct spec *s)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    *r = (struct rungs){.spec = s, .items = xcalloc((size_t)a->nwindows, sizeof *r->items), .n = a->nwindows};
    for (int i = 0; i < r->n; i++) {
        r->items[i].origin = i;
        memcpy(r->items[i].lambda, a->lambda[i], sizeof r->items[i].lambda);
    }
}

/* Whether the window lies between `k` and the next: where one component changes there, anywhere between; where several
 * do, strictly between in all of them, so that nothing is off there that is on in neither neighbour's company. A
 * component without a name is to be the same in both. */
static bool lies_between(const struct rungs *r, const struct wish *w, int k)
{
    for (int c = 0; c < LAMBDA_COUNT; c++) {
        double from = r->items[k].lambda[c], to = r->items[k + 1].lambda[c];
        if (!r->spec->settings.alchemy.given[c])
            continue;
        if (from == to ? w->named[c] && w->lambda[c] != from
                       : !w->named[c] || w->lambda[c] <= fmin(from, to) || w->lambda[c] >= fmax(from, to))
            return false;
    }
    return true;
}

/* The window that the ladder has already, -1: it has none such. */
static int find_same(const struct rungs *r, const struct wish *w)
{
    for (int i = 0; i < r->n; i++) {
        bool same = r->items[i].origin >= 0, changes = false;
        for (int c = 0; c < LAMBDA_COUNT && same; c++) {
            same = !w->named[c] || w->lambda[c] == r->items[i].lambda[c];
            changes |= w->named[c];
        }
        if (same && changes)
            return r->items[i].origin;
    }
    return -1;
}

/* The window before it, or an error. */
static int find_place(const struct rungs *r, const struct wish *w, struct err *e)
{
    const struct spec *s = r->spec;
    int found = 0, place = -1;
    for (int c = 0; c < LAMBDA_COUNT; c++)
        if (w->named[c] && !s->settings.alchemy.given[c])
            return err_set(e, ERR_USAGE, "window \"%s\": %s: alchemy.windows has no ladder of %s", w->text, s->file,
                           lambda_names[c].ours);
    for (int i = 0; i + 1 < r->n; i++)
        if (lies_between(r, w, i)) {
            place = i;
            found++;
        }
    if (found == 1)
        return place;
    const int same = found ? -1 : find_same(r, w);
    if (same >= 0)
        return err_set(e, ERR_USAGE, "window \"%s\": the ladder of %s has it already: it is window %d", w->text,
                       s->file, same);
    return err_set(e, ERR_USAGE,
                   "window \"%s\" lies between %s that follow each other in the ladder of %s; expected every component "
                   "that changes from one to the next, with a value between theirs",
                   w->text, found ? "several pairs of windows" : "no two windows", s->file);
}

static int add_rung(struct rungs *r, const struct wish *w, struct err *e)
{
    const int k = find_place(r, w, e);
    if (k < 0)
        return k;
    r->items = xrealloc(r->items, (size_t)r->n + 1, sizeof *r->items);
    memmove(r->items + k + 2, r->items + k + 1, (size_t)(r->n - k - 1) * sizeof *r->items);
    r->items[k + 1] = r->items[k];
    r->items[k + 1].origin = -1;
    for (int c = 0; c < LAMBDA_COUNT; c++)
        if (w->named[c])
            r->items[k + 1].lambda[c] = w->lambda[c];
    r->n++;
    return 0;
}

/* ---- the text ---- */

/* A number before what is at `at`: with a comma, or on a line of its own where each follows a dash. */
static void put_number(struct buf *out, const char *text, size_t at, double value)
{
    size_t line = at, dashes = 0;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    for (size_t i = line; i < at; i++)
        dashes += text[i] == '-' ? 1 : text[i] == ' ' ? 0 : 2;
    buf_printf(out, "%.15g", value);
    if (dashes == 1)
        buf_printf(out, "\n%.*s", (int)(at - line), text + line);
    else
        buf_printf(out, ", ");
}

/* A number that goes before the character `at`; `order` among those that go there. */
struct insertion {
    size_t at;
    int order;
    double value;
};

static int by_place(const void *a, const void *b)
{
    const struct insertion *x = a, *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->order > y->order) - (x->order < y->order);
}

/* What goes into the ladder of one component: each new window's number before the next window that the spec has. */
static int list_insertions(const struct rungs *r, const struct node *ladder, int component, struct insertion *out)
{
    int n = 0, next = r->spec->settings.alchemy.nwindows;
    for (int i = r->n - 1; i >= 0; i--) {
        const struct rung *w = &r->items[i];
        if (w->origin >= 0)
            next = w->origin;
        else
            out[n++] = (struct insertion){ladder->items[next].value->at, i, w->lambda[component]};
    }
    return n;
}

/* Appends the text with all windows. */
static int put_windows(const struct rungs *r, const char *text, size_t len, struct buf *out, struct err *e)
{
    const struct alchemy_settings *a = &r->spec->settings.alchemy;
    struct node *root;
    if (node_parse(&root, r->spec->file, text, len, e))
        return -(int)e->code;
    const struct node *alchemy = node_get(root, "alchemy"), *placed = node_get(node_get(alchemy, "ladder"), "placed");
    const struct node *windows = placed ? placed : node_get(alchemy, "windows");
    struct insertion *put = xcalloc((size_t)(r->n - a->nwindows) * LAMBDA_COUNT, sizeof *put);
    int n = 0;
    for (int c = 0; c < LAMBDA_COUNT; c++)
        if (a->given[c])
            n += list_insertions(r, node_get(windows, lambda_names[c].ours), c, put + n);
    node_free(root);
    qsort(put, (size_t)n, sizeof *put, by_place);
    size_t done = 0, at = 0;
    for (int i = 0; i < n; i++) {
        at += spec_byte_of(text + at, len - at, put[i].at - (i ? put[i - 1].at : 0));
        buf_add(out, text + done, at - done);
        put_number(out, text, at, put[i].value);
        done = at;
    }
    buf_add(out, text + done, len - done);
    free(put);
    return 0;
}

/* ---- all of it ---- */

/* What its samples, or what it does with them, would not bear. */
static int check_windows(const struct spec *s, struct err *e)
{
    const char *why = NULL;
    if (s->settings.alchemy.nwindows < 2)
        why = "it has one window, which is no ladder";
    else if (s->walkers)
        why = "its walkers switch between the two ends";
    else if (s->nstarts)
        why = "each window has start coordinates of its own (system.window-coordinates)";
    for (int i = 0; i < s->nstages && !why; i++)
        if (s->stages[i].kind == STAGE_PRODUCE && !s->stages[i].frames_every)
            why = "its production stores no frames (frames-every), of which energies at new windows could be made";
    return why ? err_set(e, ERR_CONFLICT, "%s: no windows can be added: %s; submit it anew with all windows", s->file,
                         why)
               : 0;
}

/* Bytes of the number at `from`. */
static size_t digits(const struct buf *text, size_t from)
{
    size_t n = 0;
    while (from + n < text->len && text->data[from + n] >= '0' && text->data[from + n] <= '9')
        n++;
    return n;
}

/* New windows begin at the beginning, and the others wait for them where they are: exchange.after, in place of the
 * number that is there, or before the first key. */
static int put_after(struct buf *text, const char *file, uint64_t made, struct err *e)
{
    struct node *root;
    struct buf out = {0};
    char value[40];
    if (node_parse(&root, file, text->data, text->len, e))
        return -(int)e->code;
    const struct node *exchange = node_get(root, "exchange"), *after = node_get(exchange, "after");
    if (after) {
        const size_t from = spec_byte_of(text->data, text->len, after->at), to = from + digits(text, from);
        buf_add(&out, text->data, from);
        buf_printf(&out, "%llu", (unsigned long long)made);
        buf_add(&out, text->data + to, text->len - to);
    } else {
        snprintf(value, sizeof value, "after: %llu", (unsigned long long)made);
        edit_first_key(&out, text->data, text->len, exchange, value);
    }
    node_free(root);
    buf_free(text);
    *text = out;
    return 0;
}

/* A spec that says what is wanted, in whatever form its mapping was. */
static int check_after(const struct spec *s, uint64_t made, struct err *e)
{
    return s->settings.exchange == EXCHANGE_NONE || s->exchange_after >= made
               ? 0
               : err_set(e, ERR_CONFLICT,
                         "%s: exchange.after could not be set to %llu; expected exchange as one mapping, as in "
                         "\"exchange: {every: 1 ps}\"",
                         s->file, (unsigned long long)made);
}

static void say_origins(const struct rungs *r, struct added_windows *x)
{
    *x = (struct added_windows){.windows = r->n, .origin = xcalloc((size_t)r->n, sizeof *x->origin)};
    for (int i = 0; i < r->n; i++)
        x->origin[i] = r->items[i].origin;
}

int spec_add_windows(struct buf *text, const char *file, const char *windows, uint64_t made, struct added_windows *x,
                     struct err *e)
{
    struct spec *s = NULL, *wide = NULL;
    struct rungs r = {0};
    struct buf out = {0};
    struct wish w;
    *x = (struct added_windows){0};
    int rc = spec_parse(&s, file, text->data, text->len, e);
    if (!rc)
        rc = check_windows(s, e);
    if (!rc)
        rungs_begin(&r, s);
    for (const char *at = windows; !rc; at++) {
        size_t n = strcspn(at, ";");
        rc = read_wish(&w, at, n, e);
        if (!rc)
            rc = add_rung(&r, &w, e);
        at += n;
        if (!*at)
            break;
    }
    if (!rc)
        rc = put_windows(&r, text->data, text->len, &out, e);
    if (!rc && s->settings.exchange != EXCHANGE_NONE && made > s->exchange_after)
        rc = put_after(&out, file, made, e);
    if (!rc)
        rc = spec_parse(&wide, file, out.data, out.len, e);
    if (!rc)
        rc = check_after(wide, made, e);
    if (!rc) {
        say_origins(&r, x);
        buf_free(text);
        *text = out;
    } else {
        buf_free(&out);
    }
    spec_free(wide);
    spec_free(s);
    free(r.items);
    return rc;
}
