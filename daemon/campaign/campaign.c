/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/campaign/campaign.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "daemon/campaign/headings.h"
#include "daemon/campaign/sheet.h"
#include "daemon/spec/schema.h"

extern const char campaign_schema_text[];
extern const size_t campaign_schema_text_len;

struct reading {
    struct campaign *c;
    struct err *e;
};

static int bad(struct reading *r, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int bad(struct reading *r, const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(r->e, ERR_SPEC, fmt, ap);
    va_end(ap);
    return err_prefix(r->e, "%s:%d", file, line);
}

static void warn(struct reading *r, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void warn(struct reading *r, const char *file, int line, const char *fmt, ...)
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

/* A path as the file says it, from its folder. The caller frees it. */
static char *path_of(const struct campaign *c, const char *name)
{
    struct buf path = {0};
    if (*name == '/' || !strcmp(c->folder, "."))
        buf_printf(&path, "%s", name);
    else
        buf_printf(&path, "%s/%s", c->folder, name);
    return path.data;
}

static int line_of(struct view v)
{
    return v.node ? v.node->line : 1;
}

/* ---- words for specs ---- */

static void add_value(struct values *v, const char *name, const char *value)
{
    v->items = xrealloc(v->items, (size_t)v->n + 1, sizeof *v->items);
    v->items[v->n++] = (struct variable){.name = xstrdup(name), .value = xstrdup(value)};
}

static void values_free(struct values *v)
{
    for (int i = 0; i < v->n; i++) {
        free((char *)v->items[i].name);
        free((char *)v->items[i].value);
    }
    free(v->items);
}

static int read_values(struct reading *r, struct values *values, const struct node *map)
{
    for (int i = 0; map && i < map->n; i++) {
        const struct node *value = map->items[i].value;
        if (value->kind != NODE_SCALAR)
            return bad(r, r->c->file, map->items[i].line, "values.%s: expected text or a number", map->items[i].key);
        add_value(values, map->items[i].key, value->text);
    }
    return 0;
}

/* ---- tables ---- */

struct open_sheet {
    struct sheet sheet;
    char *path;
};

static int open_sheet(struct reading *r, struct view v, struct open_sheet *s)
{
    struct buf text = {0};
    struct err why = {0};
    s->path = path_of(r->c, view_text(v));
    int rc = buf_read_file(&text, s->path, &why);
    if (rc)
        rc = err_set(r->e, ERR_MISSING_FILE, "%s:%d: %s", r->c->file, line_of(v), why.msg);
    else
        rc = sheet_parse(&s->sheet, s->path, text.data ? text.data : "", r->e);
    buf_free(&text);
    return rc;
}

static void close_sheet(struct open_sheet *s)
{
    sheet_free(&s->sheet);
    free(s->path);
}

/* "experiment", or "experiment (kcal/mol)", whose unit is the one of a number without: *factor to kJ/mol, 0 where there is none. -1:
 * no such column. */
static int energy_column(const struct sheet *s, const char *head, double *factor)
{
    size_t n = strlen(head);
    for (int i = 0; i < s->columns; i++) {
        const char *text = s->heads[i];
        char one[40];
        struct quantity q = {0};
        *factor = 0;
        if (!strcmp(text, head))
            return i;
        if (strncmp(text, head, n) != 0 || strncmp(text + n, " (", 2) != 0)
            continue;
        snprintf(one, sizeof one, "1 %.*s", (int)strcspn(text + n + 2, ")"), text + n + 2);
        if (value_quantity(one, "kJ/mol", false, &q) == QUANTITY_OK)
            *factor = q.value;
        return i;
    }
    return -1;
}

/* A heading that is one of those but for its spelling would be a value for specs, and the column missed. */
static int check_heads(struct reading *r, const struct open_sheet *s, const char *const *energies)
{
    for (int i = 0; i < s->sheet.columns; i++)
        for (int k = 0; energies[k]; k++) {
            const char *head = s->sheet.heads[i], *after = head + strspn(head, " ");
            size_t n = strlen(energies[k]);
            double factor;
            if (strncasecmp(after, energies[k], n) != 0)
                continue;
            after += n + strspn(after + n, " ");
            if ((!*after || *after == '(' || *after == '[') && energy_column(&s->sheet, energies[k], &factor) != i)
                return bad(r, s->path, s->sheet.line, "%.60s: expected %s, or %s (kcal/mol), and that once", head,
                           energies[k], energies[k]);
        }
    return 0;
}

static int read_energy(struct reading *r, const struct open_sheet *s, int row, const char *head, double *out)
{
    double factor, number;
    struct quantity q = {0};
    int column = energy_column(&s->sheet, head, &factor);
    const char *cell = column < 0 ? "" : sheet_cell(&s->sheet, row, column);
    *out = NAN;
    if (!*cell)
        return 0;
    if (value_number(cell, &number) && factor > 0)
        *out = number * factor;
    else if (value_quantity(cell, "kJ/mol", false, &q) == QUANTITY_OK)
        *out = q.value;
    else
        return bad(r, s->path, s->sheet.lines[row], "%s: %.60s: expected a free energy, such as 2.00 kcal/mol%s", head,
                   cell, factor > 0 ? " or a number" : "; or the unit in the heading, as in experiment (kcal/mol)");
    return 0;
}

static int read_error(struct reading *r, const struct open_sheet *s, int row, double *out)
{
    int rc = read_energy(r, s, row, "error", out);
    return !rc && *out < 0 ? bad(r, s->path, s->sheet.lines[row], "error: expected 0 or more") : rc;
}

/* With or without a unit. */
static bool is_other(const char *head, const char *const *others)
{
    for (int k = 0; others[k]; k++) {
        size_t n = strlen(others[k]);
        if (!strncmp(head, others[k], n) && (!head[n] || !strncmp(head + n, " (", 2)))
            return true;
    }
    return false;
}

/* Every column but `others` is a value for specs. */
static void read_cells(const struct sheet *s, int row, const char *const *others, struct values *values)
{
    for (int i = 0; i < s->columns; i++)
        if (!is_other(s->heads[i], others))
            add_value(values, s->heads[i], sheet_cell(s, row, i));
}

/* Of columns but `others`: what looks like an experiment there is a word for specs, and compared with nothing. */
static void warn_of_heads(struct reading *r, const struct open_sheet *s, const char *const *others,
                          const char *expected)
{
    for (int i = 0; i < s->sheet.columns; i++)
        if (!is_other(s->sheet.heads[i], others) && heading_means_energy(s->sheet.heads[i]))
            warn(r, s->path, s->sheet.line,
                 "column '%.60s' is a value for specs, not an experiment: gather compares nothing with it; expected %s",
                 s->sheet.heads[i], expected);
}

/* ---- systems ---- */

static bool is_name(const char *text)
{
    size_t n = strlen(text);
    for (const char *p = text; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              (p > text && strchr("._-", *p))))
            return false;
    return n >= 1 && n <= 64;
}

static int find_system(const struct campaign *c, const char *name)
{
    for (int i = 0; i < c->nsystems; i++)
        if (!strcmp(c->systems[i].name, name))
            return i;
    return -1;
}

/* A new one of that name, or NULL after saying why not. */
static struct campaign_system *add_system(struct reading *r, const char *name, const char *file, int line)
{
    struct campaign *c = r->c;
    int other = find_system(c, name);
    if (!is_name(name)) {
        bad(r, file, line,
            "%.80s: expected a name of 1 to 64 letters, digits, '.', '_' or '-', the first a letter or a digit", name);
        return NULL;
    }
    if (other >= 0) {
        bad(r, file, line, "%s: there is a system of that name already, in line %d", name, c->systems[other].line);
        return NULL;
    }
    c->systems = xrealloc(c->systems, (size_t)c->nsystems + 1, sizeof *c->systems);
    c->systems[c->nsystems] =
        (struct campaign_system){.name = xstrdup(name), .experiment = NAN, .error = NAN, .line = line};
    return &c->systems[c->nsystems++];
}

static int read_listed(struct reading *r, struct view v)
{
    struct view name = view_key(v, "name"), experiment = view_key(v, "experiment"), error = view_key(v, "error");
    struct campaign_system *s = add_system(r, view_text(name), r->c->file, line_of(name));
    if (!s)
        return -(int)r->e->code;
    s->experiment = view_given(experiment) ? view_quantity(experiment).value : NAN;
    s->error = view_given(error) ? view_quantity(error).value : NAN;
    s->override = view_key(v, "override").node;
    return read_values(r, &s->values, view_key(v, "values").node);
}

static const char *const system_columns[] = {"name", "experiment", "error", NULL};
static const char *const edge_columns[] = {"ligand_i", "ligand_j", NULL};

static int read_system_row(struct reading *r, const struct open_sheet *t, int row, int name)
{
    struct campaign_system *s = add_system(r, sheet_cell(&t->sheet, row, name), t->path, t->sheet.lines[row]);
    if (!s || read_energy(r, t, row, "experiment", &s->experiment) || read_error(r, t, row, &s->error))
        return -(int)r->e->code;
    read_cells(&t->sheet, row, system_columns, &s->values);
    return 0;
}

static int read_system_table(struct reading *r, struct view v)
{
    static const char *const energies[] = {"experiment", "error", NULL};
    struct open_sheet t = {0};
    int rc = open_sheet(r, v, &t), name = rc ? -1 : sheet_column(&t.sheet, "name");
    if (!rc && name < 0)
        rc = bad(r, t.path, t.sheet.line, "no column name");
    if (!rc)
        rc = check_heads(r, &t, energies);
    if (!rc)
        warn_of_heads(r, &t, system_columns, "experiment (kcal/mol) and error (kcal/mol)");
    for (int row = 0; !rc && row < t.sheet.rows; row++)
        rc = read_system_row(r, &t, row, name);
    close_sheet(&t);
    return rc;
}

/* As path_of, but only what the file says is a pattern; the caller frees it. */
static char *pattern_of(const struct campaign *c, const char *name)
{
    char *path = path_of(c, name);
    size_t plain = strlen(path) - strlen(name);
    struct buf out = {0};
    for (size_t i = 0; path[i]; i++)
        buf_printf(&out, "%s%c", i < plain && strchr("*?[]\\", path[i]) ? "\\" : "", path[i]);
    free(path);
    return out.data;
}

static int read_folders(struct reading *r, struct view v)
{
    glob_t found = {0};
    struct stat st;
    char *pattern = pattern_of(r->c, view_text(v));
    size_t skip = strcmp(r->c->folder, ".") && *view_text(v) != '/' ? strlen(r->c->folder) + 1 : 0;
    int rc = 0;
    glob(pattern, 0, NULL, &found);
    for (size_t i = 0; !rc && i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i];
        while (path[strlen(path) - 1] == '/' && path[1]) /* the pattern may end with one */
            path[strlen(path) - 1] = '\0';
        const char *slash = strrchr(path, '/');
        if (stat(path, &st) || !S_ISDIR(st.st_mode))
            continue;
        struct campaign_system *s = add_system(r, slash ? slash + 1 : path, r->c->file, line_of(v));
        if (s)
            add_value(&s->values, "folder", path + skip);
        else
            rc = -(int)r->e->code;
    }
    if (!rc && !r->c->nsystems)
        rc = bad(r, r->c->file, line_of(v), "systems.folders: %.200s: no folder is called so", view_text(v));
    globfree(&found);
    free(pattern);
    return rc;
}

static int read_systems(struct reading *r, struct view v)
{
    struct view list = view_key(v, "list"), table = view_key(v, "table"), folders = view_key(v, "folders");
    int rc = view_given(table) ? read_system_table(r, table) : view_given(folders) ? read_folders(r, folders) : 0;
    for (int i = 0; i < view_count(list) && !rc; i++)
        rc = read_listed(r, view_item(list, i));
    return rc;
}

/* ---- edges ---- */

static int add_edge(struct reading *r, const char *const ligand[2], const char *file, int line,
                    struct campaign_edge **out)
{
    struct campaign *c = r->c;
    struct campaign_edge edge = {.line = line};
    struct buf name = {0};
    for (int k = 0; k < 2; k++)
        if ((edge.ligand[k] = find_system(c, ligand[k])) < 0)
            return bad(r, file, line, "%.80s: no system is called so", ligand[k]);
    if (edge.ligand[0] == edge.ligand[1])
        return bad(r, file, line, "%s: expected two systems", ligand[0]);
    for (int i = 0; i < c->nedges; i++)
        if (!memcmp(c->edges[i].ligand, edge.ligand, sizeof edge.ligand))
            return bad(r, file, line, "%s to %s: there is this edge already, in line %d", ligand[0], ligand[1],
                       c->edges[i].line);
    buf_printf(&name, "%s_%s", ligand[0], ligand[1]);
    edge.name = name.data;
    c->edges = xrealloc(c->edges, (size_t)c->nedges + 1, sizeof *c->edges);
    c->edges[c->nedges] = edge;
    *out = &c->edges[c->nedges++];
    return 0;
}

static int read_edge_table(struct reading *r, struct view v)
{
    struct open_sheet t = {0};
    struct campaign_edge *edge;
    int rc = open_sheet(r, v, &t);
    int i = rc ? -1 : sheet_column(&t.sheet, "ligand_i"), j = rc ? -1 : sheet_column(&t.sheet, "ligand_j");
    if (!rc && (i < 0 || j < 0))
        rc = bad(r, t.path, t.sheet.line, "expected columns ligand_i and ligand_j");
    if (!rc)
        warn_of_heads(r, &t, edge_columns, "experiments in the table of systems, from which those of edges follow");
    for (int row = 0; !rc && row < t.sheet.rows; row++) {
        const char *ligand[2] = {sheet_cell(&t.sheet, row, i), sheet_cell(&t.sheet, row, j)};
        rc = add_edge(r, ligand, t.path, t.sheet.lines[row], &edge);
        if (!rc)
            read_cells(&t.sheet, row, edge_columns, &edge->values);
    }
    close_sheet(&t);
    return rc;
}

static int read_edges(struct reading *r, struct view v)
{
    struct view list = view_key(v, "list"), table = view_key(v, "table");
    struct campaign_edge *edge;
    int rc = view_given(table) ? read_edge_table(r, table) : 0;
    for (int i = 0; i < view_count(list) && !rc; i++) {
        struct view pair = view_item(list, i);
        const char *ligand[2] = {view_text(view_item(pair, 0)), view_text(view_item(pair, 1))};
        rc = add_edge(r, ligand, r->c->file, line_of(pair), &edge);
    }
    return rc;
}

/* ---- legs ---- */

static int read_leg(struct reading *r, struct view v)
{
    struct campaign *c = r->c;
    struct view name = view_key(v, "name");
    struct campaign_leg leg = {.of_edges = view_choice(view_key(v, "of")) == 1,
                               .sign = (int)view_integer(view_key(v, "sign")),
                               .override = view_key(v, "override").node,
                               .line = line_of(name)};
    for (int i = 0; i < c->nlegs; i++)
        if (!strcmp(c->legs[i].name, view_text(name)))
            return bad(r, c->file, leg.line, "%s: there is a leg of that name already, in line %d", view_text(name),
                       c->legs[i].line);
    if (leg.of_edges && !c->nedges)
        return bad(r, c->file, line_of(view_key(v, "of")), "%s is of edges, and there are none", view_text(name));
    leg.name = xstrdup(view_text(name));
    leg.spec = path_of(c, view_text(view_key(v, "spec")));
    c->legs[c->nlegs++] = leg;
    return 0;
}

static int read_legs(struct reading *r, struct view v)
{
    int rc = 0, of_edges = 0;
    r->c->legs = xcalloc((size_t)view_count(v), sizeof *r->c->legs);
    for (int i = 0; i < view_count(v) && !rc; i++)
        rc = read_leg(r, view_item(v, i));
    for (int i = 0; i < r->c->nlegs; i++)
        of_edges += r->c->legs[i].of_edges;
    if (!rc && r->c->nedges && !of_edges)
        rc = bad(r, r->c->file, line_of(v), "there are edges, and no leg is of edges");
    return rc;
}

/* ---- all of it ---- */

static int read_all(struct reading *r, struct view v)
{
    struct campaign *c = r->c;
    struct view inputs = view_key(v, "inputs"), budget = view_key(v, "budget"), time = view_key(budget, "time");
    c->name = xstrdup(view_text(view_key(v, "name")));
    c->repeats = (int)view_integer(view_key(v, "repeats"));
    c->shared = view_key(v, "spec").node;
    if (view_given(inputs))
        c->inputs = path_of(c, view_text(inputs));
    if (view_given(time))
        c->budget = (struct campaign_budget){.time = view_quantity(time).value,
                                             .rounds = (int)view_integer(view_key(budget, "rounds")),
                                             .line = line_of(time)};
    int rc = read_systems(r, view_key(v, "systems"));
    if (!rc)
        rc = read_edges(r, view_key(v, "edges"));
    return rc ? rc : read_legs(r, view_key(v, "legs"));
}

int campaign_read(struct campaign **out, const char *path, struct err *e)
{
    struct buf text = {0};
    const char *slash = strrchr(path, '/');
    struct campaign *c = xcalloc(1, sizeof *c);
    struct reading r = {c, e};
    *out = NULL;
    c->file = xstrdup(path);
    c->folder = xstrdup(slash ? path : ".");
    if (slash)
        c->folder[slash == path ? 1 : slash - path] = '\0';
    json_t *schema = schema_read(campaign_schema_text, campaign_schema_text_len, e);
    int rc = schema ? 0 : -(int)e->code;
    if (!rc && buf_read_file(&text, path, e))
        rc = -(int)(e->code = ERR_MISSING_FILE);
    if (!rc)
        rc = node_parse(&c->root, path, text.data ? text.data : "", text.len, e);
    if (!rc)
        rc = schema_check(schema, path, c->root, e);
    if (!rc)
        rc = read_all(&r, (struct view){.schema = schema, .node = c->root});
    json_decref(schema);
    buf_free(&text);
    if (rc)
        campaign_free(c);
    else
        *out = c;
    return rc;
}

void campaign_free(struct campaign *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->nsystems; i++) {
        free(c->systems[i].name);
        values_free(&c->systems[i].values);
    }
    for (int i = 0; i < c->nedges; i++) {
        free(c->edges[i].name);
        values_free(&c->edges[i].values);
    }
    for (int i = 0; i < c->nlegs; i++) {
        free(c->legs[i].name);
        free(c->legs[i].spec);
    }
    for (int i = 0; i < c->nwarnings; i++)
        free(c->warnings[i]);
    free(c->warnings);
    free(c->systems);
    free(c->edges);
    free(c->legs);
    free(c->file);
    free(c->folder);
    free(c->name);
    free(c->inputs);
    node_free(c->root);
    free(c);
}
