/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/estimate/parts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

#define MAX_LEGENDS 100000

struct reader {
    struct xvg *x;
    const char *name;
    int line;
    size_t capacity; /* rows */
    double *row;     /* [row_width] */
    int row_width;
};

/* The text between the first and the last quote of [s, end), owned by the caller; NULL when there are not two. */
static char *quoted(const char *s, const char *end)
{
    const char *a = memchr(s, '"', (size_t)(end - s));
    const char *b = memrchr(s, '"', (size_t)(end - s));
    if (!a || a == b)
        return NULL;
    size_t n = (size_t)(b - a - 1);
    char *out = xcalloc(n + 1, 1);
    memcpy(out, a + 1, n);
    return out;
}

static int legend_line(struct reader *r, long index, char *text, struct err *e)
{
    struct xvg *x = r->x;
    if (!text)
        return err_set(e, ERR_IO, "%s:%d: legend of s%ld: expected a text in double quotes", r->name, r->line, index);
    if (index < x->nlegends) { /* a header repeated further down must say the same */
        bool same = !strcmp(text, x->legend[index]);
        free(text);
        return same ? 0
                    : err_set(e, ERR_IO, "%s:%d: legend of s%ld differs from the one in line %d", r->name, r->line,
                              index, x->legend_line[index]);
    }
    if (index != x->nlegends || index >= MAX_LEGENDS || x->nrows) {
        free(text);
        return err_set(e, ERR_IO, "%s:%d: legend s%ld: expected s%d, before the first row", r->name, r->line, index,
                       x->nlegends);
    }
    x->legend = xrealloc(x->legend, (size_t)index + 1, sizeof *x->legend);
    x->legend_line = xrealloc(x->legend_line, (size_t)index + 1, sizeof *x->legend_line);
    x->legend[index] = text;
    x->legend_line[index] = r->line;
    x->nlegends++;
    return 0;
}

/* A line that begins with '@': "@ subtitle ..." and "@ sN legend ..." matter, the rest is for plotting. */
static int header_line(struct reader *r, const char *s, const char *end, struct err *e)
{
    struct xvg *x = r->x;
    s++;
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    if (end - s > 8 && !strncmp(s, "subtitle", 8) && !x->subtitle) {
        x->subtitle = quoted(s, end);
        x->subtitle_line = r->line;
        return 0;
    }
    if (end - s < 2 || s[0] != 's' || !isdigit((unsigned char)s[1]))
        return 0;
    char *after;
    long index = strtol(s + 1, &after, 10);
    while (after < end && (*after == ' ' || *after == '\t'))
        after++;
    if (end - after < 6 || strncmp(after, "legend", 6))
        return 0;
    return legend_line(r, index, quoted(after, end), e);
}

/* Reads the numbers of [s, end) into r->row. Returns how many, width + 1 for too many, or an error. */
static int numbers(struct reader *r, const char *s, const char *end, int width, struct err *e)
{
    int n = 0;
    for (;;) {
        while (s < end && (*s == ' ' || *s == '\t' || *s == '\r'))
            s++;
        if (s == end)
            return n;
        if (n == width)
            return width + 1;
        char *after;
        r->row[n] = strtod(s, &after);
        if (after == s || after > end || !(after == end || isspace((unsigned char)*after))) {
            int shown = (int)(end - s > 20 ? 20 : end - s);
            return err_set(e, ERR_IO, "%s:%d: column %d: read \"%.*s\", expected a number", r->name, r->line, n + 1,
                           shown, s);
        }
        n++;
        s = after;
    }
}

static int data_line(struct reader *r, const char *s, const char *end, bool whole, bool last, struct err *e)
{
    struct xvg *x = r->x;
    int width = 1 + x->nlegends;
    if (!whole) {
        x->cut_short = true;
        return 0;
    }
    if (r->row_width != width) {
        r->row = xrealloc(r->row, (size_t)width, sizeof *r->row);
        r->row_width = width;
    }
    int n = numbers(r, s, end, width, e);
    if (n <= 0)
        return n;
    if (n < width && last) {
        x->cut_short = true;
        return 0;
    }
    if (n != width)
        return err_set(e, ERR_IO, "%s:%d: read %s%d columns, expected %d (time and %d legends)", r->name, r->line,
                       n > width ? "more than " : "", n > width ? width : n, width, x->nlegends);
    if (!isfinite(r->row[0]))
        return err_set(e, ERR_IO, "%s:%d: the time is not a finite number", r->name, r->line);
    if (x->nrows && r->row[0] <= x->v[(x->nrows - 1) * (size_t)width])
        return err_set(e, ERR_IO, "%s:%d: time %.10g, expected one after %.10g of the row before", r->name, r->line,
                       r->row[0], x->v[(x->nrows - 1) * (size_t)width]);
    if (x->nrows == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 256;
        x->v = xrealloc(x->v, r->capacity, sizeof *x->v * (size_t)width);
    }
    memcpy(x->v + x->nrows * (size_t)width, r->row, sizeof *r->row * (size_t)width);
    x->nrows++;
    return 0;
}

int xvg_read(struct xvg *x, const char *name, const char *text, size_t len, struct err *e)
{
    struct reader r = {.x = x, .name = name};
    const char *s = text, *stop = text + len;
    int rc = 0;
    while (s < stop && !rc) {
        const char *newline = memchr(s, '\n', (size_t)(stop - s));
        const char *end = newline ? newline : stop;
        r.line++;
        if (*s == '@')
            rc = header_line(&r, s, end, e);
        else if (*s != '#')
            rc = data_line(&r, s, end, newline != NULL, end + 1 >= stop, e);
        s = end + 1;
    }
    free(r.row);
    return rc < 0 ? rc : 0;
}

void xvg_close(struct xvg *x)
{
    for (int i = 0; i < x->nlegends; i++)
        free(x->legend[i]);
    free(x->legend);
    free(x->legend_line);
    free(x->subtitle);
    free(x->v);
    *x = (struct xvg){0};
}
