/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/campaign/template.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/suggest.h"

enum { KNOWN_MAX = 64 };

struct template_writer {
    const struct variable *vars;
    int nvars;
    struct written *out;
    struct err *e;
};

/* ---- words in place of $(NAME) ---- */

static int unknown(const struct template_writer *w, const char *file, int line, const char *name)
{
    const char *known[KNOWN_MAX];
    size_t n = 0;
    struct buf list = {0};
    for (int i = 0; i < w->nvars && n < KNOWN_MAX; i++) {
        const struct variable *v = &w->vars[i];
        if (!v->of)
            known[n++] = v->name;
        buf_printf(&list, "%s%s%s%s", i ? ", " : "", v->of ? v->of : "", v->of ? "." : "", v->name);
    }
    const char *near = suggest_nearest(name, known, n);
    int rc =
        near ? err_set(w->e, ERR_SPEC, "%s:%d: $(%.64s): no such value; did you mean $(%s)?", file, line, name, near)
             : err_set(w->e, ERR_SPEC, "%s:%d: $(%.64s): no such value; expected one of %.600s", file, line, name,
                       list.data ? list.data : "none");
    buf_free(&list);
    return rc;
}

static bool is_called(const struct variable *v, const char *name)
{
    size_t n = v->of ? strlen(v->of) : 0;
    if (v->of && (strncmp(v->of, name, n) != 0 || name[n++] != '.'))
        return false;
    return !strcmp(v->name, name + n);
}

static int replace(const struct template_writer *w, const char *file, int line, const char *text, struct buf *out)
{
    for (const char *at; (at = strstr(text, "$("));) {
        const char *end = strchr(at, ')'), *value = NULL;
        if (!end)
            return err_set(w->e, ERR_SPEC, "%s:%d: %.60s: expected ) after the name", file, line, at);
        buf_add(out, text, (size_t)(at - text));
        char *name = xcalloc((size_t)(end - at), 1);
        memcpy(name, at + 2, (size_t)(end - at) - 2);
        for (int i = 0; i < w->nvars && !value; i++)
            value = is_called(&w->vars[i], name) ? w->vars[i].value : NULL;
        int rc = value ? 0 : unknown(w, file, line, name);
        free(name);
        if (rc)
            return rc;
        buf_add(out, value, strlen(value));
        text = end + 1;
    }
    buf_add(out, text, strlen(text));
    return 0;
}

/* ---- YAML ---- */

static void begin_line(struct template_writer *w, const char *file, int line)
{
    struct written *o = w->out;
    o->origins = xrealloc(o->origins, (size_t)o->lines + 1, sizeof *o->origins);
    o->origins[o->lines++] = (struct origin){file, line};
}

/* Whether a text that is not quoted stays what it is, in lists on one line too. */
static bool is_plain(const char *text)
{
    bool plain = isalnum((unsigned char)*text) ||
                 ((*text == '-' || *text == '+' || *text == '.') && isdigit((unsigned char)text[1]));
    for (const char *p = text; *p; p++)
        plain &= isalnum((unsigned char)*p) || strchr("._/+-", *p) || (*p == ' ' && p[1]);
    return plain;
}

static void write_quoted(struct buf *out, const char *text)
{
    buf_printf(out, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            buf_printf(out, "\\%c", *p);
        else if ((unsigned char)*p < ' ' || *p == 127)
            buf_printf(out, "\\x%02x", (unsigned)*p);
        else
            buf_add(out, p, 1);
    }
    buf_printf(out, "\"");
}

static int write_scalar(struct template_writer *w, const char *file, const struct node *n)
{
    struct buf text = {0};
    buf_add(&text, "", 0);
    int rc = node_is_null(n) ? 0 : replace(w, file, n->line, n->text, &text);
    if (!rc && node_is_null(n))
        buf_printf(&w->out->text, "~");
    else if (!rc && is_plain(text.data))
        buf_printf(&w->out->text, "%s", text.data);
    else if (!rc)
        write_quoted(&w->out->text, text.data);
    buf_free(&text);
    return rc;
}

static int write_map(struct template_writer *w, const struct layer *maps, int n, int indent);

static bool all_scalars(const struct node *list)
{
    for (int i = 0; i < list->n; i++)
        if (list->items[i].value->kind != NODE_SCALAR)
            return false;
    return true;
}

static int write_line_of(struct template_writer *w, const char *file, const struct node *list)
{
    int rc = 0;
    buf_printf(&w->out->text, " [");
    for (int i = 0; i < list->n && !rc; i++) {
        buf_printf(&w->out->text, "%s", i ? ", " : "");
        rc = write_scalar(w, file, list->items[i].value);
    }
    buf_printf(&w->out->text, "]\n");
    return rc;
}

/* Writes the value behind "key:" or "-", as one file has it. */
static int write_value(struct template_writer *w, const char *file, const struct node *n, int indent)
{
    struct layer one = {file, n};
    int rc = 0;
    if (n->kind == NODE_SCALAR) {
        buf_printf(&w->out->text, " ");
        rc = write_scalar(w, file, n);
        buf_printf(&w->out->text, "\n");
        return rc;
    }
    if (n->kind == NODE_LIST && all_scalars(n))
        return write_line_of(w, file, n);
    if (n->kind == NODE_MAP && !n->n) {
        buf_printf(&w->out->text, " {}\n");
        return 0;
    }
    buf_printf(&w->out->text, "\n");
    if (n->kind == NODE_MAP)
        return write_map(w, &one, 1, indent);
    for (int i = 0; i < n->n && !rc; i++) {
        begin_line(w, file, n->items[i].line);
        buf_printf(&w->out->text, "%*s-", indent, "");
        rc = write_value(w, file, n->items[i].value, indent + 2);
    }
    return rc;
}

/* The layers' values of a key, up to the last: those that count, when that is a mapping, are the mappings that no other
 * value comes after. Returns how many. */
static int values_of(const struct layer *maps, int n, const char *key, struct layer *values, int *line)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; maps[i].tree && k < maps[i].tree->n; k++) {
            const struct node_item *item = &maps[i].tree->items[k];
            if (strcmp(item->key, key))
                continue;
            if (item->value->kind == NODE_MAP && !item->value->n && count && values[count - 1].tree->kind == NODE_MAP)
                continue; /* adds nothing */
            if (item->value->kind != NODE_MAP || (count && values[count - 1].tree->kind != NODE_MAP))
                count = 0;
            values[count++] = (struct layer){maps[i].file, item->value};
            *line = item->line;
        }
    }
    return count;
}

static bool is_first(const struct layer *maps, int i, const char *key)
{
    for (int k = 0; k < i; k++)
        if (maps[k].tree && node_get(maps[k].tree, key))
            return false;
    return true;
}

static int write_key(struct template_writer *w, const struct layer *maps, int n, const char *key, int indent)
{
    struct layer *values = xcalloc((size_t)n, sizeof *values);
    int line = 0, count = values_of(maps, n, key, values, &line), rc;
    begin_line(w, values[count - 1].file, line);
    buf_printf(&w->out->text, "%*s", indent, "");
    if (is_plain(key))
        buf_printf(&w->out->text, "%s:", key);
    else
        write_quoted(&w->out->text, key), buf_printf(&w->out->text, ":");
    if (count > 1) {
        buf_printf(&w->out->text, "\n");
        rc = write_map(w, values, count, indent + 2);
    } else {
        rc = write_value(w, values[0].file, values[0].tree, indent + 2);
    }
    free(values);
    return rc;
}

static int write_map(struct template_writer *w, const struct layer *maps, int n, int indent)
{
    int rc = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; !rc && maps[i].tree && k < maps[i].tree->n; k++)
            if (is_first(maps, i, maps[i].tree->items[k].key))
                rc = write_key(w, maps, n, maps[i].tree->items[k].key, indent);
    return rc;
}

int template_write(const struct layer *layers, int nlayers, const struct variable *vars, int nvars, struct written *out,
                   struct err *e)
{
    struct template_writer w = {.vars = vars, .nvars = nvars, .out = out, .e = e};
    return write_map(&w, layers, nlayers, 0);
}

void template_trace(const struct written *w, const char *name, const char *message, struct buf *out)
{
    size_t n = strlen(name);
    char *end = NULL;
    long line = strncmp(message, name, n) || message[n] != ':' ? 0 : strtol(message + n + 1, &end, 10);
    if (line >= 1 && line <= w->lines && *end == ':')
        buf_printf(out, "%s:%d%s", w->origins[line - 1].file, w->origins[line - 1].line, end);
    else
        buf_printf(out, "%s", message);
}

void template_free(struct written *w)
{
    buf_free(&w->text);
    free(w->origins);
    *w = (struct written){0};
}
