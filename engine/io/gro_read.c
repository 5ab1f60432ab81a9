/* SPDX-License-Identifier: Apache-2.0
 *
 * .gro files: a title, the number of atoms, one line of fixed columns per atom, the box. The distance of the decimal
 * points is the width of a coordinate (GROMACS manual, "gro"); velocities, if any, have the same width.
 */
#include "engine/io/io.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/system/lines.h"

enum { FIRST_COLUMN = 20, WIDTH_MAX = 40 };
static const double edge_max = 1000;     /* nm */
static const double skew_margin = 1.001; /* GROMACS's; its own truncated octahedra need some */

struct gro {
    char *file;
    const char *pos, *end;
    int line;
    char *text; /* the current line, owned */
    size_t cap;
    int width;
    bool velocities;
    int comment_line; /* the first that has other text where velocities would be; 0: none */
    double time;      /* ps, from the title; NAN */
    double (*x)[3], (*v)[3];
    double box[BOX_SIZE];
};

static int fail(const struct gro *g, struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int fail(const struct gro *g, struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return err_prefix(e, "%s:%d", g->file, g->line);
}

static int next_line(struct gro *g, const char *expected, struct err *e)
{
    g->line++;
    if (g->pos == g->end)
        return fail(g, e, ERR_COORDINATES, "the file ends, expected %s", expected);
    const char *stop = memchr(g->pos, '\n', (size_t)(g->end - g->pos));
    stop = stop ? stop : g->end;
    size_t n = (size_t)(stop - g->pos);
    if (n + 1 > g->cap) {
        g->cap = 2 * n + 128;
        g->text = xrealloc(g->text, g->cap, 1);
    }
    memcpy(g->text, g->pos, n);
    while (n && isspace((unsigned char)g->text[n - 1]))
        n--;
    g->text[n] = '\0';
    g->pos = stop < g->end ? stop + 1 : g->end;
    return 0;
}

/* A decimal number in the n characters at `from`, blanks around it allowed. */
static bool parse(const char *from, size_t n, double *value)
{
    char word[WIDTH_MAX + 1], *end;
    while (n && isspace((unsigned char)*from)) {
        from++;
        n--;
    }
    while (n && isspace((unsigned char)from[n - 1]))
        n--;
    if (n == 0 || n > WIDTH_MAX)
        return false;
    memcpy(word, from, n);
    word[n] = '\0';
    if (strspn(word, "+-.0123456789eE") != n)
        return false;
    *value = strtod(word, &end);
    return !*end && isfinite(*value);
}

/* Whether there is a number where the first velocity would be; other text there is a comment. */
static bool has_velocity(struct gro *g)
{
    double vx;
    size_t len = strlen(g->text), from = (size_t)(FIRST_COLUMN + 3 * g->width), n = (size_t)g->width;
    bool number = from < len && parse(g->text + from, len - from < n ? len - from : n, &vx);
    if (from < len && !number && !g->comment_line)
        g->comment_line = g->line;
    return number;
}

/* Width from the first three decimal points of the first atom; velocities when its line has one. */
static int find_layout(struct gro *g, struct err *e)
{
    size_t len = strlen(g->text);
    const char *p1 = len > FIRST_COLUMN ? strchr(g->text + FIRST_COLUMN, '.') : NULL;
    const char *p2 = p1 ? strchr(p1 + 1, '.') : NULL;
    const char *p3 = p2 ? strchr(p2 + 1, '.') : NULL;
    if (!p3 || p3 - p2 != p2 - p1 || p2 - p1 > WIDTH_MAX)
        return fail(g, e, ERR_COORDINATES,
                    "read '%.80s', expected three coordinates from column 21 on with decimal points at equal distances",
                    g->text);
    g->width = (int)(p2 - p1);
    g->velocities = has_velocity(g);
    return 0;
}

static int read_fields(struct gro *g, int first, const char *what, double *out, struct err *e)
{
    size_t len = strlen(g->text);
    for (int d = 0; d < 3; d++) {
        size_t from = (size_t)(FIRST_COLUMN + (first + d) * g->width), n = (size_t)g->width;
        if (from >= len || !parse(g->text + from, len - from < n ? len - from : n, &out[d]))
            return fail(g, e, ERR_COORDINATES, "read '%.*s' in columns %zu to %zu, expected the %c %s",
                        from < len ? (int)n : 0, from < len ? g->text + from : "", from + 1, from + n, "xyz"[d], what);
    }
    return 0;
}

/* Names agree when their letters do: programs move digits and change punctuation and case. */
static bool same_letters(const char *a, size_t na, const char *b)
{
    const char *end = a + na;
    for (;;) {
        while (a < end && !isalpha((unsigned char)*a))
            a++;
        while (*b && !isalpha((unsigned char)*b))
            b++;
        if (a == end || !*b)
            return a == end && !*b;
        if (tolower((unsigned char)*a++) != tolower((unsigned char)*b++))
            return false;
    }
}

/* The file's name field has five characters: a longer name of the topology is compared as far as it fits. */
static int check_name(struct gro *g, const struct system *s, int i, struct err *e)
{
    const char *field = g->text + 10;
    size_t n = 5;
    while (n && isspace((unsigned char)*field)) {
        field++;
        n--;
    }
    while (n && isspace((unsigned char)field[n - 1]))
        n--;
    char name[6];
    snprintf(name, sizeof name, "%.5s", s->atoms[i].name);
    if (same_letters(field, n, name))
        return 0;
    struct buf place = {0};
    system_line(s, &i, 1, &place);
    fail(g, e, ERR_COORDINATES, "atom %d: read name '%.*s', expected '%s' (%s %d) as in the topology%s%s", i + 1,
         (int)n, field, s->atoms[i].name, s->atoms[i].resname, s->atoms[i].residue, place.len ? ", " : "",
         place.len ? place.data : "");
    buf_free(&place);
    return -(int)e->code;
}

/* All atoms have velocities, or none. */
static int read_velocity(struct gro *g, int i, struct err *e)
{
    if (g->velocities)
        return read_fields(g, 3, "velocity in nm/ps (the first atom has one)", g->v[i], e);
    size_t end = (size_t)(FIRST_COLUMN + 3 * g->width);
    if (has_velocity(g))
        return fail(g, e, ERR_COORDINATES,
                    "read '%.80s' after the coordinates, expected no velocity (the first atom has none)",
                    g->text + end);
    return 0;
}

static int read_atoms(struct gro *g, const struct system *s, struct err *e)
{
    g->x = xcalloc((size_t)s->natoms, sizeof *g->x);
    g->v = xcalloc((size_t)s->natoms, sizeof *g->v);
    for (int i = 0; i < s->natoms; i++) {
        int rc = next_line(g, "an atom", e);
        if (rc || (i == 0 && (rc = find_layout(g, e))))
            return rc;
        if (strlen(g->text) <= FIRST_COLUMN)
            return fail(g, e, ERR_COORDINATES, "read '%.80s', expected atom %d", g->text, i + 1);
        if ((rc = check_name(g, s, i, e)) || (rc = read_fields(g, 0, "coordinate in nm", g->x[i], e)) ||
            (rc = read_velocity(g, i, e)))
            return rc;
    }
    return 0;
}

/* Numbers: a_x b_y c_z a_y a_z b_x b_z c_x c_y. */
static int set_box(struct gro *g, const double b[9], bool skewed, struct err *e)
{
    for (int d = 0; d < 3; d++) {
        if (!(b[d] > 0 && b[d] <= edge_max))
            return fail(g, e, ERR_COORDINATES, "read box edge %g nm, expected a positive length up to %g nm", b[d],
                        edge_max);
        g->box[d] = b[d];
    }
    if (!skewed)
        return 0;
    if (b[3] != 0 || b[4] != 0 || b[6] != 0)
        return fail(g, e, ERR_UNSUPPORTED,
                    "the box is turned: expected its first edge along x, its second in the xy plane");
    g->box[BOX_YX] = b[5];
    g->box[BOX_ZX] = b[7];
    g->box[BOX_ZY] = b[8];
    const double lean[3][2] = {{b[5], b[0]}, {b[7], b[0]}, {b[8], b[1]}};
    for (int k = 0; k < 3; k++)
        if (fabs(lean[k][0]) > skew_margin * 0.5 * lean[k][1])
            return fail(
                g, e, ERR_UNSUPPORTED,
                "a box edge leans by %g nm along one of %g nm: expected half of it at most (every lattice has such "
                "a box)",
                lean[k][0], lean[k][1]);
    return 0;
}

static int read_box(struct gro *g, struct err *e)
{
    double b[10];
    int n = 0, rc = next_line(g, "the box", e);
    if (rc)
        return rc;
    char *save = NULL, *copy = xstrdup(g->text);
    bool ok = true;
    for (char *w = strtok_r(copy, " \t", &save); w && n < 10 && ok; w = strtok_r(NULL, " \t", &save))
        ok = parse(w, strlen(w), &b[n++]);
    free(copy);
    if (!ok || (n != 3 && n != 9))
        return fail(g, e, ERR_COORDINATES, "read '%.80s', expected the box: 3 or 9 numbers in nm", g->text);
    if ((rc = set_box(g, b, n == 9, e)))
        return rc;
    while (g->pos < g->end && isspace((unsigned char)*g->pos))
        g->line += *g->pos++ == '\n';
    return 0;
}

static int read_count(struct gro *g, const struct system *s, struct err *e)
{
    int rc = next_line(g, "a title", e);
    const char *time = rc ? NULL : strstr(g->text, "t=");
    g->time = time ? strtod(time + 2, NULL) : NAN;
    if (rc || (rc = next_line(g, "the number of atoms", e)))
        return rc;
    char *end;
    long n = strtol(g->text, &end, 10);
    if (end == g->text || *end || n < 0)
        return fail(g, e, ERR_COORDINATES, "read '%.80s', expected the number of atoms", g->text);
    if (n != s->natoms)
        return fail(g, e, ERR_COORDINATES, "read %ld %s, expected %d as in the topology", n,
                    number_word(n, "atom", "atoms"), s->natoms);
    return 0;
}

/* On success the caller owns g->x and g->v. */
static int read_one(struct gro *g, const struct system *s, struct err *e)
{
    int rc = read_count(g, s, e);
    if (!rc)
        rc = read_atoms(g, s, e);
    if (!rc)
        rc = read_box(g, e);
    if (rc) {
        free(g->x);
        free(g->v);
        g->x = g->v = NULL;
    }
    return rc;
}

/* The first frame. more: the line at which text follows it; 0: none. */
static int read_file(struct gro *g, const struct system *s, struct source *src, const char *name, int *more,
                     struct err *e)
{
    struct source_text t;
    int rc = source_open(src, NULL, name, &t, e);
    if (rc)
        return rc;
    g->file = xstrdup(t.name);
    g->pos = t.text;
    g->end = t.text + t.len;
    rc = read_one(g, s, e);
    *more = g->pos < g->end ? g->line + 1 : 0;
    free(g->file);
    free(g->text);
    return rc;
}

/* What the reader owned is the caller's. */
static struct start start_of(struct gro *g)
{
    struct start out = {.x = g->x, .v = g->velocities ? g->v : NULL};
    if (!g->velocities)
        free(g->v);
    memcpy(out.box, g->box, sizeof out.box);
    return out;
}

int gro_read_frame(const struct system *s, const char *file, const char *text, size_t len, size_t *at, int *line,
                   struct start *out, double *time, struct err *e)
{
    struct gro g = {.file = (char *)(uintptr_t)file, .pos = text + *at, .end = text + len, .line = *line};
    int rc = read_one(&g, s, e);
    free(g.text);
    *at = (size_t)(g.pos - text);
    *line = g.line;
    if (rc)
        return rc;
    *out = start_of(&g);
    *time = g.time;
    return 0;
}

static void set_reference(struct system *s, const double (*x)[3])
{
    for (int i = 0; i < s->nposition_restraints; i++)
        memcpy(s->position_restraints[i].x0, x[s->position_restraints[i].atom], sizeof s->position_restraints[i].x0);
    for (int i = 0; i < s->nrare; i++)
        for (int k = 0; k < 2 && s->rare[i].kind == RARE_FLAT_POSITION; k++)
            memcpy(s->rare[i].c[k], x[s->rare[i].atom[0]], sizeof *x);
}

int gro_read(struct system *s, struct source *src, const char *name, struct err *e)
{
    struct gro g = {0};
    int more, rc = read_file(&g, s, src, name, &more, e);
    if (rc)
        return rc;
    if (more)
        system_note(s, "%s:%d: text after the box is not read: the coordinates are those of the first frame", name,
                    more);
    if (g.comment_line)
        system_note(s, "%s:%d: text where velocities would be is taken for a comment", name, g.comment_line);
    free(s->x);
    free(s->v);
    s->x = g.x;
    s->v = g.velocities ? g.v : NULL;
    if (!g.velocities)
        free(g.v);
    memcpy(s->box, g.box, sizeof s->box);
    set_reference(s, (const double(*)[3])s->x);
    return 0;
}

int gro_read_start(const struct system *s, struct source *src, const char *name, struct start *out, struct err *e)
{
    struct gro g = {0};
    int more, rc = read_file(&g, s, src, name, &more, e);
    if (rc)
        return rc;
    *out = start_of(&g);
    return 0;
}

int gro_read_reference(struct system *s, struct source *src, const char *name, struct err *e)
{
    struct gro g = {0};
    int more, rc = read_file(&g, s, src, name, &more, e);
    if (rc)
        return rc;
    set_reference(s, (const double(*)[3])g.x);
    free(g.x);
    free(g.v);
    return 0;
}
