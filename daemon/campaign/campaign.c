/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/campaign/internal.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/spec/document/schema.h"
#include "engine/base/gzip.h"

extern const char campaign_schema_text[];
extern const size_t campaign_schema_text_len;

/* ---- words for specs ---- */

static void values_free(struct values *v)
{
    for (int i = 0; i < v->n; i++) {
        free((char *)v->items[i].name);
        free((char *)v->items[i].value);
    }
    free(v->items);
}

static int read_values(struct campaign_reading *r, struct values *values, const struct node *map)
{
    for (int i = 0; map && i < map->n; i++) {
        const struct node *value = map->items[i].value;
        if (value->kind != NODE_SCALAR)
            return campaign_bad(r, r->c->file, map->items[i].line, "values.%s: expected text or a number",
                                map->items[i].key);
        values_add(values, map->items[i].key, value->text);
    }
    return 0;
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
static struct campaign_system *add_system(struct campaign_reading *r, const char *name, const char *file, int line)
{
    struct campaign *c = r->c;
    int other = find_system(c, name);
    if (!is_name(name)) {
        campaign_bad(
            r, file, line,
            "%.80s: expected a name of 1 to 64 letters, digits, '.', '_' or '-', the first a letter or a digit", name);
        return NULL;
    }
    if (other >= 0) {
        campaign_bad(r, file, line, "%s: there is a system of that name already, in line %d", name,
                     c->systems[other].line);
        return NULL;
    }
    c->systems = xrealloc(c->systems, (size_t)c->nsystems + 1, sizeof *c->systems);
    c->systems[c->nsystems] =
        (struct campaign_system){.name = xstrdup(name), .experiment = NAN, .error = NAN, .line = line};
    return &c->systems[c->nsystems++];
}

static int read_listed(struct campaign_reading *r, struct view v)
{
    struct view name = view_key(v, "name"), experiment = view_key(v, "experiment"), error = view_key(v, "error");
    struct campaign_system *s = add_system(r, view_text(name), r->c->file, campaign_line(name));
    if (!s)
        return -(int)r->e->code;
    s->experiment = view_given(experiment) ? view_quantity(experiment).value : NAN;
    s->error = view_given(error) ? view_quantity(error).value : NAN;
    s->override = view_key(v, "override").node;
    return read_values(r, &s->values, view_key(v, "values").node);
}

static const char *const system_columns[] = {"name", "experiment", "error", NULL};
static const char *const edge_columns[] = {"ligand_i", "ligand_j", NULL};

static int read_system_row(struct campaign_reading *r, const struct open_table *t, int row, int name)
{
    struct campaign_system *s =
        add_system(r, delimited_cell(&t->delimited, row, name), t->path, t->delimited.lines[row]);
    if (!s || table_energy(r, t, row, "experiment", &s->experiment) || table_error(r, t, row, &s->error))
        return -(int)r->e->code;
    table_values(&t->delimited, row, system_columns, &s->values);
    return 0;
}

static int read_system_table(struct campaign_reading *r, struct view v)
{
    static const char *const energies[] = {"experiment", "error", NULL};
    struct open_table t = {0};
    int rc = table_open(r, v, &t), name = rc ? -1 : delimited_column(&t.delimited, "name");
    if (!rc && name < 0)
        rc = campaign_bad(r, t.path, t.delimited.line, "no column name");
    if (!rc)
        rc = table_check_energies(r, &t, energies);
    if (!rc)
        table_warn_of_energies(r, &t, system_columns, "experiment (kcal/mol) and error (kcal/mol)");
    for (int row = 0; !rc && row < t.delimited.rows; row++)
        rc = read_system_row(r, &t, row, name);
    table_close(&t);
    return rc;
}

/* As campaign_path, but only what the file says is a pattern; the caller frees it. */
static char *pattern_of(const struct campaign *c, const char *name)
{
    char *path = campaign_path(c, name);
    size_t plain = strlen(path) - strlen(name);
    struct buf out = {0};
    for (size_t i = 0; path[i]; i++)
        buf_printf(&out, "%s%c", i < plain && strchr("*?[]\\", path[i]) ? "\\" : "", path[i]);
    free(path);
    return out.data;
}

static int read_folders(struct campaign_reading *r, struct view v)
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
        struct campaign_system *s = add_system(r, slash ? slash + 1 : path, r->c->file, campaign_line(v));
        if (s)
            values_add(&s->values, "folder", path + skip);
        else
            rc = -(int)r->e->code;
    }
    if (!rc && !r->c->nsystems)
        rc = campaign_bad(r, r->c->file, campaign_line(v), "systems.folders: %.200s: no folder is called so",
                          view_text(v));
    globfree(&found);
    free(pattern);
    return rc;
}

static int read_systems(struct campaign_reading *r, struct view v)
{
    struct view list = view_key(v, "list"), table = view_key(v, "table"), folders = view_key(v, "folders");
    int rc = view_given(table) ? read_system_table(r, table) : view_given(folders) ? read_folders(r, folders) : 0;
    for (int i = 0; i < view_count(list) && !rc; i++)
        rc = read_listed(r, view_item(list, i));
    return rc;
}

/* ---- edges ---- */

static int add_edge(struct campaign_reading *r, const char *const ligand[2], const char *file, int line,
                    struct campaign_edge **out)
{
    struct campaign *c = r->c;
    struct campaign_edge edge = {.line = line};
    struct buf name = {0};
    for (int k = 0; k < 2; k++)
        if ((edge.ligand[k] = find_system(c, ligand[k])) < 0)
            return campaign_bad(r, file, line, "%.80s: no system is called so", ligand[k]);
    if (edge.ligand[0] == edge.ligand[1])
        return campaign_bad(r, file, line, "%s: expected two systems", ligand[0]);
    for (int i = 0; i < c->nedges; i++)
        if (!memcmp(c->edges[i].ligand, edge.ligand, sizeof edge.ligand))
            return campaign_bad(r, file, line, "%s to %s: there is this edge already, in line %d", ligand[0], ligand[1],
                                c->edges[i].line);
    buf_printf(&name, "%s_%s", ligand[0], ligand[1]);
    edge.name = name.data;
    c->edges = xrealloc(c->edges, (size_t)c->nedges + 1, sizeof *c->edges);
    c->edges[c->nedges] = edge;
    *out = &c->edges[c->nedges++];
    return 0;
}

static int read_edge_table(struct campaign_reading *r, struct view v)
{
    struct open_table t = {0};
    struct campaign_edge *edge;
    int rc = table_open(r, v, &t);
    int i = rc ? -1 : delimited_column(&t.delimited, "ligand_i"),
        j = rc ? -1 : delimited_column(&t.delimited, "ligand_j");
    if (!rc && (i < 0 || j < 0))
        rc = campaign_bad(r, t.path, t.delimited.line, "expected columns ligand_i and ligand_j");
    if (!rc)
        table_warn_of_energies(r, &t, edge_columns,
                               "experiments in the table of systems, from which those of edges follow");
    for (int row = 0; !rc && row < t.delimited.rows; row++) {
        const char *ligand[2] = {delimited_cell(&t.delimited, row, i), delimited_cell(&t.delimited, row, j)};
        rc = add_edge(r, ligand, t.path, t.delimited.lines[row], &edge);
        if (!rc)
            table_values(&t.delimited, row, edge_columns, &edge->values);
    }
    table_close(&t);
    return rc;
}

static int read_edges(struct campaign_reading *r, struct view v)
{
    struct view list = view_key(v, "list"), table = view_key(v, "table");
    struct campaign_edge *edge;
    int rc = view_given(table) ? read_edge_table(r, table) : 0;
    for (int i = 0; i < view_count(list) && !rc; i++) {
        struct view pair = view_item(list, i);
        const char *ligand[2] = {view_text(view_item(pair, 0)), view_text(view_item(pair, 1))};
        rc = add_edge(r, ligand, r->c->file, campaign_line(pair), &edge);
    }
    return rc;
}

/* ---- legs ---- */

static int read_leg(struct campaign_reading *r, struct view v)
{
    struct campaign *c = r->c;
    struct view name = view_key(v, "name");
    struct campaign_leg leg = {.of_edges = view_choice(view_key(v, "of")) == 1,
                               .sign = (int)view_integer(view_key(v, "sign")),
                               .override = view_key(v, "override").node,
                               .line = campaign_line(name)};
    for (int i = 0; i < c->nlegs; i++)
        if (!strcmp(c->legs[i].name, view_text(name)))
            return campaign_bad(r, c->file, leg.line, "%s: there is a leg of that name already, in line %d",
                                view_text(name), c->legs[i].line);
    if (leg.of_edges && !c->nedges)
        return campaign_bad(r, c->file, campaign_line(view_key(v, "of")), "%s is of edges, and there are none",
                            view_text(name));
    leg.name = xstrdup(view_text(name));
    leg.spec = campaign_path(c, view_text(view_key(v, "spec")));
    c->legs[c->nlegs++] = leg;
    return 0;
}

static int read_legs(struct campaign_reading *r, struct view v)
{
    int rc = 0, of_edges = 0;
    r->c->legs = xcalloc((size_t)view_count(v), sizeof *r->c->legs);
    for (int i = 0; i < view_count(v) && !rc; i++)
        rc = read_leg(r, view_item(v, i));
    for (int i = 0; i < r->c->nlegs; i++)
        of_edges += r->c->legs[i].of_edges;
    if (!rc && r->c->nedges && !of_edges)
        rc = campaign_bad(r, r->c->file, campaign_line(v), "there are edges, and no leg is of edges");
    return rc;
}

/* ---- all of it ---- */

static int read_all(struct campaign_reading *r, struct view v)
{
    struct campaign *c = r->c;
    struct view inputs = view_key(v, "inputs"), budget = view_key(v, "budget"), time = view_key(budget, "time"),
                ladder = view_key(v, "ladder");
    c->name = xstrdup(view_text(view_key(v, "name")));
    c->repeats = (int)view_integer(view_key(v, "repeats"));
    c->shared = view_key(v, "spec").node;
    if (view_given(inputs))
        c->inputs = campaign_path(c, view_text(inputs));
    if (view_given(time))
        c->budget = (struct campaign_budget){.time = view_quantity(time).value,
                                             .rounds = (int)view_integer(view_key(budget, "rounds")),
                                             .line = campaign_line(time)};
    c->ladder = (struct campaign_ladder){.automatic = view_given(ladder),
                                         .pilot = view_quantity(view_key(ladder, "pilot")).value,
                                         .overlap = view_number(view_key(ladder, "overlap")),
                                         .windows = (int)view_integer(view_key(ladder, "windows"))};
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
    struct campaign_reading r = {c, e};
    *out = NULL;
    c->file = xstrdup(path);
    c->folder = xstrdup(slash ? path : ".");
    if (slash)
        c->folder[slash == path ? 1 : slash - path] = '\0';
    json_t *schema = schema_read(campaign_schema_text, campaign_schema_text_len, e);
    int rc = schema ? 0 : -(int)e->code;
    if (!rc && gzip_read_file(&text, path, e))
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
