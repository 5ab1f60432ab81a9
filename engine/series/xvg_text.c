/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/series/xvg.h"

/* Grace's marks, and what they are without it. */
static const struct xvg_mark {
    const char *mark, *plain;
} marks[] = {{"\\xl\\f{}", "lambda"}, {"\\xD\\f{}", "Delta "}, {"\\xe\\f{}", "epsilon"}, {"\\S", "^"}, {"\\N", ""}};

static const struct xvg_mark *mark_at(const char *text)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(text, marks[i].mark, strlen(marks[i].mark)))
            return &marks[i];
    return NULL;
}

void xvg_plain(struct buf *out, const char *text)
{
    buf_add(out, "", 0);
    while (*text) {
        const struct xvg_mark *m = mark_at(text);
        buf_add(out, m ? m->plain : text, m ? strlen(m->plain) : 1);
        text += m ? strlen(m->mark) : 1;
    }
}

/* The text between the first and the last quote of a line, as it is and in quotes, with each quote in it doubled. */
static void add_name(struct buf *out, const char *line, size_t len)
{
    const char *a = memchr(line, '"', len), *b = memrchr(line, '"', len);
    struct buf text = {0}, plain = {0};
    buf_add(&text, a && b > a ? a + 1 : "", a && b > a ? (size_t)(b - a - 1) : 0);
    xvg_plain(&plain, text.data);
    buf_printf(out, "\"");
    for (const char *c = plain.data; *c; c++)
        buf_printf(out, *c == '"' ? "\"\"" : "%c", *c);
    buf_printf(out, "\"");
    buf_free(&text);
    buf_free(&plain);
}

/* A line that begins with '@'. */
static void take_header(const char *line, size_t len, struct buf *label, struct buf *legends)
{
    int number, legend = 0, across = 0;
    char head[40];
    snprintf(head, sizeof head, "%.*s", (int)(len < sizeof head ? len : sizeof head - 1), line);
    sscanf(head, "@ s%d legend%n", &number, &legend);
    sscanf(head, "@ xaxis label%n", &across);
    if (across && !label->len)
        add_name(label, line, len);
    if (legend) {
        buf_add(legends, ",", 1);
        add_name(legends, line, len);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void add_numbers(struct buf *out, const char *line, size_t len)
{
    for (size_t i = 0, from = 0; i < len; from = i) {
        while (i < len && is_blank(line[i]))
            i++;
        if (i == len)
            break;
        if (from)
            buf_add(out, ",", 1);
        for (from = i; i < len && !is_blank(line[i]);)
            i++;
        buf_add(out, line + from, i - from);
    }
    buf_printf(out, "\n");
}

void xvg_csv(struct buf *out, const char *text, size_t len)
{
    struct buf label = {0}, legends = {0};
    bool begun = false;
    const char *newline;
    for (const char *line = text; (newline = memchr(line, '\n', len - (size_t)(line - text))); line = newline + 1) {
        const size_t n = (size_t)(newline - line);
        if (n && *line == '@' && !begun)
            take_header(line, n, &label, &legends);
        if (!n || *line == '@' || *line == '#')
            continue;
        if (!begun)
            buf_printf(out, "%s%s\n", label.len ? label.data : "\"x\"", legends.len ? legends.data : "");
        begun = true;
        add_numbers(out, line, n);
    }
    buf_free(&label);
    buf_free(&legends);
}
