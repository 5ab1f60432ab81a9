/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/plot/figure.h"

enum { NAME_MOST = 16, AIR = 26, FEW = 6, BROAD = 800 };

/* Few nodes are put on a circle, more of them on both sides of an ellipse, each on a line of its own, which its name
 * needs. */
struct network_drawing {
    const char *const *nodes;
    int n;
    double width, radius_x, radius_y, middle_y;
    struct plot_taken taken;
};

/* From the middle of the network: -1 to 1. */
static struct plot_place direction_of(const struct network_drawing *w, int i)
{
    if (w->n <= FEW)
        return (struct plot_place){sin(2 * M_PI * i / w->n), -cos(2 * M_PI * i / w->n)};
    int right = (w->n + 1) / 2, left = w->n - right;
    double y = i < right ? (2.0 * i + 1) / right - 1 : 1 - (2.0 * (i - right) + 1) / left;
    double x = sqrt(1 - y * y);
    return (struct plot_place){i < right ? x : -x, y};
}

static struct plot_place place_of(const struct network_drawing *w, int i)
{
    struct plot_place d = direction_of(w, i);
    return (struct plot_place){w->width / 2 + w->radius_x * d.x, w->middle_y + w->radius_y * d.y};
}

static const char *strain_class(double strain)
{
    return isnan(strain) ? "none" : strain < 1 ? "good" : strain < 2 ? "warn" : "bad";
}

/* A triangle that ends at a node's rim, in the direction of the edge. */
static void draw_arrow(struct buf *out, struct plot_place a, struct plot_place b, const char *class)
{
    enum { RIM = 7, LENGTH = 11, HALF = 4 };
    double d = hypot(b.x - a.x, b.y - a.y), x = (b.x - a.x) / d, y = (b.y - a.y) / d;
    double tip_x = b.x - RIM * x, tip_y = b.y - RIM * y, foot_x = tip_x - LENGTH * x, foot_y = tip_y - LENGTH * y;
    buf_printf(out, "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" class=\"%s\"/>\n", tip_x, tip_y,
               foot_x - HALF * y, foot_y + HALF * x, foot_x + HALF * y, foot_y - HALF * x, class);
}

static void draw_network_edge(struct buf *out, const struct network_drawing *w, const struct plot_edge *e)
{
    struct plot_place a = place_of(w, e->i), b = place_of(w, e->j);
    const char *class = strain_class(e->strain);
    buf_printf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" class=\"%s%s\"><title>", a.x, a.y, b.x, b.y, class,
               isnan(e->value) ? " dashed" : "");
    plot_text(out, w->nodes[e->i]);
    buf_printf(out, " to ");
    plot_text(out, w->nodes[e->j]);
    if (isnan(e->value))
        buf_printf(out, ": no number</title></path>\n");
    else
        buf_printf(out, ": %.2f +- %.2f%s</title></path>\n", e->value, e->error, e->so_far ? " so far" : "");
    draw_arrow(out, a, b, class);
}

/* From a place to the nearest point of an edge. */
static double distance_to(const struct network_drawing *w, const struct plot_edge *e, struct plot_place p)
{
    struct plot_place a = place_of(w, e->i), b = place_of(w, e->j);
    double x = b.x - a.x, y = b.y - a.y;
    double along = fmin(fmax(((p.x - a.x) * x + (p.y - a.y) * y) / (x * x + y * y), 0), 1);
    return hypot(p.x - a.x - along * x, p.y - a.y - along * y);
}

/* Whether a text there could not be taken for that of another edge: none runs through it. */
static bool is_clear(const struct network_drawing *w, const struct plot_edge *edges, int n, int k, struct plot_place p,
                     double width)
{
    bool clear = true;
    for (int i = 0; i < n; i++)
        for (double x = -width / 2; x <= width / 2 && i != k; x += PLOT_LINE / 2.0)
            clear &= distance_to(w, &edges[i], (struct plot_place){p.x + x, p.y}) > PLOT_LINE / 2.0;
    return clear;
}

/* A text of an edge, where along it no other text is, and no other edge, if it is to be clear of these. False: there is
 * no such place. */
static bool put_label(struct buf *out, struct network_drawing *w, const struct plot_edge *edges, int n, int k,
                      const char *text, double width, bool clear)
{
    static const double along[] = {0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74};
    struct plot_place a = place_of(w, edges[k].i), b = place_of(w, edges[k].j);
    for (size_t at = 0; at < sizeof along / sizeof *along; at++) {
        struct plot_place p = {a.x + along[at] * (b.x - a.x), a.y + along[at] * (b.y - a.y)};
        if (!plot_is_free(&w->taken, p, width) || (clear && !is_clear(w, edges, n, k, p, width)))
            continue;
        plot_label(out, p.x, p.y + 4, "middle", "halo", text);
        plot_take(&w->taken, p, width);
        return true;
    }
    return false;
}

/* Its value with its error, or without where there is room for no more. */
static void label_edge(struct buf *out, struct network_drawing *w, const struct plot_edge *edges, int n, int k)
{
    enum { DIGIT = 7, SIGN = 1 }; /* a digit's width; "+-" is shown as one sign */
    struct buf text = {0};
    char number[32];
    if (isnan(edges[k].value))
        return;
    number_with_error(&text, edges[k].value, edges[k].error);
    snprintf(number, sizeof number, "%.2f", edges[k].value);
    const double longer = DIGIT * (double)(text.len - SIGN), shorter = DIGIT * (double)strlen(number);
    if (!put_label(out, w, edges, n, k, text.data, longer, true) &&
        !put_label(out, w, edges, n, k, number, shorter, true))
        put_label(out, w, edges, n, k, number, shorter, false);
    buf_free(&text);
}

/* A long name is cut; the tip of the pointer has all of it. */
static void draw_node(struct buf *out, struct network_drawing *w, int i)
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

static struct network_drawing lay_out_nodes(const char *const *nodes, int n)
{
    size_t longest = 1;
    for (int i = 0; i < n; i++)
        longest = strlen(nodes[i]) > longest ? strlen(nodes[i]) : longest;
    double width = n > 2 * FEW ? BROAD : PLOT_WIDTH;
    double radius_x = width / 2 - 18 - PLOT_LETTER * fmin((double)longest, NAME_MOST + 1);
    double radius_y = n <= FEW ? radius_x : 0.8 * radius_x;
    radius_y = fmax(fmax(radius_y, 90), 0.6 * PLOT_LINE * (n + 1) / 2);
    return (struct network_drawing){nodes, n, width, radius_x, radius_y, AIR + radius_y, {0}};
}

void plot_network(struct buf *out, const char *title, const char *const *nodes, int n, const struct plot_edge *edges,
                  int nedges)
{
    struct network_drawing w = lay_out_nodes(nodes, n);
    static const char note[] =
        "arrows go from ligand_i to ligand_j, numbers are ligand_j less ligand_i; dashed: no number; "
        "green: loops close within their error; amber: within two; red: not; grey: in no loop";
    if (w.width > PLOT_WIDTH)
        plot_begin_broad(out, title, note, w.width, 2 * w.middle_y);
    else
        plot_begin(out, title, note, NULL, 0, 2 * w.middle_y);
    for (int k = 0; k < nedges; k++)
        draw_network_edge(out, &w, &edges[k]);
    for (int i = 0; i < n; i++)
        draw_node(out, &w, i);
    for (int k = 0; k < nedges; k++)
        label_edge(out, &w, edges, nedges, k);
    plot_end(out);
    plot_taken_free(&w.taken);
}
