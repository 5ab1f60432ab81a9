/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows added to a spec between those that it has: its text, with numbers put into the ladders and all else as it was.
 */
#include "daemon/spec/widen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/node.h"
#include "daemon/spec/reader.h"
#include "daemon/spec/value.h"

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

/* Whether the window lies between `k` and the next: where one component changes there, anywhere between; where several do, strictly
 * between in all of them, so that nothing is off there that is on in neither neighbour's company. A component without a name is
 * to be the same in both. */
static bool lies_between(const struct alchemy_settings *a, const struct wish *w, int k)
{
    for (int c = 0; c < LAMBDA_COUNT; c++) {
        double from = a->lambda[k][c], to = a->lambda[k + 1][c];
        if (!a->given[c])
            continue;
        if (from == to ? w->named[c] && w->lambda[c] != from
                       : !w->named[c] || w->lambda[c] <= fmin(from, to) || w->lambda[c] >= fmax(from, to))
            return false;
    }
    return true;
}

/* The window before it, or an error. */
static int find_place(const struct spec *s, const struct wish *w, struct err *e)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    int found = 0, place = -1;
    for (int c = 0; c < LAMBDA_COUNT; c++)
        if (w->named[c] && !a->given[c])
            return err_set(e, ERR_USAGE, "window \"%s\": %s: alchemy.windows has no ladder of %s", w->text, s->file,
                           lambda_names[c].ours);
    for (int i = 0; i + 1 < a->nwindows; i++)
        if (lies_between(a, w, i)) {
            place = i;
            found++;
        }
    if (found == 1)
        return place;
    return err_set(e, ERR_USAGE,
                   "window \"%s\" lies between %s that follow each other in the ladder of %s; expected every component "
                   "that changes from one to the next, with a value between theirs",
                   w->text, found ? "several pairs of windows" : "no two windows", s->file);
}

/* ---- the text ---- */

/* Where item `i` of a ladder begins in the text, in bytes. */
static size_t item_at(const struct node *root, int component, int i, const char *text, size_t len)
{
    const struct node *windows = node_get(node_get(root, "alchemy"), "windows");
    const struct node *ladder = node_get(windows, lambda_names[component].ours);
    return spec_byte_of(text, len, ladder->items[i].value->at);
}

/* A number before what is at `at`: with a comma, or on a line of its own where each stands behind a dash. */
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

struct insertion {
    size_t at;
    double value;
};

static int by_place(const void *a, const void *b)
{
    const struct insertion *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Appends the text with the window before window k + 1. */
static int put_window(const struct spec *s, const struct wish *w, int k, const char *text, size_t len, struct buf *out,
                      struct err *e)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    struct insertion put[LAMBDA_COUNT];
    struct node *root;
    size_t done = 0, n = 0;
    if (node_parse(&root, s->file, text, len, e))
        return -(int)e->code;
    for (int c = 0; c < LAMBDA_COUNT; c++)
        if (a->given[c])
            put[n++] =
                (struct insertion){item_at(root, c, k + 1, text, len), w->named[c] ? w->lambda[c] : a->lambda[k][c]};
    node_free(root);
    qsort(put, n, sizeof *put, by_place);
    for (size_t i = 0; i < n; i++) {
        buf_add(out, text + done, put[i].at - done);
        put_number(out, text, put[i].at, put[i].value);
        done = put[i].at;
    }
    buf_add(out, text + done, len - done);
    return 0;
}

/* ---- all of it ---- */

/* What its samples, or what it does with them, would not bear. */
static int check(const struct spec *s, struct err *e)
{
    const char *why = NULL;
    if (s->settings.alchemy.nwindows < 2)
        why = "it has one window, which is no ladder";
    else if (s->settings.exchange != EXCHANGE_NONE)
        why = "its windows exchange replicas, and new ones have none to take part with";
    else if (s->nstarts)
        why = "each window has start coordinates of its own (system.window-coordinates)";
    for (int i = 0; i < s->nstages && !why; i++)
        if (s->stages[i].kind == STAGE_PRODUCE && !s->stages[i].frames_every)
            why = "its production stores no frames (frames-every), of which energies at new windows could be made";
    return why ? err_set(e, ERR_CONFLICT, "%s: no windows can be added: %s; submit it anew with all windows", s->file,
                         why)
               : 0;
}

/* One more window; *text is replaced. */
static int widen_once(struct buf *text, const char *file, const char *wish, size_t len, struct widening *x,
                      struct err *e)
{
    struct wish w;
    struct spec *s = NULL;
    struct buf out = {0};
    int rc = spec_parse(&s, file, text->data, text->len, e);
    if (!rc)
        rc = check(s, e);
    if (!rc)
        rc = read_wish(&w, wish, len, e);
    const int k = rc ? rc : find_place(s, &w, e);
    rc = k < 0 ? k : put_window(s, &w, k, text->data, text->len, &out, e);
    if (!rc && !x->origin) {
        x->windows = s->settings.alchemy.nwindows;
        x->origin = xcalloc((size_t)x->windows, sizeof *x->origin);
        for (int i = 0; i < x->windows; i++)
            x->origin[i] = i;
    }
    spec_free(s);
    if (rc) {
        buf_free(&out);
        return rc;
    }
    x->origin = xrealloc(x->origin, (size_t)x->windows + 1, sizeof *x->origin);
    memmove(x->origin + k + 2, x->origin + k + 1, (size_t)(x->windows - k - 1) * sizeof *x->origin);
    x->origin[k + 1] = -1;
    x->windows++;
    buf_free(text);
    *text = out;
    return 0;
}

int spec_widen(struct buf *text, const char *file, const char *windows, struct widening *x, struct err *e)
{
    struct spec *s = NULL;
    int rc = 0;
    *x = (struct widening){0};
    for (const char *at = windows; !rc;) {
        size_t n = strcspn(at, ";");
        rc = widen_once(text, file, at, n, x, e);
        if (!at[n])
            break;
        at += n + 1;
    }
    if (!rc)
        rc = spec_parse(&s, file, text->data, text->len, e);
    spec_free(s);
    return rc;
}
