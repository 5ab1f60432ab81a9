/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/campaign/delimited.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* which some programs begin a text with */

struct delimited_cells {
    char **items;
    int n;
};

static void cells_free(struct delimited_cells *c)
{
    for (int i = 0; i < c->n; i++)
        free(c->items[i]);
    free(c->items);
    *c = (struct delimited_cells){0};
}

/* Without blanks around it. */
static void add_cell_text(struct delimited_cells *c, const struct buf *raw)
{
    size_t from = strspn(raw->data, " \t\r"), to = raw->len;
    while (to > from && strchr(" \t\r", raw->data[to - 1]))
        to--;
    struct buf text = {0};
    buf_add(&text, raw->data + from, to - from);
    c->items = xrealloc(c->items, (size_t)c->n + 1, sizeof *c->items);
    c->items[c->n++] = text.data;
}

/* The values of one line, up to its end. False: a quote is not closed. */
static bool split(const char *line, size_t len, char separator, struct delimited_cells *out)
{
    bool quoted = false;
    struct buf cell = {0};
    buf_add(&cell, "", 0);
    for (size_t i = 0; i <= len; i++) {
        char c = i < len ? line[i] : separator;
        if (quoted && i == len)
            break;
        if (c == '"' && quoted && i + 1 < len && line[i + 1] == '"')
            buf_add(&cell, &line[i++], 1);
        else if (c == '"')
            quoted = !quoted;
        else if (c == separator && !quoted) {
            add_cell_text(out, &cell);
            cell.len = 0;
            buf_add(&cell, "", 0);
        } else
            buf_add(&cell, &c, 1);
    }
    buf_free(&cell);
    return !quoted;
}

static int take_heads(struct delimited *s, struct delimited_cells *c, const char *file, int line, struct err *e)
{
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(c->items[i], c->items[k]))
                return err_set(e, ERR_SPEC, "%s:%d: two columns are called %s", file, line, c->items[i]);
    s->heads = c->items;
    s->columns = c->n;
    s->line = line;
    *c = (struct delimited_cells){0};
    return 0;
}

static int take_row(struct delimited *s, struct delimited_cells *c, const char *file, int line, struct err *e)
{
    if (c->n != s->columns)
        return err_set(e, ERR_SPEC, "%s:%d: %d %s; expected %d, as line %d has headings", file, line, c->n,
                       number_word(c->n, "value", "values"), s->columns, s->line);
    s->cells = xrealloc(s->cells, (size_t)(s->rows + 1) * (size_t)s->columns, sizeof *s->cells);
    s->lines = xrealloc(s->lines, (size_t)s->rows + 1, sizeof *s->lines);
    memcpy(s->cells + (size_t)s->rows * (size_t)s->columns, c->items, (size_t)c->n * sizeof *c->items);
    s->lines[s->rows++] = line;
    free(c->items);
    *c = (struct delimited_cells){0};
    return 0;
}

int delimited_parse(struct delimited *s, const char *file, const char *text, struct err *e)
{
    char separator = '\t';
    int line = 0, rc = 0;
    *s = (struct delimited){0};
    if (!strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
        text += strlen(BYTE_ORDER_MARK);
    for (const char *at = text; *at && !rc; line++) {
        size_t len = strcspn(at, "\n");
        struct delimited_cells c = {0};
        if (strspn(at, " \t\r") < len && *at != '#') {
            if (!s->heads)
                separator = memchr(at, '\t', len) ? '\t' : ',';
            if (!split(at, len, separator, &c))
                rc = err_set(e, ERR_SPEC, "%s:%d: a \" is not closed", file, line + 1);
            else
                rc = s->heads ? take_row(s, &c, file, line + 1, e) : take_heads(s, &c, file, line + 1, e);
        }
        cells_free(&c);
        at += len + (at[len] == '\n');
    }
    if (!rc && !s->rows)
        rc = err_set(e, ERR_SPEC, "%s:%d: expected a line of headings and lines of values below it", file,
                     line ? line : 1);
    if (rc)
        delimited_free(s);
    return rc;
}

int delimited_column(const struct delimited *s, const char *head)
{
    for (int i = 0; i < s->columns; i++)
        if (!strcmp(s->heads[i], head))
            return i;
    return -1;
}

const char *delimited_cell(const struct delimited *s, int row, int column)
{
    return s->cells[(size_t)row * (size_t)s->columns + (size_t)column];
}

void delimited_free(struct delimited *s)
{
    for (int i = 0; i < s->columns; i++)
        free(s->heads[i]);
    for (int i = 0; i < s->rows * s->columns; i++)
        free(s->cells[i]);
    free(s->heads);
    free(s->cells);
    free(s->lines);
    *s = (struct delimited){0};
}
