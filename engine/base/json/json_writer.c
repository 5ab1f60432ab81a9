/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json/json_writer.h"

#include <math.h>

#include "engine/base/units.h"

void jw_string(struct buf *out, const char *s)
{
    buf_add(out, "\"", 1);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f) /* our texts are ASCII; bytes of damaged files are shown as Latin-1 */
            buf_printf(out, "\\u%04x", c);
        else
            buf_add(out, s, 1);
    }
    buf_add(out, "\"", 1);
}

void jw_number(struct buf *out, double x)
{
    if (!isfinite(x))
        buf_printf(out, "null");
    else
        buf_printf(out, "%.12g", x == 0 ? 0.0 : x); /* no -0 */
}

void jw_item(struct writer *w, const char *key)
{
    buf_printf(w->out, "%s\n%*s", w->first ? "" : ",", w->depth, "");
    w->first = false;
    if (!key)
        return;
    jw_string(w->out, key);
    buf_add(w->out, ": ", 2);
}

void jw_begin(struct writer *w, const char *key, char bracket)
{
    if (w->depth)
        jw_item(w, key);
    buf_add(w->out, &bracket, 1);
    w->depth++;
    w->first = true;
}

void jw_end(struct writer *w, char bracket)
{
    w->depth--;
    if (!w->first)
        buf_printf(w->out, "\n%*s", w->depth, "");
    buf_add(w->out, &bracket, 1);
    w->first = false;
}

void jw_text(struct writer *w, const char *key, const char *value)
{
    jw_item(w, key);
    if (value && *value)
        jw_string(w->out, value);
    else
        buf_printf(w->out, "null");
}

void jw_integer(struct writer *w, const char *key, size_t value)
{
    jw_item(w, key);
    buf_printf(w->out, "%zu", value);
}

void jw_real(struct writer *w, const char *key, double value)
{
    jw_item(w, key);
    jw_number(w->out, value);
}

void jw_null(struct writer *w, const char *key)
{
    jw_item(w, key);
    buf_printf(w->out, "null");
}

void jw_quantity(struct writer *w, const char *key, double magnitude, const char *unit)
{
    jw_item(w, key);
    buf_printf(w->out, "{\"magnitude\": ");
    jw_number(w->out, magnitude);
    buf_printf(w->out, ", \"unit\": \"%s\"}", unit);
}

static void value_error(struct writer *w, const char *key, double value, double error)
{
    jw_item(w, key);
    buf_printf(w->out, "{\"value\": ");
    jw_number(w->out, value);
    buf_printf(w->out, ", \"error\": ");
    jw_number(w->out, error);
    buf_printf(w->out, "}");
}

void jw_energy(struct writer *w, const char *key, double beta, double value, double error)
{
    double kj = 1 / beta, kcal = kj / UNIT_KCAL;
    jw_begin(w, key, '{');
    value_error(w, "kJ/mol", value * kj, error * kj);
    value_error(w, "kcal/mol", value * kcal, error * kcal);
    value_error(w, "kT", value, error);
    jw_end(w, '}');
}

void jw_matrix(struct writer *w, const char *key, const double *x, size_t n, double scale)
{
    jw_begin(w, key, '[');
    for (size_t i = 0; i < n; i++) {
        jw_item(w, NULL);
        for (size_t j = 0; j < n; j++) {
            buf_printf(w->out, "%s", j ? ", " : "[");
            jw_number(w->out, x[i * n + j] * scale);
        }
        buf_printf(w->out, "]");
    }
    jw_end(w, ']');
}
