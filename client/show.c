/* SPDX-License-Identifier: Apache-2.0 */
#include "client/show.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void table_setup(struct table *t, const char *aligned)
{
    *t = (struct table){.columns = (int)strlen(aligned)};
    for (int i = 0; i < t->columns; i++)
        t->right[i] = aligned[i] == 'r';
}

void table_cell(struct table *t, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    t->cells = xrealloc(t->cells, (size_t)t->count + 1, sizeof *t->cells);
    t->cells[t->count++] = xstrdup(text);
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

void table_put(struct table *t, struct buf *out)
{
    int wide[TABLE_COLUMNS] = {0};
    for (int i = 0; i < t->count; i++) {
        int w = width_of(t->cells[i]), column = i % t->columns;
        wide[column] = w > wide[column] ? w : wide[column];
    }
    for (int i = 0; i < t->count; i++) {
        int column = i % t->columns, gap = wide[column] - width_of(t->cells[i]);
        bool last = column == t->columns - 1;
        buf_printf(out, "%*s%s%*s%s", t->right[column] ? gap : 0, "", t->cells[i], t->right[column] || last ? 0 : gap,
                   "", last ? "" : "  ");
        if (last) {
            while (out->len && out->data[out->len - 1] == ' ')
                out->data[--out->len] = '\0';
            buf_printf(out, "\n");
        }
        free(t->cells[i]);
    }
    free(t->cells);
    *t = (struct table){0};
}

/* Decimals that show two significant digits of the error. */
static int decimals_of(double error)
{
    int decimals = 1 - (int)floor(log10(error));
    if (error * pow(10, decimals) >= 99.5) /* rounds up to three digits */
        decimals--;
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

void show_value(struct buf *out, double value, double error)
{
    if (!isfinite(value)) {
        buf_printf(out, "-");
    } else if (!isfinite(error) || error <= 0) {
        buf_printf(out, "%.3f", value);
    } else {
        int decimals = decimals_of(error);
        buf_printf(out, "%.*f +- %.*f", decimals, value, decimals, error);
    }
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

void show_progress(struct buf *out, int width, double fraction, int done, int windows, int failed, double eta_s)
{
    fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    int full = (int)(fraction * width);
    buf_printf(out, "[");
    for (int i = 0; i < width; i++)
        buf_printf(out, "%s", i < full ? "#" : ".");
    buf_printf(out, "] %3d %%  %d/%d windows", (int)(fraction * 100), done, windows);
    if (failed)
        buf_printf(out, "  %d failed", failed);
    if (eta_s >= 0) {
        buf_printf(out, "  ");
        show_duration(out, eta_s);
        buf_printf(out, " left");
    }
}

bool show_is_terminal(FILE *f)
{
    const char *term = getenv("TERM");
    return isatty(fileno(f)) && term && *term && strcmp(term, "dumb") != 0;
}

bool show_has_colour(FILE *f)
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

void table_state(struct table *t, const char *state)
{
    const char *colour = show_has_colour(stdout) ? colour_of(state) : "";
    table_cell(t, "%s%s%s", colour, state, *colour ? "\033[0m" : "");
}
