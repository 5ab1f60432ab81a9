/* SPDX-License-Identifier: Apache-2.0
 *
 * Title, axes and other words around a drawing in a page.
 */
#include <string.h>

#include "engine/plot/figure.h"

void plot_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (!strncmp(text, "+- ", 3)) {
            buf_printf(out, "\xc2\xb1");
            text++;
        } else if (strchr("&<>\"'", *text))
            buf_printf(out, "&#%d;", *text);
        else if ((unsigned char)*text < ' ' && *text != '\n')
            buf_printf(out, "?");
        else
            buf_add(out, text, 1);
    }
}

void plot_label(struct buf *out, double x, double y, const char *anchor, const char *class, const char *text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor, class);
    plot_text(out, text);
    buf_printf(out, "</text>\n");
}

void plot_shorten(char *text, const char *name, int most)
{
    bool cut = strlen(name) > (size_t)most;
    snprintf(text, (size_t)most + 4, "%.*s%s", most, name, cut ? "\xe2\x80\xa6" : "");
}

static void begin_frame(struct buf *out, const char *class, const char *title, const char *note,
                        const char *const *names, int n, double width, double height)
{
    buf_printf(out, "<figure class=\"%s\"><figcaption><b>", class);
    plot_text(out, title);
    buf_printf(out, "</b> ");
    for (int k = 0; n > 1 && k < n; k++) {
        buf_printf(out, "<span class=\"key k%d\">", k % PLOT_COLORS);
        plot_text(out, names[k]);
        buf_printf(out, "</span> ");
    }
    buf_printf(out, "<span>");
    plot_text(out, note);
    buf_printf(out,
               "</span></figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
               "role=\"img\">\n<title>",
               width, height);
    plot_text(out, title);
    buf_printf(out, "</title>\n");
}

void plot_begin(struct buf *out, const char *title, const char *note, const char *const *names, int n, double height)
{
    begin_frame(out, "", title, note, names, n, PLOT_WIDTH, height);
}

void plot_begin_broad(struct buf *out, const char *title, const char *note, double width, double height)
{
    begin_frame(out, "wide broad", title, note, NULL, 0, width, height);
}

void plot_end(struct buf *out)
{
    plot_end_saying(out, NULL);
}

void plot_end_saying(struct buf *out, const char *sentence)
{
    buf_printf(out, "</svg>");
    if (sentence) {
        buf_printf(out, "<p>");
        plot_text(out, sentence);
        buf_printf(out, "</p>");
    }
    buf_printf(out, "</figure>\n");
}
