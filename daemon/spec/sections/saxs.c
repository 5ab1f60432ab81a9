/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering in a spec, and the file of a background.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/base/buf.h"
#include "engine/prepare/form_factors.h"

#define BINS_MOST 2000 /* a GPU's block has them in shared memory */

/* "H2O" so often in a volume: each of its elements. */
static int add_formula(struct reader *r, struct saxs_choice *s, struct view formula, const char *place, double density)
{
    for (const char *p = view_text(formula); *p;) {
        struct saxs_fill fill = {.symbol = {*p++}};
        if (islower((unsigned char)*p))
            fill.symbol[1] = *p++;
        char *end;
        const long count = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : 1;
        p = isdigit((unsigned char)*p) ? end : p;
        if (!element_named(fill.symbol))
            return spec_bad(r, formula, place, "%s: there is no form factor for %s", view_text(formula), fill.symbol);
        int k = 0;
        while (k < s->nfill && strcmp(s->fill[k].symbol, fill.symbol))
            k++;
        if (k == SAXS_FILL_MAX)
            return spec_bad(r, formula, place, "more than %d elements", SAXS_FILL_MAX);
        if (k == s->nfill)
            s->fill[s->nfill++] = fill;
        s->fill[k].density += (double)count * density;
    }
    return 0;
}

static int read_padding(struct reader *r, struct observable_choice *c, struct view v)
{
    struct saxs_choice *s = &c->of.saxs;
    struct view fill = view_key(v, "fill"), solvent = view_key(v, "solvent");
    char place[96];
    int rc = 0;
    s->padding = view_given(v) ? view_number(view_key(v, "factor")) : 1;
    s->outside = view_choice(fill) == 1 ? SAXS_AVERAGE : SAXS_NOTHING;
    observable_place(place, c, "padding.solvent");
    if (view_given(fill) && view_given(solvent))
        return spec_bad(r, solvent, place, "expected fill or solvent, not both");
    for (int i = 0; i < view_count(solvent) && !rc; i++) {
        struct view one = view_item(solvent, i);
        s->outside = SAXS_SOLVENT;
        rc = add_formula(r, s, view_key(one, "formula"), place, view_quantity(view_key(one, "density")).value);
    }
    return rc;
}

int spec_read_saxs(struct reader *r, struct observable_choice *c, struct view v)
{
    struct saxs_choice *s = &c->of.saxs;
    struct view grid = view_key(v, "grid"), background = view_key(v, "background"), spacing = view_key(v, "spacing");
    char place[96];
    *s = (struct saxs_choice){.spacing = view_quantity(spacing).value,
                              .supersampling = (int)view_integer(view_key(v, "supersampling")),
                              .order = (int)view_integer(view_key(v, "order")),
                              .euler = view_choice(view_key(v, "divide-by")) == 1,
                              .max = view_quantity(view_key(v, "max")).value,
                              .bin = view_quantity(view_key(v, "bin")).value};
    observable_place(place, c, "grid");
    if (view_given(grid) && view_given(spacing))
        return spec_bad(r, grid, place, "expected grid or spacing, not both");
    for (int d = 0; d < view_count(grid); d++)
        s->grid[d] = (int)view_integer(view_item(grid, d));
    int rc = observable_bins(r, c, view_key(v, "max"), view_key(v, "bin"), BINS_MOST);
    if (!rc)
        rc = read_padding(r, c, view_key(v, "padding"));
    if (!rc && view_given(background)) {
        s->background.name = xstrdup(view_text(view_key(background, "file")));
        s->background.scale = view_number(view_key(background, "scale"));
    }
    return rc;
}

/* ---- the background ---- */

/* q I error of a line; false: it is a comment, or empty. */
static bool read_row(const char *line, double row[3], bool *bad)
{
    char *end = (char *)(uintptr_t)(line + strspn(line, " \t\r"));
    if (*end == '#' || *end == '@' || *end == '\n' || !*end)
        return false;
    for (int k = 0; k < 3; k++) {
        const char *from = end;
        row[k] = strtod(from, &end);
        *bad |= end == from;
    }
    return true;
}

static int read_rows(struct saxs_background *b, const struct source_text *t, struct err *e)
{
    int cap = 0, number = 1;
    for (const char *line = t->text; *line; number++) {
        double row[3];
        bool bad = false;
        sscanf(line, "# " SAXS_VOLUME_KEY " %lf nm^3", &b->volume);
        if (read_row(line, row, &bad)) {
            if (bad || !isfinite(row[0]) || !isfinite(row[1]) || (b->n && row[0] <= b->q[b->n - 1]))
                return err_set(e, ERR_SPEC, "%s:%d: expected q, I and its error, with q larger than in the row before",
                               t->name, number);
            if (b->n == cap) {
                cap = 2 * cap + 64;
                b->q = xrealloc(b->q, (size_t)cap, sizeof *b->q);
                b->i = xrealloc(b->i, (size_t)cap, sizeof *b->i);
                b->error = xrealloc(b->error, (size_t)cap, sizeof *b->error);
            }
            b->q[b->n] = row[0];
            b->i[b->n] = row[1];
            b->error[b->n++] = row[2];
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (b->n < 2)
        return err_set(e, ERR_SPEC, "%s: %d rows of q, I and its error: expected at least 2", t->name, b->n);
    return b->volume > 0
               ? 0
               : err_set(e, ERR_SPEC, "%s: expected a line '# " SAXS_VOLUME_KEY " V nm^3', as shoal observe writes it",
                         t->name);
}

int spec_make_saxs(const struct spec *s, const struct observable_choice *c, struct source *src, struct observable *o,
                   struct err *e)
{
    const struct saxs_background *from = &c->of.saxs.background;
    struct source_text text;
    if (!from->name)
        return 0;
    o->saxs.background = (struct saxs_background){.name = xstrdup(from->name), .scale = from->scale};
    int rc = source_open(src, NULL, from->name, &text, e);
    if (!rc)
        rc = read_rows(&o->saxs.background, &text, e);
    return rc == -ERR_MISSING_FILE || !rc ? rc : err_prefix(e, "observables[%d].saxs.background", c->index);
}
