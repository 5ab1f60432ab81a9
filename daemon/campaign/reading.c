/* SPDX-License-Identifier: Apache-2.0
 *
 * What all readers of a campaign need: errors and warnings with their place, paths, words for specs.
 */
#include "daemon/campaign/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int campaign_bad(struct campaign_reading *r, const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(r->e, ERR_SPEC, fmt, ap);
    va_end(ap);
    return err_prefix(r->e, "%s:%d", file, line);
}

void campaign_warn(struct campaign_reading *r, const char *file, int line, const char *fmt, ...)
{
    struct campaign *c = r->c;
    struct buf text = {0};
    char what[500];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    buf_printf(&text, "%s:%d: %s", file, line, what);
    c->warnings = xrealloc(c->warnings, (size_t)c->nwarnings + 1, sizeof *c->warnings);
    c->warnings[c->nwarnings++] = text.data;
}

char *campaign_path(const struct campaign *c, const char *name)
{
    struct buf path = {0};
    if (*name == '/' || !strcmp(c->folder, "."))
        buf_printf(&path, "%s", name);
    else
        buf_printf(&path, "%s/%s", c->folder, name);
    return path.data;
}

int campaign_line(struct view v)
{
    return v.node ? v.node->line : 1;
}

void values_add(struct values *v, const char *name, const char *value)
{
    v->items = xrealloc(v->items, (size_t)v->n + 1, sizeof *v->items);
    v->items[v->n++] = (struct variable){.name = xstrdup(name), .value = xstrdup(value)};
}
