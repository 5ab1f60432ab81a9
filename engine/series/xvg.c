/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/series/xvg.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "engine/base/number.h"

#define MAX_LEGENDS 100000
#define LONGEST_LINE (1 << 26)

struct xvg_reader {
    struct xvg *x;
    const char *name;
    int line;
    size_t capacity; /* rows */
    size_t most;     /* numbers in the table */
    uint64_t left;   /* bytes of the file that count */
    double time;     /* of the row before */
    struct err late; /* what was wrong with a row that may be excused as the last one */
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

static int legend_line(struct xvg_reader *r, long index, char *text, struct err *e)
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

/* The text behind a word of a header line; NULL: it is another word's line. */
static char *text_of(const char *s, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - s) > n && !strncmp(s, word, n) ? quoted(s, end) : NULL;
}

/* What the first line of each kind says. */
static void take_label(struct xvg *x, const char *s, const char *end)
{
    char **const place[] = {&x->title, &x->x_label, &x->y_label};
    static const char *const word[] = {"title", "xaxis", "yaxis"};
    for (int i = 0; i < 3; i++)
        if (!*place[i])
            *place[i] = text_of(s, end, word[i]);
}

/* A line that begins with '@': labels, "@ subtitle ..." and "@ sN legend ..." matter, the rest is for plotting. */
static int header_line(struct xvg_reader *r, const char *s, const char *end, struct err *e)
{
    struct xvg *x = r->x;
    s++;
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    take_label(x, s, end);
    if (!x->subtitle && (x->subtitle = text_of(s, end, "subtitle"))) {
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
static int numbers(struct xvg_reader *r, const char *s, const char *end, int width, struct err *e)
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

/* Leaves out every second row when the table is full. */
static void thin(struct xvg_reader *r)
{
    struct xvg *x = r->x;
    size_t width = 1 + (size_t)x->nlegends;
    if (r->most && x->nrows * width >= r->most && x->nrows > 1) {
        for (size_t i = 1; 2 * i < x->nrows; i++)
            memcpy(x->v + i * width, x->v + 2 * i * width, width * sizeof *x->v);
        x->nrows = (x->nrows + 1) / 2;
        x->stride *= 2;
    }
}

static void keep_row(struct xvg_reader *r, size_t width)
{
    struct xvg *x = r->x;
    thin(r);
    if (x->seen++ % x->stride)
        return;
    if (x->nrows == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 256;
        x->v = xrealloc(x->v, r->capacity, sizeof *x->v * width);
    }
    memcpy(x->v + x->nrows * width, r->row, sizeof *r->row * width);
    x->nrows++;
}

/* A table of one column may have no legend: the label of its y axis names it (GROMACS' slow growth). */
static void legend_of_label(struct xvg_reader *r)
{
    struct xvg *x = r->x;
    if (x->nlegends || x->seen || !x->y_label)
        return;
    x->legend = xcalloc(1, sizeof *x->legend);
    x->legend_line = xcalloc(1, sizeof *x->legend_line);
    x->legend[0] = xstrdup(x->y_label);
    x->legend_line[0] = r->line;
    x->nlegends = 1;
}

static int data_line(struct xvg_reader *r, const char *s, const char *end, struct err *e)
{
    struct xvg *x = r->x;
    legend_of_label(r);
    int width = 1 + x->nlegends;
    if (r->late.code) {
        *e = r->late;
        return -(int)e->code;
    }
    if (r->row_width != width) {
        r->row = xrealloc(r->row, (size_t)width, sizeof *r->row);
        r->row_width = width;
    }
    int n = numbers(r, s, end, width, e);
    if (n <= 0)
        return n;
    if (n != width) {
        int seen = n > width ? width : n;
        int rc = err_set(e, ERR_IO, "%s:%d: read %s%d %s, expected %d (time and %d %s)", r->name, r->line,
                         n > width ? "more than " : "", seen, number_word(seen, "column", "columns"), width,
                         x->nlegends, number_word(x->nlegends, "legend", "legends"));
        if (n > width)
            return rc;
        r->late = *e; /* a last line may be short */
        x->cut_short = true;
        return 0;
    }
    if (!isfinite(r->row[0]))
        return err_set(e, ERR_IO, "%s:%d: the time is not a finite number", r->name, r->line);
    if (x->seen && r->row[0] <= r->time)
        return err_set(e, ERR_IO, "%s:%d: time %.10g, expected one after %.10g of the row before", r->name, r->line,
                       r->row[0], r->time);
    r->time = r->row[0];
    keep_row(r, (size_t)width);
    return 0;
}

static void comment_line(struct xvg *x, const char *s, const char *end)
{
    const size_t n = strlen(XVG_STRETCHED);
    if (!x->stretched && (size_t)(end - s) > n && !strncmp(s, XVG_STRETCHED, n))
        x->stretched = strndup(s + n, (size_t)(end - s) - n);
}

/* A line without its newline; *end is readable and no part of a number. */
static int line(struct xvg_reader *r, const char *s, const char *end, struct err *e)
{
    r->line++;
    if (s < end && *s == '@')
        return header_line(r, s, end, e);
    if (s < end && *s != '#')
        return data_line(r, s, end, e);
    comment_line(r->x, s, end);
    return 0;
}

/* The whole lines of text; *rest is what follows the last newline. */
static int lines(struct xvg_reader *r, const char *text, size_t len, const char **rest, struct err *e)
{
    const char *s = text, *stop = text + len, *newline;
    int rc = 0;
    while (!rc && s < stop && (newline = memchr(s, '\n', (size_t)(stop - s)))) {
        rc = line(r, s, newline, e);
        s = newline + 1;
    }
    *rest = s;
    return rc < 0 ? rc : 0;
}

/* A last line without a newline: part of a row is left out, a header must be right. */
static int last_line(struct xvg_reader *r, const char *s, const char *end, struct err *e)
{
    if (s < end && *s == '@')
        return line(r, s, end, e);
    r->x->cut_short = r->x->cut_short || (s < end && *s != '#');
    return 0;
}

int xvg_read(struct xvg *x, const char *name, const char *text, size_t len, struct err *e)
{
    struct xvg_reader r = {.x = x, .name = name};
    const char *rest;
    x->stride = 1;
    int rc = lines(&r, text, len, &rest, e);
    if (!rc)
        rc = last_line(&r, rest, text + len, e);
    free(r.row);
    return rc;
}

/* A disk or a server that cannot be read now may be another time. */
static int unread(const char *name, struct err *e)
{
    err_errno(e, "%s", name);
    if (errno == EIO || errno == ESTALE || errno == ETIMEDOUT || errno == ENOMEM)
        e->code = ERR_BUSY;
    return -(int)e->code;
}

/* What zlib found at the end of the file. */
static int stream_error(const struct xvg_reader *r, gzFile f, struct err *e)
{
    int code = Z_OK;
    gzerror(f, &code);
    if (code == Z_ERRNO)
        return unread(r->name, e);
    if (code == Z_OK || code == Z_STREAM_END)
        return 0;
    return err_set(e, ERR_IO, "%s: gzip: %s", r->name, code == Z_BUF_ERROR ? "the data ends too early" : zError(code));
}

static int pieces(struct xvg_reader *r, gzFile f, struct buf *text, struct err *e)
{
    char piece[65536];
    const char *rest;
    int n, rc = 0;
    while (!rc && r->left && (n = gzread(f, piece, sizeof piece)) > 0) {
        n = (uint64_t)n < r->left ? n : (int)r->left;
        r->left -= (uint64_t)n;
        buf_add(text, piece, (size_t)n);
        rc = lines(r, text->data, text->len, &rest, e);
        text->len -= (size_t)(rest - text->data);
        memmove(text->data, rest, text->len + 1);
        if (!rc && text->len > LONGEST_LINE)
            rc = err_set(e, ERR_IO, "%s:%d: a line of more than %d bytes", r->name, r->line + 1, LONGEST_LINE);
    }
    if (!rc)
        rc = stream_error(r, f, e);
    return rc || !text->len ? rc : last_line(r, text->data, text->data + text->len, e);
}

int xvg_read_file(struct xvg *x, const char *name, const char *path, uint64_t bytes, size_t most, struct err *e)
{
    struct xvg_reader r = {.x = x, .name = name, .most = most, .left = bytes};
    struct buf text = {0};
    gzFile f = gzopen(path, "rb");
    if (!f)
        return unread(name, e);
    x->stride = 1;
    int rc = pieces(&r, f, &text, e);
    gzclose(f);
    buf_free(&text);
    free(r.row);
    return rc;
}

void xvg_close(struct xvg *x)
{
    for (int i = 0; i < x->nlegends; i++)
        free(x->legend[i]);
    free(x->legend);
    free(x->legend_line);
    free(x->title);
    free(x->x_label);
    free(x->y_label);
    free(x->subtitle);
    free(x->stretched);
    free(x->v);
    *x = (struct xvg){0};
}

size_t xvg_column(const struct xvg *x, const char *legend)
{
    for (int c = 0; c < x->nlegends; c++)
        if (!strcmp(x->legend[c], legend))
            return (size_t)c + 1;
    return 0;
}
