/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures in a file of their own: they contain the words that a page has around a drawing, and the style sheet goes in
 * with its colours written out, since Inkscape and librsvg know of no variables in it.
 */
#include <string.h>
#include <strings.h>

#include "engine/plot/figure.h"

extern const char plot_css[]; /* style.css */

enum { MARGIN = 12, LETTER = 7, BOLD = 9, LINE = 20, SCALE_PERCENT = 130 };

/* ---- words ---- */

/* In lines of the picture's width, below each other. */
static void put_lines(struct plot_sheet *to, const char *text)
{
    enum { MOST = (PLOT_WIDTH - 2 * MARGIN) / LETTER };
    while (*text) {
        size_t n = strlen(text);
        char line[MOST + 1];
        if (n > MOST)
            for (n = MOST; n > 1 && text[n] != ' ';)
                n--;
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        to->height += LINE;
        plot_label(&to->picture, MARGIN, to->height - 6, "start", "soft", line);
        text += n + (text[n] == ' ');
    }
}

static void put_keys(struct plot_sheet *to, const char *const *names, int n)
{
    double x = MARGIN;
    to->height += LINE;
    for (int k = 0; k < n; k++) {
        const double width = BOLD * (double)strlen(names[k]) + MARGIN;
        if (x > MARGIN && x + width > PLOT_WIDTH) {
            x = MARGIN;
            to->height += LINE;
        }
        char class[16];
        snprintf(class, sizeof class, "key k%d", k);
        plot_label(&to->picture, x, to->height - 6, "start", class, names[k]);
        x += width;
    }
}

void plot_heading(struct plot_sheet *to, const char *title, const char *note, const char *const *names, int n)
{
    to->height += MARGIN + LINE;
    plot_label(&to->picture, MARGIN, to->height - 6, "start", "title", title);
    if (n > 1)
        put_keys(to, names, n);
    put_lines(to, note);
    to->height += MARGIN;
}

/* ---- the file ---- */

/* The value that the first palette, the light one, gives to a name of n letters. */
static void put_color(struct buf *out, const char *name, size_t n)
{
    for (const char *at = plot_css; (at = strstr(at, "--")); at += 2)
        if (!strncmp(at, name, n) && at[n] == ':') {
            at += n + 1 + strspn(at + n + 1, " ");
            buf_add(out, at, strcspn(at, ";"));
            return;
        }
}

/* What of the style sheet is about drawings: from its first rule of them on. */
static void put_style(struct buf *out)
{
    const char *at = strstr(plot_css, "\nsvg {");
    for (const char *var; (var = strstr(at, "var(")); at += strcspn(at, ")") + 1) {
        buf_add(out, at, (size_t)(var - at));
        at = var + strlen("var(");
        put_color(out, at, strcspn(at, ")"));
    }
    buf_add(out, at, strlen(at));
}

bool plot_is_picture(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcasecmp(dot, ".svg");
}

int plot_check_name(const char *path, bool folder, struct err *e)
{
    static const char *const others[] = {".png", ".pdf", ".jpg", ".jpeg", ".eps",
                                         ".ps",  ".gif", ".tif", ".tiff", ".webp"};
    const char *dot = strrchr(path, '.');
    bool bad = !folder && !plot_is_picture(path);
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        bad |= !strcasecmp(dot, others[i]);
    return bad ? err_set(e, ERR_USAGE,
                         "--plot %.300s: expected a name that ends in .svg: figures are SVG, of which rsvg-convert and "
                         "Inkscape "
                         "make PNG and PDF",
                         path)
               : 0;
}

int plot_write(const struct plot_sheet *picture, const char *path, struct err *e)
{
    const double height = picture->height + MARGIN;
    struct buf out = {0};
    buf_printf(
        &out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n<style>",
        PLOT_WIDTH * SCALE_PERCENT / 100, height * SCALE_PERCENT / 100, PLOT_WIDTH, height);
    put_style(&out);
    buf_printf(&out, "</style>\n<rect width=\"100%%\" height=\"100%%\" class=\"paper\"/>\n%s</svg>\n",
               picture->height > 0 ? picture->picture.data : "");
    int rc = buf_write_file(path, out.data, out.len, e);
    buf_free(&out);
    return rc;
}

void plot_sheet_close(struct plot_sheet *s)
{
    buf_free(&s->picture);
}
