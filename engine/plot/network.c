/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "engine/plot/parts.h"

enum { NAME_MOST = 16, AIR = 26, FEW = 6, BROAD = 800 };

/* Few nodes stand on a circle; more of them on both sides of an ellipse, each on a line of its own, which its name needs. */
struct network {
    const char *const *nodes;
    int n;
    double width, radius_x, radius_y, middle_y;
    struct plot_taken taken;
};

/* From the middle of the network: -1 to 1. */
static struct plot_place direction_of(const struct network *w, int i)
{
    if (w->n <= FEW)
        return (struct plot_place){sin(2 * M_PI * i / w->n), -cos(2 * M_PI * i / w->n)};
    int right = (w->n + 1) / 2, left = w->n - right;
    double y = i < right ? (2.0 * i + 1) / right - 1 : 1 - (2.0 * (i - right) + 1) / left;
    double x = sqrt(1 - y * y);
    return (struct plot_place){i < right ? x : -x, y};
}

static struct plot_place place_of(const struct network *w, int i)
{
    struct plot_place d = direction_of(w, i);
    return (struct plot_place){w->width / 2 + w->radius_x * d.x, w->middle_y + w->radius_y * d.y};
}

static const char *strain_class(double strain)
{
    return isnan(strain) ? "none" : strain < 1 ? "good" : strain < 2 ? "warn" : "bad";
}

static void draw_edge(struct buf *out, const struct network *w, const struct plot_edge *e)
{
    struct plot_place a = place_of(w, e->i), b = place_of(w, e->j);
    buf_printf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"%s\"><title>", a.x, a.y, b.x, b.y,
               strain_class(e->strain));
    plot_text(out, w->nodes[e->i]);
    buf_printf(out, " to ");
    plot_text(out, w->nodes[e->j]);
    buf_printf(out, ": %.2f +- %.2f</title></path>\n", e->value, e->error);
}

/* Its value, where along it no other text is; nowhere if there is no such place. */
static void label_edge(struct buf *out, struct network *w, const struct plot_edge *e)
{
    static const double along[] = {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74};
    struct plot_place a = place_of(w, e->i), b = place_of(w, e->j);
    char number[32];
    snprintf(number, sizeof number, "%.2f", e->value);
    double width = PLOT_LETTER * (double)strlen(number);
    for (size_t k = 0; k < sizeof along / sizeof *along; k++) {
        struct plot_place p = {a.x + along[k] * (b.x - a.x), a.y + along[k] * (b.y - a.y)};
        if (!plot_is_free(&w->taken, p, width))
            continue;
        plot_label(out, p.x, p.y + 4, "middle", "halo", number);
        plot_take(&w->taken, p, width);
        return;
    }
}

/* A long name is cut; the tip of the pointer has all of it. */
static void draw_node(struct buf *out, struct network *w, int i)
{
    struct plot_place p = place_of(w, i), d = direction_of(w, i);
    bool few = w->n <= FEW;
    double lean = !few || fabs(d.x) > 0.1 ? copysign(0.5, d.x) : 0;
    struct plot_place outside = {p.x + 28 * lean * (few ? fabs(d.x) : 1), p.y + (few ? 14 * d.y : 0)};
    const char *name = w->nodes[i];
    size_t len = strlen(name);
    char text[NAME_MOST + 4];
    plot_shorten(text, name, NAME_MOST);
    double width = PLOT_LETTER * fmin((double)len, NAME_MOST);
    buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" class=\"node\"><title>", p.x, p.y);
    plot_text(out, name);
    buf_printf(out, "</title></circle>\n");
    plot_take(&w->taken, p, 10);
    plot_take(&w->taken, (struct plot_place){outside.x + lean * width, outside.y}, width);
    plot_label(out, outside.x, outside.y + 4, lean > 0 ? "start" : lean < 0 ? "end" : "middle", "halo", text);
}

static struct network lay_out(const char *const *nodes, int n)
{
    size_t longest = 1;
    for (int i = 0; i < n; i++)
        longest = strlen(nodes[i]) > longest ? strlen(nodes[i]) : longest;
    double width = n > 2 * FEW ? BROAD : PLOT_WIDTH;
    double radius_x = width / 2 - 18 - PLOT_LETTER * fmin((double)longest, NAME_MOST + 1);
    double radius_y = n <= FEW ? radius_x : 0.8 * radius_x;
    radius_y = fmax(fmax(radius_y, 90), 0.6 * PLOT_LINE * (n + 1) / 2);
    return (struct network){nodes, n, width, radius_x, radius_y, AIR + radius_y, {0}};
}

void plot_network(struct buf *out, const char *title, const char *const *nodes, int n, const struct plot_edge *edges,
                  int nedges)
{
    struct network w = lay_out(nodes, n);
    static const char note[] = "green: loops close within their error; amber: within two; red: not; grey: in no loop";
    if (w.width > PLOT_WIDTH)
        plot_begin_broad(out, title, note, w.width, 2 * w.middle_y);
    else
        plot_begin(out, title, note, NULL, 0, 2 * w.middle_y);
    for (int k = 0; k < nedges; k++)
        draw_edge(out, &w, &edges[k]);
    for (int i = 0; i < n; i++)
        draw_node(out, &w, i);
    for (int k = 0; k < nedges; k++)
        label_edge(out, &w, &edges[k]);
    plot_end(out);
    plot_taken_free(&w.taken);
}
