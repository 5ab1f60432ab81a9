/* SPDX-License-Identifier: Apache-2.0 */
#include "client/show/page.h"

#include <stdarg.h>
#include <string.h>

#include "engine/plot/plot.h"

extern const char plot_css[], page_css[]; /* engine/plot/style.css, templates/page.css */

void page_element(struct buf *out, const char *tag, const char *class, const char *text)
{
    buf_printf(out, *class ? "<%s class=\"%s\">" : "<%s>", tag, class);
    plot_text(out, text);
    buf_printf(out, "</%s>\n", tag);
}

void page_begin(struct buf *out, const char *title, const char *below)
{
    buf_printf(out,
               "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
               "<meta charset=\"utf-8\"/>\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<style>\n");
    buf_printf(out, "%s%s</style>\n", plot_css, page_css);
    page_element(out, "title", "", title);
    buf_printf(out, "</head>\n<body>\n");
    page_element(out, "h1", "", title);
    if (*below)
        page_element(out, "p", "soft", below);
}

void page_end(struct buf *out)
{
    buf_printf(out, "</body>\n</html>\n");
}

void page_answer(struct buf *out, const char *what, const char *number, const char *verdict, const char *sentences)
{
    buf_printf(out, "<section class=\"answer %s\">\n", out_class(verdict));
    page_element(out, "p", "soft", what);
    page_element(out, "p", "big", number);
    if (*verdict)
        page_element(out, "p", "verdict", verdict);
    if (*sentences)
        page_element(out, "p", "", sentences);
    buf_printf(out, "</section>\n");
}

void page_facts_begin(struct buf *out)
{
    buf_printf(out, "<dl>\n");
}

void page_fact(struct buf *out, const char *what, const char *note, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_printf(out, "<div>");
    page_element(out, "dt", "", what);
    page_element(out, "dd", "", text);
    if (*note)
        page_element(out, "dd", "soft", note);
    buf_printf(out, "</div>\n");
}

void page_facts_end(struct buf *out)
{
    buf_printf(out, "</dl>\n");
}
