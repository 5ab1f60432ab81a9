/* SPDX-License-Identifier: Apache-2.0 */
#include "client/show/show.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/number.h"
#include "engine/base/printable.h"

void table_setup(struct table *t, const char *layout)
{
    *t = (struct table){0};
    for (const char *p = layout; *p; p++) {
        if (*p == ' ') {
            if (++t->columns == TABLE_COLUMNS)
                abort();
        } else if (*p == '~' || *p == '=' || *p == '+')
            t->cut[t->columns] = *p == '~' ? CUT_END : *p == '=' ? CUT_MIDDLE : CUT_WRAP, t->weight[t->columns]++;
        else if (*p >= '0' && *p <= '9')
            t->leaves[t->columns] = *p - '0';
        else
            t->right[t->columns] = *p == 'r';
    }
    t->columns++;
}

static void add_cell(struct table *t, char *text)
{
    t->cells = xrealloc(t->cells, (size_t)t->count + 1, sizeof *t->cells);
    t->links = xrealloc(t->links, (size_t)t->count + 1, sizeof *t->links);
    t->links[t->count] = NULL;
    t->cells[t->count++] = text;
}

void table_link(struct table *t, const char *place)
{
    free(t->links[t->count - 1]);
    t->links[t->count - 1] = xstrdup(place);
}

void table_cell(struct table *t, const char *fmt, ...)
{
    char text[512];
    struct buf shown = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    printable_add(&shown, text, "");
    add_cell(t, shown.data ? shown.data : xstrdup(""));
}

/* Columns shown on a terminal: bytes that do not continue a UTF-8 character and are in no colour sequence. */
static int width_of(const char *text)
{
    int n = 0;
    for (; *text; text++) {
        if (*text == '\033' && strchr(text, 'm'))
            text = strchr(text, 'm');
        else
            n += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return n;
}

/* The byte after the first `columns` columns of a text without colours. */
static const char *after_columns(const char *text, int columns)
{
    for (; *text; text++)
        if (((unsigned char)*text & 0xc0) != 0x80 && columns-- == 0)
            break;
    return text;
}

void table_free(struct table *t)
{
    for (int i = 0; i < t->count; i++) {
        free(t->cells[i]);
        free(t->links[i]);
    }
    free(t->cells);
    free(t->links);
    *t = (struct table){0};
}

enum { SHORT = 16, LEAST = 6 };

/* Columns of a line; `cut`: when what may be shortened is short. */
static int total(const struct table *t, const int *wide, bool cut)
{
    int sum = -2;
    for (int i = 0; i < t->columns; i++)
        if (wide[i] >= 0)
            sum += (cut && t->cut[i] && wide[i] > SHORT * t->weight[i] ? SHORT * t->weight[i] : wide[i]) + 2;
    return sum;
}

/* Shortens what may be shortened, to what is short or, if need be, to the shortest. */
static void shorten(const struct table *t, int width, bool shortest, int *wide)
{
    for (int i = 0; i < t->columns; i++) {
        int over = total(t, wide, false) - width, least = shortest ? LEAST : SHORT * t->weight[i];
        if (t->cut[i] && over > 0 && wide[i] > least)
            wide[i] = wide[i] - over > least ? wide[i] - over : least;
    }
}

/* Every cell below the heading is this text. */
static bool has_only(const struct table *t, int column, const char *text)
{
    bool only = t->count > t->columns;
    for (int i = t->columns + column; i < t->count; i += t->columns)
        only &= !strcmp(t->cells[i], text);
    return only;
}

/* Widths of columns; -1 for one that left: first those that say nothing ("-") before any text is cut, then those for
 * which there is no room when texts are short. */
static void fit(const struct table *t, int width, int *wide)
{
    for (int i = 0; i < t->columns; i++)
        if (t->leaves[i] && has_only(t, i, "-") && total(t, wide, false) > width)
            wide[i] = -1;
    for (int rank = 9; rank > 0; rank--)
        for (int i = 0; i < t->columns; i++)
            if (t->leaves[i] == rank && total(t, wide, true) > width)
                wide[i] = -1;
    shorten(t, width, false, wide);
    shorten(t, width, true, wide);
}

bool table_is_empty(const struct table *t, int column)
{
    return has_only(t, column, "");
}

/* A text in fewer columns than it has, `~` where something is left out. */
static void put_short(const char *text, int wide, bool middle, struct buf *out)
{
    int tail = middle ? (wide - 1) / 2 : 0;
    buf_printf(out, "%.*s~%s", (int)(after_columns(text, wide - 1 - tail) - text), text,
               after_columns(text, width_of(text) - tail));
}

/* The byte where a text of more columns goes on in the next line: behind its last word that fits. */
static const char *line_end(const char *text, int wide)
{
    const char *end = after_columns(text, wide);
    const char *space = end;
    while (space > text && *space != ' ')
        space--;
    return space > text ? space : end;
}

/* The last cell of a row, from column `indent` on. */
static void put_wrapped(const char *text, int wide, int indent, struct buf *out)
{
    while (width_of(text) > wide) {
        const char *end = line_end(text, wide);
        buf_printf(out, "%.*s\n%*s", (int)(end - text), text, indent, "");
        text = end + strspn(end, " ");
    }
    buf_printf(out, "%s", text);
}

/* The cell that begins in column `indent` of its line. */
static void put_terminal_cell(const struct table *t, int i, int wide, int indent, bool last, struct buf *out)
{
    const char *text = t->cells[i];
    int gap = wide - width_of(text);
    bool right = t->right[i % t->columns];
    if (gap < 0 && last && t->cut[i % t->columns] == CUT_WRAP)
        put_wrapped(text, wide, indent, out);
    else if (gap < 0)
        put_short(text, wide, t->cut[i % t->columns] == CUT_MIDDLE, out);
    else
        buf_printf(out, "%*s%s%*s", right ? gap : 0, "", text, right || last ? 0 : gap, "");
    buf_printf(out, "%s", last ? "" : "  ");
}

void table_put(struct table *t, int width, struct buf *out)
{
    int wide[TABLE_COLUMNS] = {0}, last = 0, at = 0;
    for (int i = 0; i < t->count; i++) {
        int w = width_of(t->cells[i]), column = i % t->columns;
        wide[column] = w > wide[column] ? w : wide[column];
    }
    for (int i = 0; i < t->columns; i++)
        if (table_is_empty(t, i))
            wide[i] = -1;
    if (width > 0)
        fit(t, width, wide);
    for (int i = 0; i < t->columns; i++)
        last = wide[i] < 0 ? last : i;
    for (int i = 0; i < t->count; i++) {
        int column = i % t->columns;
        if (wide[column] >= 0) {
            put_terminal_cell(t, i, wide[column], at, column == last, out);
            at += wide[column] + 2;
        }
        if (column == t->columns - 1) {
            at = 0;
            while (out->len && out->data[out->len - 1] == ' ')
                out->data[--out->len] = '\0';
            buf_printf(out, "\n");
        }
    }
    table_free(t);
}

void table_put_plain(struct table *t, struct buf *out)
{
    buf_add(out, "", 0);
    for (int i = t->columns; i < t->count; i++)
        buf_printf(out, "%s%c", t->cells[i], (i + 1) % t->columns ? '\t' : '\n');
    table_free(t);
}

void show_csv(struct buf *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        buf_printf(out, "%s", text);
        return;
    }
    buf_add(out, "\"", 1);
    for (const char *p = text; *p; p++)
        buf_printf(out, *p == '"' ? "\"\"" : "%c", *p);
    buf_add(out, "\"", 1);
}

void table_put_csv(struct table *t, struct buf *out)
{
    for (int i = 0; i < t->count; i++) {
        show_csv(out, t->cells[i]);
        buf_printf(out, (i + 1) % t->columns ? "," : "\n");
    }
    table_free(t);
}

void show_duration(struct buf *out, double seconds)
{
    long s = lrint(seconds < 0 ? 0 : seconds > 1e9 ? 1e9 : seconds);
    if (s < 60)
        buf_printf(out, "%ld s", s);
    else if (s < 3600)
        buf_printf(out, "%ld min %02ld s", s / 60, s % 60);
    else if (s < 86400)
        buf_printf(out, "%ld h %02ld min", s / 3600, s % 3600 / 60);
    else
        buf_printf(out, "%ld d %02ld h", s / 86400, s % 86400 / 3600);
}

void show_time(struct buf *out, const char *time)
{
    size_t whole = strcspn(time, ".");
    buf_printf(out, "%.*s%s", (int)whole, time, time[whole] ? "Z" : "");
}

void show_progress(struct buf *out, int width, double fraction, int done, int windows, int failed, double eta_s,
                   const char *more)
{
    enum { BAR = 24, SHORTEST = 4 };
    struct buf text = {0};
    fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    buf_printf(&text, "%3d %%  %d/%d %s", (int)(fraction * 100), done, windows,
               number_word(windows, "window", "windows"));
    if (failed)
        buf_printf(&text, "  %d failed", failed);
    if (eta_s >= 0) {
        buf_printf(&text, "  ");
        show_duration(&text, eta_s);
        buf_printf(&text, " left");
    }
    if (*more)
        buf_printf(&text, "  %s", more);
    int room = width - (int)text.len - 3, bar = room > BAR ? BAR : room;
    if (bar >= SHORTEST) {
        buf_printf(out, "[");
        for (int i = 0; i < bar; i++)
            buf_printf(out, "%s", i < (int)(fraction * bar) ? "#" : ".");
        buf_printf(out, "] ");
    }
    buf_printf(out, "%.*s", width, text.data);
    buf_free(&text);
}

bool show_is_terminal(FILE *f)
{
    const char *term = getenv("TERM");
    return isatty(fileno(f)) && term && *term && strcmp(term, "dumb") != 0;
}

static int size_in(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    int64_t n = 0;
    return text && number_parse(text, &n) && n > 0 && n < 10000 ? (int)n : otherwise;
}

void show_size(FILE *f, int *columns, int *rows)
{
    struct winsize size = {0};
    bool known = !ioctl(fileno(f), TIOCGWINSZ, &size);
    *columns = known && size.ws_col ? size.ws_col : size_in("COLUMNS", 80);
    *rows = known && size.ws_row ? size.ws_row : size_in("LINES", 24);
}

/* Whether to colour a stream: a terminal that moves its cursor, and no NO_COLOR. */
static bool has_colour(FILE *f)
{
    const char *no = getenv("NO_COLOR");
    return show_is_terminal(f) && !(no && *no);
}

static const char *colour_of(const char *state)
{
    if (!strcmp(state, "done"))
        return "\033[32m";
    if (!strcmp(state, "failed"))
        return "\033[31m";
    if (!strcmp(state, "running") || !strcmp(state, "finishing"))
        return "\033[36m";
    return "";
}

void table_coloured(struct table *t, const char *colour, const char *text)
{
    struct buf out = {0};
    buf_printf(&out, "%s", colour);
    printable_add(&out, text, "");
    buf_printf(&out, "%s", *colour ? "\033[0m" : "");
    add_cell(t, out.data);
}

void table_state(struct table *t, const char *state)
{
    table_coloured(t, has_colour(stdout) ? colour_of(state) : "", state);
}
