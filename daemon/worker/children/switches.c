/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns become files in natural order, dhdl2.xvg before dhdl10.xvg: the order of files is that of snapshots, by
 * which correlation is found.
 */
#include "daemon/worker/children/switches.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/estimate/estimate.h"
#include "engine/series/work_table.h"

static int natural(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* All files of the patterns of one way, those of each pattern in order. */
static int find_files(glob_t *found, const struct args_list *patterns, struct err *e)
{
    for (int i = 0; i < patterns->n; i++) {
        const size_t before = found->gl_pathc;
        const int rc = glob(patterns->items[i], i ? GLOB_APPEND : 0, NULL, found);
        if (rc == GLOB_NOMATCH)
            return err_set(e, ERR_MISSING_FILE, "%s: no such file, and no file that this pattern matches",
                           patterns->items[i]);
        if (rc)
            return err_set(e, ERR_IO, "%s: cannot look for files of this pattern", patterns->items[i]);
        qsort(found->gl_pathv + before, found->gl_pathc - before, sizeof *found->gl_pathv, natural);
    }
    return 0;
}

static int read_unit(const char *unit, struct estimate_switches *q, struct err *e)
{
    q->unit = 1;
    if (!unit || !strcmp(unit, "kJ/mol"))
        return 0;
    q->kt = !strcmp(unit, "kT");
    q->unit = UNIT_KCAL;
    if (q->kt || !strcmp(unit, "kcal/mol"))
        return 0;
    return err_set(e, ERR_USAGE, "--unit %s: expected kJ/mol, kcal/mol or kT", unit);
}

static int read_temperature(const char *text, double *out, struct err *e)
{
    char *after;
    if (!text)
        return 0;
    *out = strtod(text, &after);
    if (after == text || *after || !(*out > 0 && *out <= 1e5))
        return err_set(e, ERR_USAGE, "--temperature %s: expected a temperature in K, such as 298.15", text);
    return 0;
}

bool switches_asked(const struct switches_options *o)
{
    return o->forward.n || o->backward.n || o->temperature || o->unit;
}

int switches_estimate(const struct switches_options *o, struct buf *json, bool *answered, struct err *e)
{
    struct estimate_switches q = {0};
    glob_t found[2] = {0};
    int rc = o->forward.n || o->backward.n
                 ? 0
                 : err_set(e, ERR_USAGE, "--temperature and --unit are for works: expected --forward and --backward");
    if (!rc)
        rc = read_unit(o->unit, &q, e);
    if (!rc)
        rc = read_temperature(o->temperature, &q.temperature, e);
    if (!rc)
        rc = find_files(found, &o->forward, e);
    if (!rc)
        rc = find_files(found + 1, &o->backward, e);
    for (int way = 0; way < 2; way++) {
        q.paths[way] = found[way].gl_pathv;
        q.n[way] = (int)found[way].gl_pathc;
    }
    if (!rc)
        rc = estimate_switches(&q, json, answered, e);
    globfree(found);
    globfree(found + 1);
    return rc;
}

bool switches_of_walkers(char *const *paths, int n)
{
    for (int i = 0; i < n; i++)
        if (work_table_is(paths[i]))
            return true;
    return false;
}

static int find_way(const char *path, enum switch_way *way, struct err *e)
{
    struct work_table t = {0};
    int rc = work_table_read(&t, path, path, WORK_TABLE_ALL, e);
    *way = t.way;
    work_table_close(&t);
    return rc;
}

int switches_of_tables(char *const *paths, int n, struct buf *json, bool *answered, struct err *e)
{
    char **sorted = xcalloc((size_t)n, sizeof *sorted), **of_way[SWITCH_WAYS];
    struct estimate_switches q = {.unit = 1};
    int rc = 0;
    memcpy(sorted, paths, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, natural);
    for (int way = 0; way < SWITCH_WAYS; way++)
        q.paths[way] = of_way[way] = xcalloc((size_t)n, sizeof *sorted);
    for (int i = 0; i < n && !rc; i++) {
        enum switch_way way;
        rc = find_way(sorted[i], &way, e);
        if (!rc)
            of_way[way][q.n[way]++] = sorted[i];
    }
    if (!rc)
        rc = estimate_switches(&q, json, answered, e);
    for (int way = 0; way < SWITCH_WAYS; way++)
        free(of_way[way]);
    free(sorted);
    return rc;
}
