/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables of an ensemble: the curves of all windows together, from their files, which are fetched.
 */
#include <stdlib.h>
#include <string.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/report/report.h"
#include "client/show/page.h"
#include "engine/plot/observed.h"

enum { LABEL = 64 };

/* Those of one name. */
struct group {
    struct observed_curve *curves; /* labels are their own */
    int n;
};

/* False where there is no file, or none that can be read: it may not have been written yet. Errors are those of the
 * service. */
static bool fetch(const struct client *c, const char *id, const char *path, struct xvg *table, struct err *e)
{
    struct buf url = {0}, text = {0};
    struct err unread = {0};
    long status = 0;
    client_path(&url, id, "/files/");
    http_escape_path(&url, path);
    int rc = http_request(c->http, "GET", url.data, NULL, &status, &text, e);
    if (!rc && status != 200 && status != 404)
        json_decref(answer_object(status, &text, e));
    bool there = !rc && status == 200 && !xvg_read(table, path, text.data, text.len, &unread) && table->nrows;
    if (!there)
        xvg_close(table);
    buf_free(&url);
    buf_free(&text);
    return there;
}

static char *label_of(const json_t *observable, bool repeats)
{
    char *label = xcalloc(1, LABEL);
    int n = snprintf(label, LABEL, "window %lld", answer_whole(observable, "window"));
    if (repeats)
        snprintf(label + n, LABEL - (size_t)n, " of repeat %lld", answer_whole(observable, "repeat"));
    return label;
}

static void group_add(struct group *g, const struct client *c, const char *id, const json_t *observable, bool repeats,
                      struct err *e)
{
    struct observed_curve curve = {.about = observable};
    if (!answer_whole(observable, "frames") || !fetch(c, id, answer_text(observable, "file"), &curve.table, e))
        return;
    curve.label = label_of(observable, repeats);
    g->curves = xrealloc(g->curves, (size_t)g->n + 1, sizeof *g->curves);
    g->curves[g->n++] = curve;
}

/* By window, then by repeat: shades are those of the ladder. */
static int along_ladder(const void *a, const void *b)
{
    const json_t *x = ((const struct observed_curve *)a)->about, *y = ((const struct observed_curve *)b)->about;
    const long long windows = answer_whole(x, "window") - answer_whole(y, "window");
    const long long repeats = answer_whole(x, "repeat") - answer_whole(y, "repeat");
    return windows ? (windows > 0) - (windows < 0) : (repeats > 0) - (repeats < 0);
}

static void curve_close(struct observed_curve *c)
{
    free((char *)c->label);
    xvg_close(&c->table);
}

static void group_close(struct group *g)
{
    for (int k = 0; k < g->n; k++)
        curve_close(&g->curves[k]);
    free(g->curves);
}

static long long window_of(const struct group *g, int k)
{
    return answer_whole(g->curves[k].about, "window");
}

/* Curves of a sorted group from `k` on that are of one window. */
static int same_window(const struct group *g, int k)
{
    int n = 1;
    while (k + n < g->n && window_of(g, k + n) == window_of(g, k))
        n++;
    return n;
}

/* Of more curves than there are colours, those of the first, the middle and the last window stay; where these are too
 * many, too, one of each. Returns how many windows there were; 0: all curves stay. */
static int choose(struct group *g)
{
    int windows = 0, most = 0, at = 0, kept = 0;
    for (int k = 0, n; k < g->n; k += n, windows++) {
        n = same_window(g, k);
        most = n > most ? n : most;
    }
    if (g->n <= PLOT_KEYS || windows <= 3)
        return 0;
    for (int k = 0, n; k < g->n; k += n, at++) {
        const bool chosen = at == 0 || at == (windows - 1) / 2 || at == windows - 1;
        n = same_window(g, k);
        for (int i = k; i < k + n; i++)
            if (chosen && (3 * most <= PLOT_KEYS || i == k))
                g->curves[kept++] = g->curves[i];
            else
                curve_close(&g->curves[i]);
    }
    g->n = kept;
    return windows;
}

/* Whether none before it has its name. */
static bool is_first(const json_t *observables, size_t i)
{
    const char *name = answer_text(json_array_get(observables, i), "name");
    for (size_t k = 0; k < i; k++)
        if (!strcmp(answer_text(json_array_get(observables, k), "name"), name))
            return false;
    return true;
}

static void put_observed_group(struct plot_sheet *to, const struct client *c, const char *id, const json_t *results,
                               size_t first, struct err *e)
{
    const json_t *observables = json_object_get(results, "observables"), *one;
    const char *name = answer_text(json_array_get(observables, first), "name");
    struct group g = {0};
    struct buf of = {0};
    size_t i;
    json_array_foreach (observables, i, one)
        if (i >= first && !e->code && !strcmp(answer_text(one, "name"), name))
            group_add(&g, c, id, one, json_is_array(json_object_get(results, "repeats")), e);
    if (g.n)
        qsort(g.curves, (size_t)g.n, sizeof *g.curves, along_ladder);
    const int windows = choose(&g);
    if (windows)
        buf_printf(&of, "the first, the middle and the last of %d windows with samples", windows);
    if (!e->code)
        observed_plot(to, g.curves, g.n, of.data);
    buf_free(&of);
    group_close(&g);
}

int report_observed(struct buf *out, const struct client *c, const json_t *ensemble, const json_t *results,
                    struct err *e)
{
    const json_t *observables = json_object_get(results, "observables");
    struct plot_sheet to = {.page = out};
    if (!json_array_size(observables))
        return 0;
    page_element(out, "h2", "", "Observables");
    buf_printf(out, "<div class=\"figures\">\n");
    for (size_t i = 0; i < json_array_size(observables) && !e->code; i++)
        if (is_first(observables, i))
            put_observed_group(&to, c, answer_text(ensemble, "id"), results, i, e);
    buf_printf(out, "</div>\n");
    return -(int)e->code;
}
