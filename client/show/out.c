/* SPDX-License-Identifier: Apache-2.0 */
#include "client/show/out.h"

#include <stdarg.h>
#include <string.h>

#include "engine/base/printable.h"
#include "engine/plot/plot.h"

const char *out_class(const char *word)
{
    static const char *const words[][2] = {{"converged", "good"}, {"unconverged", "warn"}, {"failed", "bad"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i][0]) ||
            (!strncmp(word, words[i][0], strlen(words[i][0])) && !strcmp(word + strlen(words[i][0]), " so far")))
            return words[i][1];
    return "";
}

static void put_element(struct buf *out, const char *begin, const char *text, const char *end)
{
    if (!*text)
        return;
    buf_printf(out, "%s", begin);
    plot_text(out, text);
    buf_printf(out, "%s\n", end);
}

void out_put(const struct out *s, const char *fmt, ...)
{
    struct buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    if (s->html) {
        while (text.len && text.data[text.len - 1] == '\n')
            text.data[--text.len] = '\0';
        put_element(s->out, "<p>", text.data + strspn(text.data, "\n"), "</p>");
    } else {
        printable_add(s->out, text.data, "\n");
    }
    buf_free(&text);
}

void out_title(const struct out *s, const char *title, const char *note)
{
    if (!s->html) {
        out_put(s, "%s%s%s\n", title, *note ? ": " : "", note);
        return;
    }
    put_element(s->out, "<h2>", title, "</h2>");
    put_element(s->out, "<p class=\"soft\">", note, "</p>");
}

/* Without the colours of terminals. */
static void put_page_cell(const struct out *s, const struct table *t, int i, bool heading)
{
    enum { LONG = 60 };
    int column = i % t->columns;
    const char *text = t->cells[i], *word = out_class(text);
    buf_printf(s->out, "<%s class=\"%s%s%s%s%s\">", heading ? "th" : "td", t->right[column] ? "r" : "",
               *word ? " " : "", heading ? "" : word, !strncmp(text, "  ", 2) ? " inner" : "",
               strlen(text) > LONG ? " long" : "");
    struct buf plain = {0};
    buf_add(&plain, "", 0);
    for (; *text; text++) {
        if (*text == '\033' && strchr(text, 'm'))
            text = strchr(text, 'm');
        else
            buf_add(&plain, text, 1);
    }
    if (t->links[i])
        buf_printf(s->out, "<a href=\"%s\">", t->links[i]);
    plot_text(s->out, plain.data);
    buf_free(&plain);
    buf_printf(s->out, "%s</%s>", t->links[i] ? "</a>" : "", heading ? "th" : "td");
}

void out_table(const struct out *s, struct table *t)
{
    if (!s->html) {
        table_put(t, s->width, s->out);
        return;
    }
    buf_printf(s->out, "<div class=\"wide\"><table>\n");
    for (int i = 0; i < t->count; i++) {
        int column = i % t->columns;
        if (!column)
            buf_printf(s->out, "<tr>");
        if (!t->leaves[column] || !table_is_empty(t, column))
            put_page_cell(s, t, i, i < t->columns);
        if (column == t->columns - 1)
            buf_printf(s->out, "</tr>\n");
    }
    buf_printf(s->out, "</table></div>\n");
    table_free(t);
}
