/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of works. pmx (deGrootLab/pmx: src/pmx/scripts/analyze_dhdl.py) writes integA.dat and integB.dat as lines of a
 * file's name and a work in kJ/mol. Its backward works are integrals of dH/dlambda from 0 to 1, so they have the sign
 * of the forward direction: here their sign is changed.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/gzip.h"
#include "engine/estimate/switching/switching.h"

bool works_of_length(double length, double wanted)
{
    return fabs(length - wanted) <= 1e-6 * wanted;
}

/* One of a walker that is no finite number is kept until it is known whether it is of the length that counts. */
static void add_work(struct switch_works *w, double work, double length, double coarse, int walker)
{
    if (!isfinite(work) && !walker) {
        w->nonfinite++;
        return;
    }
    w->w = xrealloc(w->w, w->n + 1, sizeof *w->w);
    w->length = xrealloc(w->length, w->n + 1, sizeof *w->length);
    w->coarse = xrealloc(w->coarse, w->n + 1, sizeof *w->coarse);
    w->walker = xrealloc(w->walker, w->n + 1, sizeof *w->walker);
    w->w[w->n] = work;
    w->length[w->n] = length;
    w->walker[w->n] = walker;
    w->coarse[w->n++] = coarse;
}

/* Where one file of works is being read. */
struct work_lines {
    const char *path;
    int line;
    int columns; /* of the first line; 0: none was read */
    enum switch_way way;
    double unit;
};

static bool is_number(const char *text, double *out)
{
    char *after;
    *out = strtod(text, &after);
    return after != text && !*after;
}

static int work_line(struct switch_works *w, struct work_lines *at, char *text, struct err *e)
{
    char *rest = NULL, *first = strtok_r(text, " \t\r", &rest), *second = first ? strtok_r(NULL, " \t\r", &rest) : NULL;
    double work, name;
    if (!first || strchr("#;", first[0]))
        return 0;
    const int columns = !second ? 1 : strtok_r(NULL, " \t\r", &rest) ? 3 : 2;
    const bool good = columns == 1 ? is_number(first, &work) : is_number(second, &work) && !is_number(first, &name);
    if (!good || columns > 2 || (at->columns && at->columns != columns))
        return err_set(
            e, ERR_UNSUPPORTED,
            "%s:%d: read \"%s%s%s\", expected the work of one switch in each line, or in each line the name of "
            "a file and a work as pmx writes them; files with dH/dlambda have names with .xvg",
            at->path, at->line, first, second ? " " : "", second ? second : "");
    at->columns = columns;
    const bool pmx = columns == 2 && at->way == SWITCH_BACKWARD;
    w->reversed_sign = w->reversed_sign || pmx;
    add_work(w, (pmx ? -1 : 1) * at->unit * work, 0, 0, 0);
    return 0;
}

static int read_works(struct switch_works *w, const char *path, enum switch_way way, double unit, struct err *e)
{
    struct work_lines at = {.path = path, .way = way, .unit = unit};
    struct buf text = {0};
    int rc = gzip_read_file(&text, path, e);
    if (!rc && memchr(text.data ? text.data : "", 0, text.len))
        rc = err_set(e, ERR_UNSUPPORTED, "%s: not a text", path);
    char *rest = NULL;
    for (char *s = rc ? NULL : text.data; s && !rc; s = rest) {
        rest = strchr(s, '\n');
        if (rest)
            *rest++ = 0;
        at.line++;
        rc = work_line(w, &at, s, e);
    }
    buf_free(&text);
    return rc;
}

static int take_temperature(struct switch_works *w, double temperature, const char *path, struct err *e)
{
    if (!(temperature > 0))
        return 0;
    if (w->reported && fabs(w->temperature - temperature) > 1e-6 * temperature)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: temperature %g K, but %s has %g K; expected switches at one temperature", path, temperature,
                       w->reported, w->temperature);
    w->temperature = temperature;
    w->reported = path;
    return 0;
}

/* The second part of a run has the length of a switch, perhaps, but not its work. */
static int take_begin(struct switch_works *w, double begin, const char *path, struct err *e)
{
    if (w->slow_growth && fabs(begin - w->begin) > 1e-3)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: begins at %g ps, other switches at %g ps: expected a file of one whole switch each", path,
                       begin, w->begin);
    w->begin = begin;
    return 0;
}

static int read_slow_growth(struct switch_works *w, const char *path, enum switch_way way, struct err *e)
{
    struct slow_growth s = {0};
    int rc = slow_growth_read(&s, path, way, e);
    if (rc == SLOW_GROWTH_BEGUN) {
        w->incomplete++;
        return 0;
    }
    if (!rc)
        rc = take_temperature(w, s.temperature, path, e);
    if (!rc)
        rc = take_begin(w, s.begin, path, e);
    if (rc)
        return rc;
    add_work(w, s.work, s.length, s.coarse, 0);
    w->slow_growth += isfinite(s.work);
    return 0;
}

void works_add_walker(struct switch_works *w, const struct work_table *t)
{
    const int walker = w->walkers + 1;
    for (size_t i = 0; i < t->n; i++) {
        add_work(w, t->work[i], t->length[i], 0, walker);
        w->walkers = isfinite(t->work[i]) ? walker : w->walkers;
    }
    w->cut_short += t->cut_short;
}

static int read_walker(struct switch_works *w, const char *path, enum switch_way way, struct err *e)
{
    struct work_table t = {0};
    int rc = work_table_read(&t, path, path, WORK_TABLE_ALL, e);
    if (!rc && t.n && t.way != way)
        rc = err_set(e, ERR_UNSUPPORTED, "%s: works of %s switches, expected %s ones", path, switch_way_words[t.way],
                     switch_way_words[way]);
    if (!rc)
        rc = take_temperature(w, t.temperature, path, e);
    if (!rc)
        works_add_walker(w, &t);
    work_table_close(&t);
    return rc;
}

/* The first works of a file: no two switches have the same in all digits, so files with the same are copies. */
struct first_works {
    const char *path;
    const double *w; /* [n] */
    size_t n;
    bool rounded; /* as whoever wrote them liked: one or two may be alike */
};

enum { FIRST_WORKS = 4 };

/* By their bits: some are no numbers. */
static int by_works(const void *a, const void *b)
{
    const struct first_works *x = a, *y = b;
    const size_t n = x->n < y->n ? x->n : y->n;
    const int order = n ? memcmp(x->w, y->w, n * sizeof *x->w) : 0;
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static bool are_copies(const struct first_works *a, const struct first_works *b)
{
    const size_t n = a->n < b->n ? a->n : b->n;
    bool told = false; /* switches that blew up are all alike */
    for (size_t i = 0; i < n; i++)
        told |= isfinite(a->w[i]);
    if (!told || n < ((a->rounded || b->rounded) ? FIRST_WORKS : 1))
        return false;
    return !memcmp(a->w, b->w, n * sizeof *a->w);
}

/* Works that count twice would have too small an error. */
static int check_copies(struct first_works *files, int n, struct err *e)
{
    if (n > 1)
        qsort(files, (size_t)n, sizeof *files, by_works);
    for (int i = 1; i < n; i++)
        if (are_copies(files + i - 1, files + i))
            return err_set(e, ERR_UNSUPPORTED,
                           "%s and %s begin with the same works: expected one of them, or files of different switches",
                           files[i - 1].path, files[i].path);
    return 0;
}

static void first_works(struct first_works *to, const struct switch_works *w, const char *path, size_t before)
{
    *to = (struct first_works){.path = path, .n = w->n - before};
    to->rounded = to->n && !(w->length[before] > 0);
    to->n = to->n < FIRST_WORKS ? to->n : FIRST_WORKS;
}

int works_read(struct switch_works *w, char *const *paths, int n, enum switch_way way, double unit, struct err *e)
{
    struct first_works *files = xcalloc((size_t)n, sizeof *files);
    size_t *before = xcalloc((size_t)n + 1, sizeof *before);
    int rc = 0;
    for (int i = 0; !rc && i < n; i++) {
        before[i] = w->n;
        const char *slash = strrchr(paths[i], '/'), *name = slash ? slash : paths[i];
        if (access(paths[i], R_OK))
            rc = err_set(e, ERR_MISSING_FILE, "%s: %s", paths[i], strerror(errno));
        else if (strstr(name, ".xvg"))
            rc = read_slow_growth(w, paths[i], way, e);
        else if (work_table_is(name))
            rc = read_walker(w, paths[i], way, e);
        else
            rc = read_works(w, paths[i], way, unit, e);
        first_works(files + i, w, paths[i], before[i]);
    }
    for (int i = 0; !rc && i < n; i++)
        files[i].w = w->w + before[i];
    if (!rc)
        rc = check_copies(files, n, e);
    free(before);
    free(files);
    return rc;
}

bool switching_has(const struct switching *s, enum switch_way way)
{
    return s->works[way].n >= ESTIMATE_FEWEST_ROWS;
}

double works_length(const struct switch_works *w)
{
    double longest = 0;
    for (size_t i = 0; i < w->n; i++)
        if (isfinite(w->w[i]))
            longest = fmax(longest, w->length[i]);
    return longest;
}

void works_add_of_length(struct switch_works *w, const struct switch_works *from, double length)
{
    for (size_t i = 0; i < from->n; i++)
        if (works_of_length(from->length[i], length))
            add_work(w, from->w[i], length, from->coarse[i], from->walker[i]);
    w->walkers = from->walkers;
}

void works_scale(struct switch_works *w, double beta, double length)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (w->length[i] > 0 && !works_of_length(w->length[i], length)) {
            w->slow_growth -= !w->walker[i];
            w->incomplete += !w->walker[i];
            w->other_length += w->walker[i] > 0;
            continue;
        }
        if (!isfinite(w->w[i])) {
            w->nonfinite++;
            continue;
        }
        w->w[kept] = beta * w->w[i];
        w->coarse[kept] = beta * w->coarse[i];
        w->walker[kept] = w->walker[i];
        w->length[kept++] = w->length[i];
    }
    w->n = kept;
}

void works_close(struct switch_works *w)
{
    free(w->w);
    free(w->length);
    free(w->coarse);
    free(w->walker);
    *w = (struct switch_works){0};
}
